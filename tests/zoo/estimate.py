#!/usr/bin/env python3
"""Estimate the zoo without a device, and compare with what its programs really asked for.

estimate.py OOMSCOPE [NAME ...] [--out DIR] [--fold N] [--table FILE]

Each program is run by the estimator in a process that sees no device, to its end. What it would have asked for stands beside the
peaks that `record.py` wrote.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent

from catalog import all_bases
from estimate_table import formula, table
from folds import fold_of
from record import CACHE, environment, jobs_of


def jobs(arguments):
    """The programs as they are, without remedies, that were recorded."""
    for name, base in all_bases().items():
        is_wanted = not arguments.names or name in arguments.names
        is_in_fold = arguments.fold is None or fold_of(base.architecture) == arguments.fold
        truth = arguments.out / f"{name}.truth.json"
        if is_wanted and is_in_fold and truth.exists():
            yield base.architecture, next(iter(jobs_of(base))), json.loads(truth.read_text())


class Server:
    """A process that estimates programs, one after another."""

    def __init__(self, arguments):
        without = {**environment(arguments, "up"), "STANDIN_DEVICES": "0"}
        without["PYTHONPATH"] += os.pathsep + str(HERE.parents[1] / "python")
        command = [arguments.rig_home / "venv" / "bin" / "python", HERE / "bench" / "estimator.py"]
        self._process = subprocess.Popen(
            command, env=without, cwd="/tmp", text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def run(self, job, keep):
        """The estimate of a program."""
        print(json.dumps({**job, "keep": keep and str(keep)}), file=self._process.stdin, flush=True)
        return json.loads(self._process.stdout.readline())


def laid_out(oomscope, requests):
    """What the program makes of requests: peaks as the allocator counts them, and bytes by category at the end."""
    predicted = requests.with_suffix(".predicted.pickle")
    command = [oomscope, "lay-out", requests, "-o", predicted]
    laid = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["devices"][0]
    stats = [oomscope, "stats", "--format", "json", predicted]
    found = json.loads(subprocess.run(stats, capture_output=True, check=True).stdout)[0]
    predicted.unlink()
    return laid["peak_allocated_bytes"], laid["peak_reserved_bytes"], found["categories"]["end"]


def alike(labels, categories):
    """The share of bytes at the end whose category is the true one. Truth has sizes of blocks, which are larger by rounding."""
    total = sum(categories.values())
    wrong = sum(max(size - labels.get(name, 0), 0) for name, size in categories.items())
    return 1 - wrong / total if total else 1.0


def summary(name, errors):
    """How far off, in one line."""
    ordered = sorted(map(abs, errors))
    within = [
        f"{100 * sum(e <= limit / 100 for e in ordered) / len(ordered):.1f} % within {limit} %"
        for limit in (2, 5, 10)
    ]
    return f"{name}: median {100 * statistics.median(ordered):.2f} %, {', '.join(within)}, worst {100 * ordered[-1]:.1f} %"


def main():
    """Estimate, and print what differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("oomscope", help="the program that lays out what was asked for")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--out", type=pathlib.Path, default=CACHE / "oomscope_zoo")
    parser.add_argument("--libs", type=pathlib.Path, default=CACHE / "oomscope_zoo_libs")
    parser.add_argument("--rig-home", type=pathlib.Path, default=CACHE / "snapshot_rig")
    parser.add_argument("--fold", type=int)
    parser.add_argument("--table", type=pathlib.Path, help="where a table by architecture is written")
    arguments = parser.parse_args()
    server = Server(arguments)
    allocated, reserved, shares, rows, failed = [], [], [], [], 0
    with tempfile.TemporaryDirectory() as folder:
        for architecture, job, truth in jobs(arguments):
            requests = pathlib.Path(folder) / f"{job['name']}.pickle"
            found = server.run(job, requests)
            if found["failed"] is not None:
                failed += 1
                print(f"{job['name']:44} failed: {found['failed']}", flush=True)
                continue
            peak, most, categories = laid_out(arguments.oomscope, requests)
            requests.unlink()
            allocated.append(peak / truth["peak"]["allocated"] - 1)
            reserved.append(most / truth["peak"]["reserved"] - 1)
            shares.append(alike(truth["label_bytes"][0], categories))
            rows.append((architecture, allocated[-1], reserved[-1], formula(truth)))
            print(
                f"{job['name']:44} {100 * allocated[-1]:+7.2f} % allocated {100 * reserved[-1]:+7.2f} % reserved"
                f" {100 * shares[-1]:6.1f} % categories {peak / 2**20:9.0f} MiB {found['seconds']:5.1f} s",
                flush=True,
            )
    if allocated:
        print(f"{len(allocated)} estimated, {failed} failed")
        print(summary("allocated", allocated))
        print(summary("reserved", reserved))
        if arguments.table is not None:
            arguments.table.write_text(table(rows))
        print(f"categories at the end: {100 * statistics.mean(shares):.2f} % of bytes on average")


if __name__ == "__main__":
    sys.exit(main())
