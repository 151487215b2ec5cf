#!/usr/bin/env python3
"""Let programs die on a small device, apply for real what `oomscope fixes` says, and count what came of it.

apply.py BINARY [NAME ...] [--fold N] [--out DIR] [--details]
"""

import argparse
import json
import pathlib

from applying import device_mb, fixes_of
from catalog import all_bases
from folds import fold_of
from keeping import finish
from record import CACHE, CONTEXT_MB, HERE, Server

SAYS = {True: "fits", False: "not"}


def job_of(base, remedy, device, changes=None, settings=""):
    """A run of a base on a small device: as it is, which is recorded, or with changes."""
    program = str(HERE / "programs" / f"{base.program}.py")
    return {
        "name": f"{base.name}/{remedy}" if remedy else base.name,
        "base": base.name,
        "remedy": remedy,
        "script": program,
        "options": {**base.options, **(changes or {})},
        "history": base.records,
        "records": not remedy,
        "addresses": base.addresses,
        "device_mb": device,
        "settings": settings,
    }


def ran(server, job, out):
    """Run a job; its truth, or nothing where it failed in another way than for want of memory."""
    path = out / job["name"].replace("/", "@")
    truth = path.with_name(f"{path.name}.truth.json")
    truth.unlink(missing_ok=True)
    finish(job, path, server.run(job, path))
    return json.loads(truth.read_text()) if truth.exists() else None


def cases(server, base, arguments):
    """What was said of the fixes of one program, and what came of them."""
    whole = arguments.whole / f"{base.name}.truth.json"
    if "train" not in base.switches or not whole.exists():
        return
    reserved = json.loads(whole.read_text())["peak"]["reserved"]
    device = device_mb(base.name, reserved, CONTEXT_MB)
    died = ran(server, job_of(base, "", device), arguments.out)
    if not died or not died.get("died"):
        return
    try:
        said, fixes = fixes_of(arguments.binary, arguments.out / f"{base.name}.pickle.gz", base)
    except RuntimeError:
        return  # Nothing was recorded by then.
    for fix, (options, settings) in fixes:
        changed = ran(server, job_of(base, fix["id"], device, options, settings), arguments.out)
        if changed:
            yield {
                "base": base.name,
                "fix": fix["id"],
                "title": fix["title"],
                "says": fix["fits"],
                "until": fix["fits_until"],
                "basis": (said["projection"] or {}).get("basis"),
                "ran": not changed.get("died"),
                "came": came_as_far(said, died, changed),
                "predicted": fix["peak_reserved"],
                "peak": changed["peak"]["reserved"],
                "capacity": said["capacity"],
            }


def came_as_far(said, died, changed):
    """Whether a program came to the end of what it is said to fit: of the step that failed, and of the next where that counts."""
    steps = {"step": 1, "next_step": 2}.get((said["projection"] or {}).get("until"))
    reached = changed["optimizer_steps"] - died["optimizer_steps"]
    return not changed.get("died") or (steps is not None and steps <= reached)


def table(found):
    """How often what was said came true, by how the step is known; and how many that fit ran to their end."""
    lines = []
    for basis in ("iteration", "structure", None):
        for says in (True, False):
            group = [case for case in found if case["basis"] == basis and case["says"] is says]
            right = sum(case["came"] is says for case in group)
            ran = sum(case["ran"] for case in group)
            programs = len({case["base"] for case in group})
            known = basis or "not projected"
            lines.append(
                f"{known:14} {SAYS[says]:5} {right} of {len(group)} right, {ran} ran to the end, {programs} programs"
            )
    return "\n".join(lines)


def main():
    """Try all programs that are recorded as they are, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--whole", type=pathlib.Path, default=CACHE / "oomscope_zoo")
    parser.add_argument("--out", type=pathlib.Path, default=CACHE / "oomscope_zoo_applied")
    parser.add_argument("--libs", type=pathlib.Path, default=CACHE / "oomscope_zoo_libs")
    parser.add_argument("--rig-home", type=pathlib.Path, default=CACHE / "snapshot_rig")
    parser.add_argument("--fold", type=int, action="append")
    parser.add_argument("--details", action="store_true", help="look into the programs that are scored")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    found, servers = [], {}
    for name, base in all_bases().items():
        is_asked = not arguments.names or name in arguments.names
        if is_asked and (arguments.fold is None or fold_of(base.architecture) in arguments.fold):
            if base.addresses not in servers:
                servers[base.addresses] = Server(arguments, base.addresses)
            for case in cases(servers[base.addresses], base, arguments):
                found.append(case)
                if arguments.details and case["came"] is not case["says"]:
                    print(json.dumps(case), flush=True)
    (arguments.out / "cases.json").write_text(json.dumps(found, indent=1) + "\n")
    print(table(found))
    for server in servers.values():
        server.close()


if __name__ == "__main__":
    main()
