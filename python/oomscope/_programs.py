"""Other Python programs, run as `python` itself runs them."""

from __future__ import annotations

import builtins
import io
import os
import runpy
import sys
import types


def run_module(name: str, arguments: list[str]) -> None:
    """`python -m NAME ARGUMENTS`. The current directory is first on the path already, as for any -m."""
    sys.argv = [name, *arguments]
    runpy.run_module(name, run_name="__main__", alter_sys=True)


def run_script(path: str, arguments: list[str]) -> None:
    """`python PATH ARGUMENTS`."""
    sys.argv = [path, *arguments]
    if os.path.isdir(path) or not path.endswith((".py", ".pyw")) and _is_archive(path):
        _set_first_path(path)
        runpy.run_path(path, run_name="__main__")
        return
    _set_first_path(os.path.dirname(os.path.realpath(path)))
    # Since Python 3.9 a program knows itself by its whole path.
    path = os.path.abspath(path)
    with io.open_code(path) as file:
        code = compile(file.read(), path, "exec", dont_inherit=True)
    # A module of its own that stays: what pickles, starts processes or runs at exit looks it up by this name.
    module = types.ModuleType("__main__")
    module.__dict__.update(__file__=path, __builtins__=builtins, __cached__=None, __annotations__={})
    sys.modules["__main__"] = module
    # The program that the user asks to run.
    exec(code, module.__dict__)  # noqa: S102


def _is_archive(path: str) -> bool:
    import zipfile

    return zipfile.is_zipfile(path)


def _set_first_path(folder: str) -> None:
    """In place of the current directory, which -m puts there; nothing if Python was asked for a safe path."""
    if not getattr(sys.flags, "safe_path", False) and sys.path:
        sys.path[0] = folder
