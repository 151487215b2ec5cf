"""When a recording begins, writes and ends."""

from __future__ import annotations

import os
import pickle
import threading
from pathlib import Path
from typing import Any

import oomscope
import pytest
from fake_torch import FakeRange, FakeTorch


def names(directory: Path) -> list[str]:
    """The files without the time at which the recording began."""
    return sorted(path.name.partition("_")[2] for path in directory.iterdir())


def facts(path: Path) -> dict[str, Any]:
    """What a file says of its recording."""
    snapshot: dict[str, Any] = pickle.loads(path.read_bytes())
    own: dict[str, Any] = snapshot["oomscope"]
    return own


def record(directory: Path, **options: Any) -> oomscope.Recording:
    return oomscope.record(directory, verdict=False, **options)


def test_nothing_happens_before_a_device_is_in_use(torch: FakeTorch, tmp_path: Path) -> None:
    with record(tmp_path / "snapshots") as recording:
        recording.step()
        assert recording.snapshot() is None
        assert not recording.is_active
        assert torch.step_hooks == {}
    assert torch.history_calls == []
    assert not (tmp_path / "snapshots").exists()


def test_the_history_runs_from_the_first_use_to_the_end(torch: FakeTorch, tmp_path: Path) -> None:
    recording = record(tmp_path, stacks="python", max_entries=7)
    torch.use_device()
    assert recording.is_active
    assert torch.history == {"context": "all", "stacks": "python", "max_entries": 7}
    recording.stop()
    assert torch.history is None
    assert not recording.is_active


def test_a_history_of_the_program_is_left_alone(torch: FakeTorch, tmp_path: Path) -> None:
    torch.use_device()
    torch.cuda.memory._record_memory_history(max_entries=3)
    with record(tmp_path):
        pass
    assert torch.history == {"context": "all", "stacks": "all", "max_entries": 3}
    assert names(tmp_path) == ["rank0_end.pickle"]


@pytest.mark.parametrize("max_entries", [3, None])
def test_a_history_that_the_program_switches_meanwhile_is_its_own(
    max_entries: int | None, torch: FakeTorch, tmp_path: Path
) -> None:
    torch.use_device()
    # Some programs import it by name, before.
    switch = torch.cuda.memory._record_memory_history
    with record(tmp_path) as recording:
        if max_entries is None:
            switch(enabled=None)
        else:
            switch(max_entries=max_entries)
        expected = torch.history
        path = recording.snapshot()
        assert path is not None and facts(path)["settings"] == {}
    assert torch.history == expected
    # Only in the recording anybody listens.
    assert torch._C._cuda_record_memory_history == torch._switch_history


def test_a_call_that_fails_hands_nothing_over(torch: FakeTorch, tmp_path: Path) -> None:
    torch.use_device()
    with record(tmp_path), pytest.raises(TypeError):
        torch._C._cuda_record_memory_history("all")
    assert torch.history is None


def test_a_failed_request_is_written_with_its_figures(torch: FakeTorch, tmp_path: Path) -> None:
    torch.use_device()
    with record(tmp_path) as recording:
        recording.step()
        torch.run_out(2**31)
    assert names(tmp_path) == ["rank0_step1_oom.pickle"]
    about = facts(recording.files[0])
    assert about["torch"] == "2.99.0"
    assert about["oom"] == {
        "device_index": 0,
        "requested_bytes": 2**31,
        "total_bytes": 2**30,
        "free_bytes": 2**20,
    }
    assert about["devices"] == {
        "0": {
            "model": "Fake",
            "total_bytes": 2**30,
            "free_bytes": 2**29,
            "peak_requested_bytes": 2**28,
            "peak_reserved_bytes": 2**29,
        }
    }


def test_of_many_failed_requests_the_first_and_the_last_stay(
    torch: FakeTorch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("oomscope._pace.MOST_OF_TIME", 1e9)
    torch.use_device()
    with record(tmp_path) as recording:
        for _ in range(5):
            recording.step()
            torch.run_out()
    assert names(tmp_path) == ["rank0_step1_oom.pickle", "rank0_step5_oom.pickle"]


def test_failed_requests_that_there_is_no_time_for_are_made_up_for_at_the_end(
    torch: FakeTorch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("oomscope._pace.MOST_OF_TIME", 0.0)
    torch.use_device()
    with record(tmp_path):
        torch.run_out()
        torch.run_out()
        assert names(tmp_path) == ["rank0_oom.pickle", "rank0_oom_2.pickle"]
        torch.run_out()
    assert names(tmp_path) == ["rank0_after-oom.pickle", "rank0_oom.pickle", "rank0_oom_2.pickle"]


def test_an_exception_within_the_observer_reaches_nobody(
    torch: FakeTorch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    torch.use_device()
    torch.snapshot_error = RuntimeError("no snapshot")
    with record(tmp_path, at_end=False):
        torch.run_out()
        torch.run_out()
    warnings = [message for message in caplog.messages if "failed request" in message]
    assert warnings == ["oomscope: writing a snapshot of a failed request failed: RuntimeError: no snapshot"]
    assert list(tmp_path.iterdir()) == []


def test_after_so_many_steps_one_is_written(torch: FakeTorch, tmp_path: Path) -> None:
    torch.use_device()
    with record(tmp_path, after_steps=2, at_end=False) as recording:
        for _ in range(4):
            recording.step()
    assert names(tmp_path) == ["rank0_step2_steps.pickle"]


def test_new_peaks_are_written_when_a_step_ends(
    torch: FakeTorch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("oomscope._pace.MOST_OF_TIME", 1e9)
    torch.use_device()
    with record(tmp_path, on_peak="1KiB", at_end=False) as recording:
        for torch.peak_bytes in (1000, 2000, 2000, 3000):
            recording.step()
    assert names(tmp_path) == ["rank0_step2_peak.pickle", "rank0_step4_peak.pickle"]


def test_the_end_is_written_when_nothing_else_was_or_when_asked(torch: FakeTorch, tmp_path: Path) -> None:
    torch.use_device()
    for at_end, expected in ((None, ["oom"]), (True, ["end", "oom"]), (False, ["oom"])):
        directory = tmp_path / str(at_end)
        with record(directory, at_end=at_end):
            torch.run_out()
        assert names(directory) == [f"rank0_{reason}.pickle" for reason in expected]


def test_the_first_optimizer_counts_steps_until_the_program_does(torch: FakeTorch, tmp_path: Path) -> None:
    torch.use_device()
    first, second = FakeRange("first"), FakeRange("second")
    with record(tmp_path, after_steps=2, at_end=False) as recording:
        for optimizer in (first, second, second, first):
            torch.step(optimizer)
        assert names(tmp_path) == ["rank0_step2_steps.pickle"]
        recording.step()
        torch.step(first)
        recording.snapshot()
    assert names(tmp_path) == ["rank0_step1_asked.pickle", "rank0_step2_steps.pickle"]


def test_optimizers_hold_nothing_after_the_end(torch: FakeTorch, tmp_path: Path) -> None:
    torch.use_device()
    record(tmp_path).stop()
    assert torch.step_hooks == {}


def test_a_second_recording_joins_the_first(torch: FakeTorch, tmp_path: Path) -> None:
    torch.use_device()
    with record(tmp_path / "outer") as outer:
        with record(tmp_path / "inner") as inner:
            inner.step()
        assert outer.is_active
        outer.snapshot()
    assert not (tmp_path / "inner").exists()
    assert names(tmp_path / "outer") == ["rank0_step1_asked.pickle"]
    with record(tmp_path / "next") as following:
        assert following.is_active


def test_a_cell_of_a_notebook_that_is_run_twice_can_stop(torch: FakeTorch, tmp_path: Path) -> None:
    torch.use_device()
    recording = record(tmp_path)
    recording = record(tmp_path)
    with record(tmp_path):
        pass
    assert recording.is_active
    recording.stop()
    assert not recording.is_active
    assert names(tmp_path) == ["rank0_end.pickle"]


def test_an_observer_is_attached_once(torch: FakeTorch, tmp_path: Path) -> None:
    torch.use_device()
    for _ in range(3):
        record(tmp_path, at_end=False).stop()
    assert len(torch.observers) == 1
    torch.run_out()
    assert list(tmp_path.iterdir()) == []


def test_children_write_nothing(torch: FakeTorch, tmp_path: Path) -> None:
    torch.use_device()
    with record(tmp_path, at_end=False) as recording:
        child = os.fork()
        if child == 0:
            recording.step()
            torch.run_out()
            recording.snapshot()
            recording.stop()
            os._exit(0)
        os.waitpid(child, 0)
        assert recording.is_active
    assert list(tmp_path.iterdir()) == []


def test_a_child_that_uses_a_device_first_records_itself(torch: FakeTorch, tmp_path: Path) -> None:
    with record(tmp_path) as recording:
        child = os.fork()
        if child == 0:
            torch.use_device()
            recording.stop()
            os._exit(0)
        os.waitpid(child, 0)
        assert not recording.is_active
    assert names(tmp_path) == ["rank0_end.pickle"]


def test_failed_requests_of_many_threads_are_written_one_after_another(
    torch: FakeTorch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("oomscope._pace.MOST_OF_TIME", 1e9)
    torch.use_device()
    with record(tmp_path) as recording:
        threads = [threading.Thread(target=torch.run_out) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(recording.files) == len(list(tmp_path.iterdir())) <= 8
    assert names(tmp_path)[0] == "rank0_oom.pickle"


def test_exceptions_of_the_program_pass(torch: FakeTorch, tmp_path: Path) -> None:
    torch.use_device()
    with pytest.raises(KeyError, match="program"), record(tmp_path):
        raise KeyError("program")
    assert torch.history is None
    assert names(tmp_path) == ["rank0_end.pickle"]


def test_odd_options_are_left_out(torch: FakeTorch, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    torch.use_device()
    with record(tmp_path, on_peak="much", stacks="none", signal="SIGNONE"):
        pass
    assert torch.history_calls[0]["stacks"] == "all"
    assert len(caplog.messages) == 3


def test_a_directory_that_cannot_be_made_is_a_warning_at_the_start(
    torch: FakeTorch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    torch.use_device()
    with record(tmp_path / "file" / "snapshots"):
        assert any("preparing the directory" in message for message in caplog.messages)
        torch.run_out()


def test_a_snapshot_that_is_too_large_is_a_warning(
    torch: FakeTorch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    torch.use_device()
    with record(tmp_path, max_bytes=4000) as recording:
        assert recording.snapshot("small") is not None
        torch.blocks = [bytes(10_000)]
        assert recording.snapshot("large") is None
    assert names(tmp_path) == ["rank0_small.pickle"]
    assert caplog.messages == [
        "oomscope: writing a snapshot failed: NoRoom: it does not fit into max_bytes, 3.91 KiB"
    ]


def test_a_recording_survives_pickling(torch: FakeTorch, tmp_path: Path) -> None:
    torch.use_device()
    with record(tmp_path, at_end=False) as recording:
        copy: oomscope.Recording = pickle.loads(pickle.dumps(recording))
        copy.stop()
        assert recording.is_active and copy.is_active


def test_without_torch_loops_run_as_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oomscope._recording._find_torch", lambda: None)
    with record(tmp_path) as recording:
        assert list(recording.steps([1, 2])) == [1, 2]
        with recording.phase("forward"):
            recording.step()
        assert recording.files == []
