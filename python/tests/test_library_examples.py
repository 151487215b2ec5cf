"""The examples of docs/library.md, run as they stand there, one after the other: they print what the page says."""

from __future__ import annotations

import importlib.util
import re
from typing import Any

import pytest
from test_rig import PROGRAM, PYTHON

ROOT = PYTHON.parent
PAGE = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.DOTALL)
# What an example has to have installed, by the words in it.
NEEDED = {".pandas()": "pandas", "pandas.": "pandas", ".polars()": "polars", ".arrow()": "pyarrow"}

# The first one opens the snapshot of those below.
names: dict[str, Any] = {}


def test_there_are_six_and_each_says_what_it_prints() -> None:
    assert len(EXAMPLES) == PAGE.count("```python") == 6
    assert all(word in PAGE for word in NEEDED)


@pytest.mark.skipif(not PROGRAM.exists(), reason="the program is not built: cargo build")
@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_an_example_prints_what_the_page_says(
    number: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, expected = EXAMPLES[number]
    for word, library in NEEDED.items():
        if word in code and importlib.util.find_spec(library) is None:
            pytest.skip(f"{library} is not installed")
    monkeypatch.setattr("oomscope._questions.find_program", lambda: PROGRAM)
    monkeypatch.chdir(ROOT)
    if number != 0 and "snapshot" not in names:
        exec(EXAMPLES[0][0], names)  # noqa: S102
        capsys.readouterr()
    exec(code, names)  # noqa: S102
    assert capsys.readouterr().out == expected
