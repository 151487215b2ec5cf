"""The census: names of tensors, by what modules and optimizers hold."""

from __future__ import annotations

import gc
import json
import pickle
import re
import sys
import time
import types
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import oomscope
import pytest
from fake_torch import FakeModule, FakeOptimizer, FakeTensor, FakeTorch
from oomscope import _census
from oomscope._census import census
from oomscope._redaction import Redaction
from oomscope._roots import variables_of


class Row:
    """A row of a census, with its texts."""

    def __init__(self, found: dict[str, Any], at: int) -> None:
        columns = {name: column[at] for name, column in found["tensors"].items()}
        text = [*found["texts"], None]
        owner = columns["owner"]
        self.address: int = columns["address"]
        self.bytes: int = columns["bytes"]
        self.shape: list[int] = found["shapes"][columns["shape"]]
        self.whole = None if columns["whole"] < 0 else found["shapes"][columns["whole"]]
        self.dtype, self.role = text[columns["dtype"]], text[columns["role"]]
        self.name, self.key = text[columns["name"]], text[columns["key"]]
        self.owner = None if owner < 0 else text[found["owners"]["class"][owner]]


def rows(torch: FakeTorch) -> dict[int, Row]:
    """The rows by address; every tensor has one of its own in these tests."""
    found = json.loads(census(torch, 60.0))
    assert found["complete"]
    all_rows = [Row(found, at) for at in range(len(found["tensors"]["address"]))]
    assert len({row.address for row in all_rows}) == len(all_rows)
    return {row.address: row for row in all_rows}


def test_what_modules_and_optimizers_hold_has_its_path(torch: FakeTorch) -> None:
    weight, gradient = FakeTensor(512, (4, 8), requires_grad=True), FakeTensor(1024, (4, 8))
    weight.grad = gradient
    statistics = FakeTensor(1536, (8,))
    linear = FakeModule(weight=weight)
    linear._buffers["statistics"] = statistics
    model = FakeModule({"layers": FakeModule({"0": linear, "again": linear})})
    optimizer = FakeOptimizer(weight)
    optimizer.state[weight] = {"step": 3, "exp_avg": FakeTensor(2048), "parts": [FakeTensor(2560)]}
    loose = FakeTensor(3072)
    found = rows(torch)
    said = {address: (row.role, row.name, row.key, row.owner) for address, row in found.items()}
    path = "layers.0.weight"
    assert said == {
        512: ("parameter", path, None, "FakeModule"),
        1024: ("gradient", path, None, "FakeModule"),
        1536: ("buffer", "layers.0.statistics", None, "FakeModule"),
        2048: ("optimizer_state", path, "exp_avg", "FakeOptimizer"),
        2560: ("optimizer_state", path, "parts.0", "FakeOptimizer"),
        3072: (None, None, None, None),
    }
    assert (found[1536].bytes, found[1536].shape, found[1536].dtype) == (32, [8], "float32")
    del model, loose


class Block(FakeModule):
    def forward(self) -> None:
        """What its calls run."""


def test_modules_have_paths_classes_and_the_lines_of_their_forward(torch: FakeTorch) -> None:
    weight, state = FakeTensor(512, requires_grad=True), FakeTensor(1024)
    block = Block(weight=weight)
    models = [FakeModule({"layers": FakeModule({"0": block})}), FakeModule(bias=FakeTensor(1536))]
    optimizer = FakeOptimizer(weight)
    optimizer.state[weight] = {"exp_avg": state}
    # Without a tensor, it is nobody's.
    empty = FakeModule({"0": FakeModule()})
    found = json.loads(census(torch, 60.0))
    text, classes = [*found["texts"], None], found["classes"]
    columns = [found["modules"][name] for name in ("owner", "path", "class")]
    named = [
        (text[found["owners"]["class"][owner]], text[path], text[classes["name"][of]])
        for owner, path, of in zip(*columns, strict=True)
    ]
    assert sorted(named) == [
        ("FakeModule", "", "FakeModule"),
        ("FakeModule", "", "FakeModule"),
        ("FakeModule", "layers", "FakeModule"),
        ("FakeModule", "layers.0", "Block"),
    ]
    trained = zip(found["owners"]["kind"], found["owners"]["trained"], strict=True)
    assert sorted((text[kind], is_trained) for kind, is_trained in trained) == [
        ("module", 0),
        ("module", 1),
        ("optimizer", 0),
    ]
    at = [text[name] for name in classes["name"]].index("Block")
    line = Block.forward.__code__.co_firstlineno
    assert (text[classes["file"][at]], classes["line"][at]) == (__file__, line)
    assert line <= classes["last"][at] <= line + 2
    assert classes["line"][1 - at] == 0
    of_state = found["tensors"]["address"].index(1024)
    of_weight = found["tensors"]["address"].index(512)
    assert found["tensors"]["parameter_owner"][of_state] == found["tensors"]["owner"][of_weight]
    del models, empty


def test_models_in_a_list_are_held_by_it(torch: FakeTorch) -> None:
    records = [{"model": FakeModule(weight=FakeTensor(512 * at))} for at in range(1, 5)]
    found = json.loads(census(torch, 60.0, holders_s=60.0))
    owners, holders, text = found["owners"], found["holders"], found["texts"]
    assert len(owners["holder"]) == len(records)
    (holder,) = set(owners["holder"])
    said = [text[holders[key][holder]] for key in ("variable", "collection", "example")]
    assert said == ["records", "list", 'records[0]["model"]']


def test_the_way_that_is_told_leads_to_the_largest_tensor(torch: FakeTorch) -> None:
    sizes = (("loss", 1), ("logits", 4096), ("mask", 16))
    kept = [{name: FakeTensor(512 * at, (size,)) for at, (name, size) in enumerate(sizes, 1)}]
    found = json.loads(census(torch, 60.0, holders_s=60.0))
    (example,) = found["holders"]["example"]
    assert found["texts"][example] == 'kept[0]["logits"]'
    del kept


def test_a_model_that_runs_is_held_by_the_variable_of_who_called_it(torch: FakeTorch) -> None:
    class Net(FakeModule):
        def forward(self) -> dict[str, Any]:
            return dict(json.loads(census(torch, 60.0, holders_s=60.0)))

    net = Net(weight=FakeTensor(512))
    found = net.forward()
    (holder,) = found["owners"]["holder"]
    assert found["texts"][found["holders"]["variable"][holder]] == "net"


def test_hashes_stand_for_names(torch: FakeTorch) -> None:
    weight = FakeTensor(512, requires_grad=True)
    model = FakeModule({"secret": FakeModule({"0": FakeModule(weight=weight)})})
    optimizer = FakeOptimizer(weight)
    optimizer.state[weight] = {"exp_avg": FakeTensor(1024)}
    hidden_list = [FakeTensor(1536)]
    texts = []
    for _ in range(2):
        text = census(torch, 60.0, holders_s=60.0, redaction=Redaction())
        for name in ("secret", "weight", "hidden_list", "FakeModule"):
            assert name not in text
        found = json.loads(text)
        rows = {row.address: row for row in (Row(found, at) for at in range(3))}
        assert re.fullmatch(r"n[0-9a-f]{8}\.0\.n[0-9a-f]{8}", rows[512].name or "")
        # A parameter and its state are still known as such.
        assert (rows[1024].name, rows[1024].key) == (rows[512].name, "exp_avg")
        assert rows[1024].owner == "FakeOptimizer"
        texts.append(rows[512].name)
    assert texts[0] != texts[1]
    del model, hidden_list


def test_parameters_of_an_optimizer_alone_and_leaves_have_roles(torch: FakeTorch) -> None:
    master, leaf = FakeTensor(512, requires_grad=True), FakeTensor(1024, requires_grad=True)
    leaf.grad = FakeTensor(1536)
    optimizer = FakeOptimizer(master)
    optimizer.state[master] = {"momentum": FakeTensor(2048)}
    said = {address: (row.role, row.name) for address, row in rows(torch).items()}
    assert said == {
        512: ("optimizer_parameter", "0.0"),
        1024: (None, None),
        1536: ("gradient", None),
        2048: ("optimizer_state", "0.0"),
    }


def test_a_wrapper_names_the_tensor_that_has_its_memory(torch: FakeTorch) -> None:
    class Slotted(FakeTensor):
        __slots__ = ("_local_tensor",)

    for kind in (FakeTensor, Slotted):
        whole = kind(0, (64, 8), requires_grad=True)
        whole._local_tensor = FakeTensor(512, (16, 8))  # type: ignore[attr-defined]
        model = FakeModule(weight=whole)
        (row,) = rows(torch).values()
        assert (row.address, row.name, row.shape, row.whole) == (512, "weight", [16, 8], [64, 8])
        del model, whole


def test_tensors_that_fail_are_left_out(torch: FakeTorch) -> None:
    class Liar(FakeTensor):
        def untyped_storage(self) -> Any:
            raise NotImplementedError

        @property  # type: ignore[misc]
        def __class__(self) -> Any:
            raise RuntimeError

    on_the_host = FakeTensor(1024)
    on_the_host.is_cuda = False
    kept = [Liar(512), on_the_host, FakeTensor(1536)]
    model = FakeModule(weight=kept[0])
    assert list(rows(torch)) == [1536]
    del model


def test_time_that_is_up_leaves_the_rest_out(torch: FakeTorch) -> None:
    kept = FakeTensor(512)
    found = json.loads(census(torch, -1.0))
    assert not found["complete"] and found["tensors"]["address"] == []
    del kept


def test_nothing_is_kept(torch: FakeTorch) -> None:
    tensor = FakeTensor(512, requires_grad=True)
    model = FakeModule(weight=tensor)
    optimizer = FakeOptimizer(tensor)
    watched = [weakref.ref(thing) for thing in (tensor, model, optimizer)]
    gc.collect()
    gc.disable()
    try:
        census(torch)
        del tensor, model, optimizer
        assert [watch() for watch in watched] == [None, None, None]
    finally:
        gc.enable()


def test_a_snapshot_has_names_unless_they_are_not_wanted(torch: FakeTorch, tmp_path: Path) -> None:
    model = FakeModule(weight=FakeTensor(512))
    for wanted in (True, False):
        with oomscope.record(tmp_path / str(wanted), census=wanted, at_end=True, verdict=False) as recording:
            torch.use_device()
        snapshot = pickle.loads(recording.files[0].read_bytes())
        assert ("census" in snapshot["oomscope"]) == wanted
    del model


def test_a_census_that_fails_costs_no_snapshot(
    torch: FakeTorch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    del torch.nn
    with oomscope.record(tmp_path, at_end=True, verdict=False) as recording:
        torch.use_device()
    assert "census" not in pickle.loads(recording.files[0].read_bytes())["oomscope"]
    assert "naming tensors failed" in caplog.text


def test_snapshots_that_were_written_by_hand_get_names(torch: FakeTorch, tmp_path: Path) -> None:
    model = FakeModule(weight=FakeTensor(512))
    snapshot: dict[str, Any] = {"segments": [], "device_traces": [[]]}
    path = tmp_path / "mine.pickle"
    path.write_bytes(pickle.dumps(snapshot))
    assert oomscope.annotate(snapshot) is snapshot
    oomscope.census(path)
    for found in (snapshot, pickle.loads(path.read_bytes())):
        assert json.loads(found["oomscope"]["census"])["texts"][1] == "parameter"
        assert found["device_traces"] == [[]]
    oomscope.census(tmp_path / "missing.pickle")
    assert [entry.name for entry in tmp_path.iterdir()] == ["mine.pickle"]
    del model


def caller() -> types.FrameType:
    """The frame of whoever calls."""
    return sys._getframe(1)


# What asserts have pytest ask for their variables, so that such functions are not looked at: what is looked at has none.


def hold_some(torch: FakeTorch) -> dict[str, Any]:
    class Bank:
        def __init__(self) -> None:
            self.items = [FakeTensor(512), FakeTensor(1024)]

    bank, here = Bank(), FakeTensor(1536)
    found: dict[str, Any] = json.loads(census(torch, 60.0, holders_s=60.0))
    del bank, here
    return found


def test_who_holds_a_tensor_is_the_nearest_variable_of_the_program(torch: FakeTorch) -> None:
    # A function of this file is a function of the program.
    found = hold_some(torch)
    texts, holders = found["texts"], found["holders"]
    said = {}
    for address, holder in zip(found["tensors"]["address"], found["tensors"]["holder"]):
        said[address] = texts[holders["variable"][holder]]
    assert said == {512: "bank.items", 1024: "bank.items", 1536: "here"}
    assert {texts[function] for function in holders["function"]} == {"hold_some"}
    assert found["holders_complete"]


def test_frames_keep_nothing_that_was_asked_of_them() -> None:
    def still_runs() -> tuple[dict[str, Any], FakeTensor | None]:
        tensor = FakeTensor(512)
        gone = weakref.ref(tensor)
        seen = dict.fromkeys(variables_of(caller()))
        del tensor
        return seen, gone()

    seen, left = still_runs()
    assert "tensor" in seen and left is None


def hold_many(torch: FakeTorch) -> tuple[int, dict[str, Any]]:
    many = [FakeTensor(512 * at) for at in range(1, 20_001)]
    return len(many), json.loads(census(torch, 60.0, holders_s=60.0))


def test_a_long_list_takes_no_time_that_grows_with_its_square(torch: FakeTorch) -> None:
    start_s = time.monotonic()
    count, found = hold_many(torch)
    assert time.monotonic() - start_s < 10.0
    assert set(found["tensors"]["holder"]) == {0} and found["holders_complete"]
    assert len(found["tensors"]["holder"]) == count


def test_what_a_program_keeps_of_its_variables_stays_as_it_is() -> None:
    def train(rate: float = 0.1) -> dict[str, object]:
        options = locals()
        model = FakeTensor(512)
        variables_of(caller())
        del model
        return options

    def evaluates() -> object:
        exec("made = 5")  # noqa: S102 - what programs do
        variables_of(caller())
        return eval("made")

    def is_looked_at(look: Callable[[], types.FrameType]) -> dict[str, object]:
        # As a debugger does.
        seen = look().f_locals
        value = 5
        variables_of(look())
        return {"kept": dict(seen), "value": value}

    assert train() == {"rate": 0.1}
    if sys.version_info < (3, 13):
        assert evaluates() == 5
    assert "look" in is_looked_at(caller)["kept"]  # type: ignore[operator]


def test_a_census_that_would_make_the_file_unreadable_is_left_out(
    torch: FakeTorch, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = FakeTensor(512)
    monkeypatch.setattr(_census, "MAX_BYTES", 100)
    with pytest.raises(ValueError, match="more than"):
        census(torch)
    del kept
