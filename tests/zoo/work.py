#!/usr/bin/env python3
"""Compare the work that fixes are said to cost with the floating-point operations that PyTorch counts.

work.py BINARY [--fold N] [--dir DIR] [--counts DIR] [--details] [NAME ...]
"""

import argparse
import json
import pathlib
import statistics

from catalog import all_bases, variants_of
from folds import fold_of
from keeping import beside
from record import CACHE, Server, jobs_of
from scoring.asking import ask

COUNTED = ("checkpoint-all", "checkpoint-half", "chunk-loss")


def changes_of(base):
    """The options that each fix changes whose work is counted."""
    # What an evaluation computes is no part of a step.
    if base.options.get("evaluate") or base.options.get("checkpoint", "none") != "none":
        return {}
    return {fix: changes for fix, changes in variants_of(base).items() if fix in COUNTED}


class Counts:
    """Floating-point operations of the programs of a base, each counted once."""

    def __init__(self, folder, server, base):
        self.base, self.server = base, server
        self.out = str(folder / base.name)
        self.kept = beside(self.out, ".json")
        self.found = json.loads(self.kept.read_text()) if self.kept.exists() else {}

    def of(self, fix, changes):
        """Those of the program that a fix changes; None if it does not run."""
        if fix not in self.found:
            plain, facts = next(jobs_of(self.base)), beside(self.out, ".pickle.facts")
            options = {**self.base.options, **changes}
            job = {**plain, "options": options, "records": False, "counts": True}
            has_run = self.server.run(job, self.out) == 0 and facts.exists()
            self.found[fix] = json.loads(facts.read_text())["flops"] if has_run else None
            facts.unlink(missing_ok=True)
            self.kept.write_text(json.dumps(self.found) + "\n")
        return self.found[fix]


def some(binary, recording, stated):
    """The first blocks that are checkpointed on a device between the program and a half of its blocks, and their price."""
    half = next((fix for fix in stated["remedies"] if fix["id"] == "checkpoint-half"), None)
    if half:
        device = (stated["baseline"]["peak_reserved"] + half["peak_reserved"]) // 2
        for fix in ask(binary, "remedies", recording, "--all", "--capacity", device)["remedies"]:
            if fix["id"] == "checkpoint-some":
                yield f"first:{fix['title'].split()[3]}", fix["price"]["more_work"]


def has_same_blocks(stated, truth):
    """Whether the blocks of a program are those that its author checkpoints, going by their number."""
    found = next(
        (fix["title"].split()[2] for fix in stated["remedies"] if fix["id"] == "checkpoint-all"), None
    )
    return found == str(truth.get("block_count", len(truth.get("blocks", []))))


def judged(binary, recording, truth, counts, changes):
    """For each fix that is stated, its counted share and the stated one, which is None if it is said to be unknown."""
    stated = ask(binary, "remedies", recording, "--all")
    if not has_same_blocks(stated, truth):
        changes = {fix: changed for fix, changed in changes.items() if fix == "chunk-loss"}
    prices = {fix["id"]: (fix["id"], fix["price"]["more_work"]) for fix in stated["remedies"]}
    wanted = [(fix, changed, prices[fix]) for fix, changed in changes.items() if fix in prices]
    for first, price in some(binary, recording, stated) if "checkpoint-half" in changes else ():
        wanted.append((first, {"checkpoint": first}, ("checkpoint-some", price)))
    for key, changed, (fix, price) in wanted:
        plain, count = counts.of("", {}), counts.of(key, changed)
        # Where no work is added, the program has no such switch.
        if plain and count and count != plain:
            yield fix, count / plain - 1, price


def table(rows):
    """How far shares that are stated are from counted ones."""
    known = [(name, fix, counted, stated) for name, fix, counted, stated in rows if stated is not None]
    off = sorted(abs(stated - counted) for *_, counted, stated in known)
    if not off:
        return "nothing is stated"
    half, most = statistics.median(off), off[int(len(off) * 0.9)]
    programs = len({name for name, *_ in known})
    return (
        f"{programs} programs, {len(known)} of {len(rows)} prices stated; "
        f"half within {100 * half:.1f} points, 90 % within {100 * most:.1f}"
    )


def main():
    """Count what was not counted, and print what is stated beside it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--fold", type=int, action="append")
    parser.add_argument("--dir", type=pathlib.Path, default=CACHE / "oomscope_zoo")
    parser.add_argument("--counts", type=pathlib.Path, default=CACHE / "oomscope_zoo_work")
    parser.add_argument("--libs", type=pathlib.Path, default=CACHE / "oomscope_zoo_libs")
    parser.add_argument("--rig-home", type=pathlib.Path, default=CACHE / "snapshot_rig")
    parser.add_argument("--details", action="store_true")
    arguments = parser.parse_args()
    arguments.counts.mkdir(parents=True, exist_ok=True)
    server, rows = Server(arguments, "down"), []
    for name, base in all_bases().items():
        is_wanted = arguments.fold is None or fold_of(base.architecture) in arguments.fold
        is_wanted &= not arguments.names or name in arguments.names
        recording, changes = arguments.dir / f"{name}.pickle.gz", changes_of(base)
        if is_wanted and changes and recording.exists():
            truth = json.loads((arguments.dir / f"{name}.truth.json").read_text())
            counts = Counts(arguments.counts, server, base)
            rows += [(name, *row) for row in judged(arguments.binary, recording, truth, counts, changes)]
    server.close()
    for name, fix, counted, stated in rows if arguments.details else []:
        said = "unknown" if stated is None else f"{100 * stated:5.1f}"
        print(f"{name:45} {fix:18} counted {100 * counted:5.1f} %, stated {said}")
    for fix in ("", *sorted({row[1] for row in rows})):
        print(f"{fix or 'all':18}", table([row for row in rows if fix in ("", row[1])]))


if __name__ == "__main__":
    main()
