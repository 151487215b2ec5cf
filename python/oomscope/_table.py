"""A table of a snapshot, in the form that a library for tables has.

The program writes it: as Parquet where it can and the library reads that, else as JSON lines. The values and the types are the same.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import json
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any

from ._columns_of_tables import Columns, kind_of
from ._errors import OomscopeError
from ._questions import Questions

if TYPE_CHECKING:
    # None of them is needed to check the types of this package.
    import pyarrow  # type: ignore[import-not-found, import-untyped, unused-ignore]
    from pandas import DataFrame as PandasFrame  # type: ignore[import-not-found, import-untyped, unused-ignore]
    from polars import DataFrame as PolarsFrame  # type: ignore[import-not-found, import-untyped, unused-ignore]


class Table:
    """A table that is written when it is asked for. docs/export.md describes its columns."""

    def __init__(self, name: str, columns: Columns, questions: Questions, arguments: list[str]) -> None:
        self.name = name
        self._columns = columns
        self._questions = questions
        # The command with its options, before its format and the files.
        self._arguments = arguments

    def __repr__(self) -> str:
        return f"<oomscope table {self.name}>"

    @property
    def columns(self) -> list[str]:
        """The names of its columns."""
        return list(self._columns)

    def rows(self) -> list[dict[str, Any]]:
        """The rows as dictionaries, without any library; what was not recorded is `None`."""
        with self._written("jsonl") as file:
            return [json.loads(line) for line in file]

    def arrow(self) -> pyarrow.Table:
        """The table in memory as Arrow has it."""
        library = _needed("pyarrow")
        if self._questions.has_parquet:
            parquet = importlib.import_module("pyarrow.parquet")
            with self._written("parquet") as file:
                found: pyarrow.Table = parquet.read_table(file)
                return found
        kinds = {
            "int64": library.int64(),
            "uint64": library.uint64(),
            "bool": library.bool_(),
            "text": library.string(),
        }
        made: pyarrow.Table = library.table(
            {name: library.array(values, kinds[kind]) for name, kind, values in self._read_columns()}
        )
        return made

    def polars(self) -> PolarsFrame:
        """The table as a data frame of Polars."""
        library = _needed("polars")
        if self._questions.has_parquet:
            with self._written("parquet") as file:
                found: PolarsFrame = library.read_parquet(file)
                return found
        kinds = {
            "int64": library.Int64,
            "uint64": library.UInt64,
            "bool": library.Boolean,
            "text": library.String,
        }
        made: PolarsFrame = library.DataFrame(
            [library.Series(name, values, kinds[kind]) for name, kind, values in self._read_columns()]
        )
        return made

    def pandas(self) -> PandasFrame:
        """The table as a data frame of pandas, of types that have a value for what was not recorded: `Int64`, `UInt64`, `boolean`,
        `string`."""
        library = _needed("pandas")
        kinds = {
            "int64": library.Int64Dtype(),
            "uint64": library.UInt64Dtype(),
            "bool": library.BooleanDtype(),
            "text": library.StringDtype(),
        }
        # Only through Arrow does pandas read Parquet without a loss.
        if self._questions.has_parquet and importlib.util.find_spec("pyarrow") is not None:
            table = self.arrow()
            of_arrow = {**kinds, "string": kinds["text"]}
            found: PandasFrame = table.to_pandas(types_mapper=lambda kind: of_arrow.get(str(kind)))
            return found
        made: PandasFrame = library.DataFrame(
            {name: library.array(values, dtype=kinds[kind]) for name, kind, values in self._read_columns()}
        )
        return made

    def _read_columns(self) -> Iterator[tuple[str, str, list[Any]]]:
        """The name, the kind and the values of each column."""
        values: dict[str, list[Any]] = {name: [] for name in self._columns}
        count = 0
        with self._written("jsonl") as file:
            for count, line in enumerate(file, 1):
                for name, value in json.loads(line).items():
                    values.setdefault(name, []).append(value)
        for name, column in values.items():
            # A program of another version may lack some.
            if len(column) == count:
                yield name, self._columns.get(name) or kind_of(column), column

    @contextlib.contextmanager
    def _written(self, form: str) -> Iterator[IO[bytes]]:
        """The table as a file that is gone afterwards: a large one is not in memory twice."""
        import tempfile

        command, *rest = self._arguments
        with tempfile.TemporaryFile() as file:
            self._questions.write(file, command, "--format", form, "--table", self.name, *rest)
            file.seek(0)
            yield file


def _needed(name: str) -> Any:
    """A library that the user asks for."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise OomscopeError(f"{name} cannot be imported: {error}", f"pip install {name}") from error
