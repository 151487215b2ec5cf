"""Marks of steps and phases."""

from __future__ import annotations

import re
from pathlib import Path

import oomscope
import pytest
from fake_torch import FakeRange, FakeTorch
from oomscope._marks import Marks
from oomscope._redaction import Redaction


def test_steps_are_ranges_and_metadata(torch: FakeTorch, tmp_path: Path) -> None:
    torch.use_device()
    seen = []
    with oomscope.record(tmp_path, at_end=False) as recording:
        for batch in recording.steps("ab"):
            with recording.phase("forward"):
                seen.append((batch, torch.metadata))
            seen.append((batch, torch.metadata))
    assert seen == [
        ("a", '{"step":0,"phase":"forward"}'),
        ("a", '{"step":0}'),
        ("b", '{"step":1,"phase":"forward"}'),
        ("b", '{"step":1}'),
    ]
    steps = "+step_0 +forward -forward -step_0 +step_1 +forward -forward -step_1 +step_2 -step_2"
    assert " ".join(FakeRange.log) == steps
    assert torch.metadata == ""


def test_epochs_go_on_counting(torch: FakeTorch, tmp_path: Path) -> None:
    torch.use_device()
    with oomscope.record(tmp_path, at_end=False) as recording:
        for _ in range(2):
            for _ in recording.steps("ab"):
                pass
        begun = [name for name in FakeRange.log if name.startswith("+")]
    assert begun == ["+step_0", "+step_1", "+step_2", "+step_2", "+step_3", "+step_4"]


def test_a_plain_step_begins_the_next(torch: FakeTorch, tmp_path: Path) -> None:
    torch.use_device()
    with oomscope.record(tmp_path, at_end=False) as recording:
        recording.step()
        recording.step()
    assert FakeRange.log == ["+step_1", "-step_1", "+step_2", "-step_2"]


def test_metadata_of_the_program_stay(torch: FakeTorch, tmp_path: Path) -> None:
    torch.use_device()
    with oomscope.record(tmp_path, at_end=False) as recording:
        torch.metadata = "mine"
        recording.step()
        with recording.phase("forward"):
            assert torch.metadata == 'mine {"step":1,"phase":"forward"}'
            # As a program does that sets its own for a while.
            found, torch.metadata = torch.metadata, '{"step":7,"who":"me"}'
            with recording.phase("inner"):
                assert torch.metadata == '{"step":7,"phase":"inner","who":"me"}'
            assert torch.metadata == '{"step":7,"phase":"forward","who":"me"}'
            torch.metadata = found
        assert torch.metadata == 'mine {"step":1}'
    assert torch.metadata == "mine"


def test_exceptions_of_a_phase_pass(torch: FakeTorch, tmp_path: Path) -> None:
    torch.use_device()
    with oomscope.record(tmp_path, at_end=False) as recording:
        with pytest.raises(ValueError, match="program"), recording.phase("forward"):
            raise ValueError("program")
        assert FakeRange.log == ["+forward", "-forward"]


def test_hashes_stand_for_paths_of_modules(torch: FakeTorch) -> None:
    marks = Marks(torch, Redaction())
    marks.enter_module("secret.0.attn")
    first = torch.metadata
    assert "secret" not in first
    assert re.fullmatch(r'\{"module":"n[0-9a-f]{8}\.0\.n[0-9a-f]{8}"\}', first)
    # What was found is put back after a call, and is not hidden again.
    before = marks.module
    marks.enter_module("secret.1")
    marks.enter_module(before)
    assert torch.metadata == first
    marks.enter_module(None)
    assert torch.metadata == ""
