"""`open`, and what it returns."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, Union

from ._columns_of_tables import OF_A_JOB, OF_A_SNAPSHOT
from ._errors import OomscopeError
from ._questions import Questions
from ._table import Table

PathLike = Union[str, "os.PathLike[str]"]


def open(
    path: PathLike | Iterable[PathLike],
    *,
    program: PathLike | None = None,
    timeout: float | None = None,
    rules: PathLike | None = None,
    max_memory: str | int | None = None,
) -> Snapshot:
    """Opens a snapshot, or the snapshots of a job: several files, or a folder of them. Nothing is read before something is asked.

    `program` is used in place of the installed one. An answer may take as long as it takes, or `timeout` seconds at most. `rules` is a
    file of your own rules for categories, and `max_memory` bounds what reading takes, such as `"8GiB"`: both as on the command line.
    """
    paths = [path] if isinstance(path, (str, os.PathLike)) else list(path)
    names = [os.fspath(each) for each in paths]
    if not names:
        raise OomscopeError("no snapshot is named", "name a file, files or a folder")
    questions = Questions(program, timeout)
    for name in names:
        if not os.path.exists(name):
            # It says why.
            questions.document("stats", "--format", "json", "--", name)
    rules_name = None if rules is None else os.fspath(rules)
    return Snapshot(names, questions, _options(rules=rules_name, max_memory=max_memory))


class Snapshot:
    """A snapshot, or those of a job. Each call asks the program anew, which reads the file: keep the answer."""

    def __init__(self, paths: list[str], questions: Questions, options: list[str]) -> None:
        """`options` are those of every question."""
        self.paths = paths
        self._questions = questions
        self._options = options
        self._is_job = len(paths) != 1 or os.path.isdir(paths[0])

    def __repr__(self) -> str:
        return f"oomscope.open({self.paths if len(self.paths) != 1 else self.paths[0]!r})"

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of its tables: those of docs/export.md, and of a job those of docs/ranks.md."""
        return tuple(OF_A_JOB if self._is_job else OF_A_SNAPSHOT)

    def table(
        self,
        name: str,
        *,
        at: str | int | None = None,
        range: str | None = None,
        filter: str | None = None,
        device: int | None = None,
    ) -> Table:
        """A table by its name, whole or what `oomscope export` leaves of it with the same options."""
        options = _options(at=at, range=range, filter=filter, device=device)
        known = OF_A_JOB if self._is_job else OF_A_SNAPSHOT
        if name not in known:
            raise OomscopeError(f"there is no table {name}", f"the tables are {', '.join(known)}")
        if self._is_job and options:
            raise OomscopeError("the tables of a job are whole", "open one of its files")
        command = "ranks" if self._is_job else "export"
        arguments = [command, *self._options, *options, "--", *self._names()]
        return Table(name, known[name], self._questions, arguments)

    def stats(self, *, at: str | int | None = None, filter: str | None = None) -> list[dict[str, Any]]:
        """The figures of each device of each file: docs/json.md."""
        found: list[dict[str, Any]] = self._ask("stats", self._names(), at=at, filter=filter)
        return found

    def ranks(self) -> dict[str, Any]:
        """The ranks of a job side by side: docs/ranks.md."""
        found: dict[str, Any] = self._ask("ranks", self._names())
        return found

    def report(self, *, at: str | int | None = None, device: int | None = None) -> dict[str, Any]:
        """Why memory ran out, with evidence and advice: docs/report.md."""
        found: dict[str, Any] = self._ask("report", self._one(), at=at, device=device)
        return found

    def verdict(self, *, at: str | int | None = None, device: int | None = None) -> dict[str, Any]:
        """What the report says first. No change is simulated for it, so it is quick."""
        found = self._ask("report", self._one(), "--no-remedies", at=at, device=device)
        first: dict[str, Any] = found["findings"][0]
        return first

    def fixes(self, *, capacity: str | int | None = None, device: int | None = None) -> dict[str, Any]:
        """The changes to the program with which it fits, cheapest first: docs/fixes.md."""
        found: dict[str, Any] = self._ask("fixes", self._one(), capacity=capacity, device=device)
        return found

    def live(
        self,
        *,
        at: str | int | None = None,
        filter: str | None = None,
        device: int | None = None,
        top: int | None = None,
    ) -> list[dict[str, Any]]:
        """The allocations that are live at a moment, largest first: docs/json.md."""
        found: list[dict[str, Any]] = self._ask(
            "live", self._one(), at=at, filter=filter, device=device, top=top
        )
        return found

    def _ask(self, command: str, names: list[str], *more: str, **options: str | int | None) -> Any:
        given = [*more, *self._options, *_options(**options)]
        return self._questions.document(command, "--format", "json", *given, "--", *names)

    def _one(self) -> list[str]:
        if self._is_job:
            raise OomscopeError("a job of several files has no such answer", "open one of its files")
        return self._names()

    def _names(self) -> list[str]:
        # The program takes this name for standard input.
        return [os.path.join(os.curdir, name) if name == "-" else name for name in self.paths]


def _options(**options: str | int | None) -> list[str]:
    """Options as the program takes them. A value may begin with a dash."""
    return [f"--{name.replace('_', '-')}={value}" for name, value in options.items() if value is not None]
