#!/usr/bin/env python3
"""Write the small pickles of this folder: python3 tests/data/make.py

They are what serde-pickle cannot write: Python's own pickles in every protocol, with frames and keys
shared through the memo, as torch shares them.
"""
import gzip
import pickle
import pathlib

HERE = pathlib.Path(__file__).parent
MIB = 1 << 20
BASE = 0x7F0000000000


def frame(line):
    return {"filename": "/train/modèle.py", "line": line, "name": "forward"}


def small():
    """Two devices, nine and three events, one block from before the trace, addresses above 2**63."""
    outer, inner = frame(7), frame(55)
    stack = [inner, outer]

    def event(action, addr, size, time, **more):
        e = {"action": action, "addr": addr, "size": size, "stream": 0, "time_us": 1_700_000_000_000_000 + time}
        if action != "snapshot":
            e["frames"] = list(stack)
        return {**e, "pool_id": (0, 0), **more}

    high = (1 << 63) + 4096
    first = [
        event("segment_alloc", BASE, 8 * MIB, 1),
        event("alloc", BASE, 1000, 2),
        event("alloc", BASE + MIB, 2000, 3, user_metadata="état"),
        event("free_requested", BASE, 1000, 4),
        event("free_completed", BASE, 1000, 5),
        event("alloc", BASE, 3000, 6),
        {"action": "oom", "size": 9 * MIB, "stream": 0, "time_us": 1_700_000_000_000_007, "device_free": 12345, "frames": []},
        event("free_requested", BASE + 2 * MIB, 4000, 8),
        event("snapshot", 0, 0, 9),
    ]
    second = [event("segment_alloc", high, 2 * MIB, 1), event("alloc", high, 512, 2), event("free_requested", high, 512, 3)]

    def block(state, addr, size, requested):
        return {"address": addr, "size": size, "requested_size": requested, "state": state, "frames": list(stack)}

    def segment(device, addr, size, blocks):
        return {
            "device": device, "address": addr, "total_size": size, "allocated_size": 0, "active_size": 0,
            "requested_size": 0, "stream": 0, "segment_type": "large", "segment_pool_id": (0, 0),
            "is_expandable": False, "frames": list(stack), "blocks": blocks,
        }

    segments = [
        segment(0, BASE, 8 * MIB, [
            block("active_allocated", BASE, MIB, 3000),
            block("active_allocated", BASE + MIB, MIB, 2000),
            block("active_pending_free", BASE + 2 * MIB, MIB, 4000),
            block("inactive", BASE + 3 * MIB, 5 * MIB, 0),
        ]),
        segment(1, high, 2 * MIB, [
            block("active_pending_free", high, MIB, 512),
            block("inactive", high + MIB, MIB, 0),
        ]),
    ]
    return {
        "segments": segments,
        "device_traces": [first, second],
        "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": -1, "garbage_collection_threshold": 0.5,
                               "expandable_segments": False, "roundup_power2_divisions": {"1": 0, "2": 0}},
        "external_annotations": [{"stage": "START", "name": "step", "device": 0, "time_us": 1_700_000_000_000_001}],
    }


def main():
    data = small()
    for protocol in range(6):
        (HERE / f"small.protocol{protocol}.pickle").write_bytes(pickle.dumps(data, protocol))
    # Python's own pickler batches long lists; two batches and a bit, and a list of more than 255 memo entries.
    many = {**data, "device_traces": [[{"action": "snapshot", "addr": 0, "size": 0, "stream": i} for i in range(2100)]]}
    (HERE / "batches.pickle.gz").write_bytes(gzip.compress(pickle.dumps(many, 2), mtime=0))


if __name__ == "__main__":
    main()
