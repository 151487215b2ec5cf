"""The columns of the tables that the program writes, as docs/export.md and docs/ranks.md have them.

Parquet has their types in itself. JSON has not: an address is a number like others, and a table without rows has no columns.
"""

from __future__ import annotations

# One column after the other, of 64-bit integers where nothing else is said.
_OF_A_SNAPSHOT = {
    "events": """device event time_us action:text addr:uint64 size_bytes stream pool:text stack site:text
        active_bytes allocated_bytes reserved_bytes iteration phase:text device_free_bytes compile_context:text
        user_metadata:text recorded_category:text""",
    "allocations": """device allocation addr:uint64 size_bytes stream pool:text alloc_event
        free_requested_event free_completed_event alloc_time_us free_requested_time_us free_completed_time_us
        lifetime_us category:text basis:text rule:text iteration phase:text stack site:text is_live_at_end:bool
        tensor:text dtype:text shape:text holder:text tensor_basis:text""",
    "blocks": """device segment addr:uint64 size_bytes requested_bytes state:text allocation category:text
        stream pool:text stack site:text state_basis:text""",
    "segments": """device segment addr:uint64 size_bytes allocated_bytes awaiting_free_bytes inactive_bytes
        blocks stream pool:text kind:text is_expandable:bool stack site:text state_basis:text""",
    "stacks": "stack site:text frames text:text",
    "frames": "stack position file:text line function:text",
    "ranges": """device kind:text name:text iteration first_event last_event start_time_us end_time_us
        peak_active_bytes""",
    "modules": """device module parent name:text class:text called_from:text place:text category:text own_bytes
        total_bytes inferred_bytes calls""",
}
_OF_A_JOB = {
    "ranks": """file:text rank device events is_damaged:bool trust:text peak_active_bytes peak_event
        peak_reserved_bytes phase:text iteration parameter_bytes gradient_bytes optimizer_state_bytes
        activation_bytes input_bytes temporary_bytes comm_bytes kv_cache_bytes graph_pool_bytes other_bytes
        unknown_bytes inferred_bytes oom_event oom_time_us oom_requested_bytes oom_active_bytes
        oom_reserved_bytes capacity_bytes verdict:text verdict_title:text severity:text start_time_us
        end_time_us error:text""",
    "iterations": "file:text rank device position iteration peak_active_bytes",
    "lines": "file:text rank device line:text bytes blocks",
}

# The kinds of columns of a table, by name and in order: int64, uint64, bool or text.
Columns = dict[str, str]


def _read(tables: dict[str, str]) -> dict[str, Columns]:
    words = {table: [word.partition(":") for word in text.split()] for table, text in tables.items()}
    return {table: {name: kind or "int64" for name, _, kind in found} for table, found in words.items()}


OF_A_SNAPSHOT = _read(_OF_A_SNAPSHOT)
OF_A_JOB = _read(_OF_A_JOB)


def kind_of(values: list[object]) -> str:
    """The kind of a column that a newer program has, by its values."""
    known = [value for value in values if value is not None]
    if known and all(isinstance(value, bool) for value in known):
        return "bool"
    return "int64" if known and all(isinstance(value, int) for value in known) else "text"
