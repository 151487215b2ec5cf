"""Sizes, ranks, words."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest
from oomscope._messages import harmless, say
from oomscope._rank import find_rank
from oomscope._sizes import parse_size, show_size


@pytest.mark.parametrize(
    ("text", "size_bytes"),
    [(5, 5), ("5", 5), ("1KiB", 1024), ("1.5 kb", 1536), ("60G", 60 * 2**30), ("2TiB", 2**41)],
)
def test_sizes_are_binary(text: int | str, size_bytes: int) -> None:
    assert parse_size(text) == size_bytes


@pytest.mark.parametrize("text", ["", "GiB", "-1", "1 PiB", "1e3"])
def test_other_texts_are_no_sizes(text: str) -> None:
    with pytest.raises(ValueError, match="no size"):
        parse_size(text)


def test_sizes_are_shown_with_three_digits() -> None:
    sizes = [0, 1023, 1024, 1047552, 12_345_678, 3 * 2**40]
    assert [show_size(size) for size in sizes] == ["0 B", "1023 B", "1 KiB", "1023 KiB", "11.8 MiB", "3 TiB"]


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, (0, None)),
        ({"LOCAL_RANK": "2"}, (2, None)),
        ({"RANK": "9", "LOCAL_RANK": "1", "WORLD_SIZE": "16"}, (9, 16)),
        ({"SLURM_PROCID": "5", "LOCAL_RANK": "1"}, (5, None)),
        ({"OMPI_COMM_WORLD_RANK": "3", "OMPI_COMM_WORLD_SIZE": "4"}, (3, 4)),
        ({"RANK": "none", "SLURM_PROCID": "-1"}, (0, None)),
    ],
)
def test_the_rank_is_what_the_launcher_says(
    environment: dict[str, str], expected: tuple[int, int | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert find_rank() == expected


def test_torch_knows_the_rank_best(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "1")
    distributed = SimpleNamespace(
        is_available=lambda: True,
        is_initialized=lambda: True,
        get_rank=lambda: 7,
        get_world_size=lambda: 8,
    )
    monkeypatch.setitem(sys.modules, "torch.distributed", distributed)
    assert find_rank() == (7, 8)


def test_interrupts_pass() -> None:
    with pytest.raises(KeyboardInterrupt), harmless("a test"):
        raise KeyboardInterrupt


def test_words_without_an_output_are_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    say("nobody hears it")
