"""Notebooks: the cells of code, one after the other, as a program. Lines for the shell and for IPython alone are left out."""

from __future__ import annotations

import builtins
import json
import os
import sys
import types

# What begins a line that is no Python.
MAGICS = ("%", "!", "?")


def run_notebook(path: str, arguments: list[str]) -> None:
    """Runs all cells in one module, each with a name of its own in stacks: `train.ipynb[3].py` is the third cell of code."""
    sys.argv = [path, *arguments]
    sys.path[0] = os.path.dirname(os.path.realpath(path))
    path = os.path.abspath(path)
    with open(path, encoding="utf-8") as file:
        cells = [cell for cell in json.load(file)["cells"] if cell["cell_type"] == "code"]
    module = types.ModuleType("__main__")
    module.__dict__.update(__file__=path, __builtins__=builtins, display=print)
    sys.modules["__main__"] = module
    for number, cell in enumerate(cells, 1):
        lines = (
            cell["source"] if isinstance(cell["source"], list) else cell["source"].splitlines(keepends=True)
        )
        # Lines keep their numbers.
        kept = ["\n" if line.lstrip().startswith(MAGICS) else line for line in lines]
        code = compile("".join(kept), f"{path}[{number}].py", "exec", dont_inherit=True)
        # The program that the user asks to run.
        exec(code, module.__dict__)  # noqa: S102
