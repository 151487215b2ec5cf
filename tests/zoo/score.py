#!/usr/bin/env python3
"""Measure predictions of a program on the zoo.

score.py BINARY [--fold N] [--dir DIR] [--details] [--json FILE] [NAME ...]
"""

import argparse
import json
import pathlib

from catalog import all_bases, variants_of
from folds import fold_of
from scoring.judge import judge
from scoring.summary import summary


def main():
    """Score each base that is recorded, and print a summary."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--fold", type=int, action="append")
    parser.add_argument("--dir", type=pathlib.Path, default=pathlib.Path.home() / ".cache" / "oomscope_zoo")
    parser.add_argument("--details", action="store_true", help="look into the programs that are scored")
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    scores = []
    for name, base in all_bases().items():
        fold = fold_of(base.architecture)
        if arguments.fold is not None and fold not in arguments.fold:
            continue
        if arguments.names and name not in arguments.names:
            continue
        if (arguments.dir / f"{name}.truth.json").exists():
            remedies = variants_of(base)
            scores.append(
                {"name": name, "fold": fold, **judge(arguments.binary, arguments.dir, base, remedies)}
            )
    if arguments.json:
        arguments.json.write_text(json.dumps(scores, indent=1) + "\n")
    print(summary(scores, arguments.details))


if __name__ == "__main__":
    main()
