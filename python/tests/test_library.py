"""Snapshots in Python: tables and documents are what the program says, in whatever form they come."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import oomscope
import pytest
from oomscope._columns_of_tables import OF_A_JOB, OF_A_SNAPSHOT, Columns
from test_questions import Stub
from test_rig import PROGRAM, PYTHON

ROOT = PYTHON.parent
SAMPLES = ROOT / "sample_snapshots"
FILES = ["frag_oom.pickle", "gpt_oom_forward.pickle", "two_devices_oom.pickle", "annotated.pickle"]
LIBRARIES = {"arrow": "pyarrow", "polars": "polars", "pandas": "pandas"}
# How each library calls the kinds of columns.
NAMES = {
    "arrow": {"int64": "int64", "uint64": "uint64", "bool": "bool", "text": "string"},
    "polars": {"int64": "Int64", "uint64": "UInt64", "bool": "Boolean", "text": "String"},
    "pandas": {"int64": "Int64", "uint64": "UInt64", "bool": "boolean", "text": "string"},
}

built = pytest.mark.skipif(not PROGRAM.exists(), reason="the program is not built: cargo build")


def sample(name: str) -> oomscope.Snapshot:
    return oomscope.open(SAMPLES / name, program=PROGRAM)


def by_way(snapshot: oomscope.Snapshot, way: str) -> None:
    """Has tables come as Parquet, or as JSON lines, where the program writes both."""
    if way == "parquet" and not snapshot._questions.has_parquet:
        pytest.skip("the program writes no Parquet: cargo build --features parquet")
    snapshot._questions.__dict__["has_parquet"] = way == "parquet"


def read(table: oomscope.Table, form: str) -> tuple[Columns, list[dict[str, Any]]]:
    """The types of the columns and the rows, as the library has them."""
    pytest.importorskip(LIBRARIES[form], reason=f"{LIBRARIES[form]} is not installed")
    found: Any = getattr(table, form)()
    if form == "arrow":
        return {field.name: str(field.type) for field in found.schema}, found.to_pylist()
    if form == "polars":
        return {name: str(kind) for name, kind in found.schema.items()}, found.to_dicts()
    kinds = {name: str(kind) for name, kind in found.dtypes.items()}
    columns = {
        name: [None if value is None else value for value in found[name].to_numpy(object, na_value=None)]
        for name in kinds
    }
    return kinds, [dict(zip(columns, row)) for row in zip(*columns.values())]


def documented(page: str) -> dict[str, Columns]:
    """The tables of a page, which is written from the program's own."""
    tables: dict[str, Columns] = {}
    for section in (ROOT / "docs" / page).read_text(encoding="utf-8").split("\n### ")[1:]:
        name, _, text = section.partition("\n")
        tables[name] = dict(re.findall(r"^\| `(\w+)` \| (\w+) \|", text, re.MULTILINE))
    return tables


def test_columns_are_those_of_the_documentation() -> None:
    for known, page in ((OF_A_SNAPSHOT, "export.md"), (OF_A_JOB, "ranks.md")):
        pages = documented(page)
        assert known == pages
        assert [list(known[name]) for name in known] == [list(pages[name]) for name in known]


@built
@pytest.mark.parametrize("way", ["jsonl", "parquet"])
@pytest.mark.parametrize("form", LIBRARIES)
@pytest.mark.parametrize("file", FILES)
def test_values_and_types_are_the_same_whichever_way_they_come(file: str, form: str, way: str) -> None:
    snapshot = sample(file)
    by_way(snapshot, way)
    for name in snapshot.tables:
        table = snapshot.table(name)
        kinds, rows = read(table, form)
        assert kinds == {column: NAMES[form][kind] for column, kind in OF_A_SNAPSHOT[name].items()}
        assert rows == table.rows(), name


@built
@pytest.mark.parametrize("way", ["jsonl", "parquet"])
@pytest.mark.parametrize("form", LIBRARIES)
def test_tables_of_a_job_are_the_same_too(form: str, way: str) -> None:
    job = sample("ranks")
    by_way(job, way)
    for name in job.tables:
        kinds, rows = read(job.table(name), form)
        assert kinds == {column: NAMES[form][kind] for column, kind in OF_A_JOB[name].items()}
        assert rows and rows == job.table(name).rows(), name


@built
@pytest.mark.parametrize("file", FILES)
def test_tables_add_up_to_the_figures(file: str) -> None:
    snapshot = sample(file)
    stats = snapshot.stats()
    allocations = snapshot.table("allocations").rows()
    events = snapshot.table("events").rows()
    assert stats and allocations
    for device in stats:
        live = [
            row["size_bytes"]
            for row in allocations
            if row["is_live_at_end"] and row["device"] == device["device"]
        ]
        assert sum(live) == device["final"]["active"]
        assert sum(row["device"] == device["device"] for row in events) == device["events"]


@built
def test_tables_are_cut_as_the_program_cuts_them() -> None:
    snapshot = sample("gpt_oom_forward.pickle")
    at = snapshot.table("allocations", at="oom", filter="category:activation", device=0).rows()
    live = snapshot.live(at="oom", filter="category:activation", device=0)
    assert at and sorted(row["size_bytes"] for row in at) == sorted(row["size"] for row in live)
    assert {row["category"] for row in at} == {"activation"}
    part = snapshot.table("events", range="iteration:1").rows()
    assert 0 < len(part) < len(snapshot.table("events").rows())


@built
def test_documents_are_those_of_the_program() -> None:
    snapshot = sample("frag_oom.pickle")
    report = snapshot.report()
    assert report["schema"] == "oomscope-report"
    assert snapshot.verdict()["id"] == report["verdict"] == report["findings"][0]["id"]
    assert snapshot.fixes()["schema"] == "oomscope-fixes"
    assert snapshot.stats(at="oom")[0]["at"] is not None
    assert len(snapshot.live(at="oom", top=2)) == 2


@built
def test_rules_and_the_bound_of_memory_are_taken(tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text("[[rule]]\ncategory = 'comm'\nfile = 'model'\n")
    snapshot = oomscope.open(SAMPLES / "gpt_oom_forward.pickle", program=PROGRAM, rules=rules)
    assert "comm" in {row["category"] for row in snapshot.table("allocations").rows()}
    job = oomscope.open(SAMPLES / "ranks", program=PROGRAM, rules=rules, max_memory="8GiB")
    assert job.table("ranks").rows()
    with pytest.raises(oomscope.OomscopeError, match="memory"):
        oomscope.open(SAMPLES / FILES[0], program=PROGRAM, max_memory="1KiB").report()


@built
def test_a_job_has_its_ranks() -> None:
    job = sample("ranks")
    ranks = job.ranks()
    assert [file["rank"] for file in ranks["files"]] == list(range(8))
    assert [apart["rank"] for apart in ranks["apart"]] == [3]
    files = sorted((SAMPLES / "ranks").glob("*.gz"))
    assert oomscope.open(files, program=PROGRAM).ranks()["apart"] == ranks["apart"]
    assert len(oomscope.open(files[:2], program=PROGRAM).stats()) == 2


@built
def test_a_damaged_file_is_a_warning_and_what_is_whole_of_it(tmp_path: Path) -> None:
    cut = tmp_path / "cut.pickle"
    whole = (SAMPLES / "frag_oom.pickle").read_bytes()
    cut.write_bytes(whole[: len(whole) * 3 // 4])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rows = oomscope.open(cut, program=PROGRAM).table("events").rows()
    assert 0 < len(rows)
    assert {warning.category for warning in caught} == {oomscope.OomscopeWarning}
    assert "cut.pickle is damaged at byte" in str(caught[0].message)


@built
def test_a_file_that_is_none_is_an_error_in_the_words_of_the_program(tmp_path: Path) -> None:
    with pytest.raises(oomscope.OomscopeError, match=r"none\.pickle") as missing:
        sample("none.pickle")
    assert missing.value.hint
    (tmp_path / "a.pickle").write_text("no pickle")
    with pytest.raises(oomscope.OomscopeError, match=r"a\.pickle"):
        oomscope.open(tmp_path / "a.pickle", program=PROGRAM).stats()
    with pytest.raises(oomscope.OomscopeError, match="--at"):
        sample("frag_oom.pickle").live(at="nowhere")


@pytest.mark.parametrize("form", LIBRARIES)
def test_a_library_that_is_missing_is_an_error_that_says_how_to_install_it(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub = Stub(tmp_path)
    monkeypatch.setitem(sys.modules, LIBRARIES[form], None)
    with pytest.raises(oomscope.OomscopeError, match=f"hint: pip install {LIBRARIES[form]}$"):
        getattr(stub.open().table("stacks"), form)()


@pytest.mark.parametrize("form", LIBRARIES)
def test_numbers_lose_nothing_and_unknown_ones_stay_unknown(form: str, tmp_path: Path) -> None:
    stub = Stub(tmp_path)
    numbers = [2**63 - 1, None, -(2**53) - 1]
    addresses = [2**64 - 1, None, 2**53 + 1]
    rows = [
        {
            **dict.fromkeys(OF_A_SNAPSHOT["segments"]),
            "size_bytes": number,
            "addr": address,
            "site": site,
            "is_expandable": is_it,
        }
        for number, address, site, is_it in zip(numbers, addresses, ["größer", None, ""], [True, None, False])
    ]
    stub.answers("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows))
    kinds, found = read(stub.open().table("segments"), form)
    assert found == rows
    assert kinds == {name: NAMES[form][kind] for name, kind in OF_A_SNAPSHOT["segments"].items()}


@pytest.mark.parametrize("form", LIBRARIES)
def test_a_table_without_rows_has_its_columns(form: str, tmp_path: Path) -> None:
    stub = Stub(tmp_path)
    stub.answers("")
    kinds, found = read(stub.open().table("frames"), form)
    assert (list(kinds), found) == (["stack", "position", "file", "line", "function"], [])


@pytest.mark.parametrize("form", LIBRARIES)
def test_a_program_of_another_version_may_have_other_columns(form: str, tmp_path: Path) -> None:
    stub = Stub(tmp_path)
    rows = [{"stack": 1, "new": None, "newer": True}, {"stack": 2, "new": 7, "newer": None}]
    stub.answers("".join(f"{json.dumps(row)}\n" for row in rows))
    kinds, found = read(stub.open().table("stacks"), form)
    assert found == rows
    assert list(kinds.values()) == [NAMES[form][kind] for kind in ("int64", "int64", "bool")]


@pytest.mark.parametrize("call", [lambda table: table.rows(), lambda table: table.pandas()])
def test_no_file_stays_behind(
    call: Callable[[oomscope.Table], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    stub = Stub(tmp_path)
    for code in (0, 1):
        stub.answers('{"stack": 1}\n', code=code)
        try:
            call(stub.open().table("stacks"))
        except oomscope.OomscopeError:
            assert code == 1 or importlib.util.find_spec("pandas") is None
        assert list(folder.iterdir()) == []
