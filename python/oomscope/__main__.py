"""`python -m oomscope`: `run`, `estimate` and `doctor` are here, everything else is the program's."""

from __future__ import annotations

import sys


def main() -> int:
    arguments = sys.argv[1:]
    if arguments[:1] == ["run"]:
        from ._run import run

        return run(arguments[1:])
    if arguments[:1] == ["doctor"]:
        from ._doctor import doctor

        return doctor(arguments[1:])
    if arguments[:1] == ["estimate"]:
        from ._estimate.command import estimate

        return estimate(arguments[1:])
    from ._program import become_program

    return become_program(arguments)


if __name__ == "__main__":
    sys.exit(main())
