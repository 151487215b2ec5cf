"""The `oomscope` program that was installed beside this package."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path


def find_program() -> Path | None:
    """Where the program is: with this interpreter, with the user's packages, beside this package, or on the path."""
    name = "oomscope.exe" if os.name == "nt" else "oomscope"
    user = "nt_user" if os.name == "nt" else "posix_user"
    folders = [Path(sysconfig.get_path("scripts"))]
    folders.append(Path(sysconfig.get_path("scripts", user)))
    # `pip install --target` puts programs into a folder beside the packages.
    folders.append(Path(__file__).parent.parent / "bin")
    for folder in folders:
        if os.access(folder / name, os.X_OK):
            return folder / name
    found = shutil.which("oomscope")
    return Path(found) if found else None


def become_program(arguments: list[str]) -> int:
    """Runs the program in place of this process; returns an exit code where that cannot be."""
    program = find_program()
    if program is None:
        print(
            "oomscope: the program is not installed beside this package: pip install oomscope",
            file=sys.stderr,
        )
        return 1
    if os.name == "nt":
        return subprocess.run([str(program), *arguments], check=False).returncode
    os.execv(program, [str(program), *arguments])
