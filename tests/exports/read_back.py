"""Read every format of `oomscope export` with the tools that it is for, and compare with `oomscope stats`.

    pip install -r tests/exports/requirements.txt
    python tests/exports/read_back.py target/release/oomscope sample_snapshots/frag_oom.pickle …

Tables are read by DuckDB, Polars, pandas and, where there is a Java, Spark; folded stacks and profiles by their documented
formats and, where there is a Go, by `go tool pprof`; traces by the classes of the package `perfetto`.
"""

import functools
import gzip
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict

PROGRAM = sys.argv[1]


def run(*args):
    return subprocess.run([PROGRAM, *map(str, args)], check=True, stdout=subprocess.PIPE).stdout


def export(file, *args):
    run("export", file, *args)


def equal(what, found, expected):
    if found != expected:
        sys.exit(f"{what}: {found!r}, not {expected!r}")


# The figures of a device, as one SQL query that DuckDB and Spark both understand.
SUMS = """
    SELECT e.device, e.events, e.peak, s.reserved, s.holes, b.active, a.live
    FROM (SELECT device, count(*) AS events, max(active_bytes) AS peak FROM {events} GROUP BY device) e
    JOIN (SELECT device, sum(size_bytes) AS reserved, sum(inactive_bytes) AS holes FROM {segments} GROUP BY device) s
        ON e.device = s.device
    JOIN (SELECT device, sum(requested_bytes) AS active FROM {blocks} WHERE state <> 'inactive' GROUP BY device) b
        ON e.device = b.device
    JOIN (SELECT device, sum(size_bytes) AS live FROM {allocations} WHERE is_live_at_end GROUP BY device) a
        ON e.device = a.device
    ORDER BY e.device
"""
TABLES = ["events", "allocations", "blocks", "segments", "stacks", "frames", "ranges", "modules"]


def expected_sums(stats):
    # A device without events or segments has no row.
    with_all = [d for d in stats if d["events"] and d["segments"] and d["final"]["active"]]
    return [
        (
            d["device"],
            d["events"],
            max(d["peak"]["active"], 0) if d["peak"]["active_index"] >= 0 else None,
            d["final"]["reserved"],
            d["final"]["hole_bytes"],
            d["final"]["active"],
            d["final"]["active"],
        )
        for d in with_all
    ]


def same_sums(what, rows, expected):
    rows = [tuple(int(value) for value in row) for row in rows]
    # Where the peak is the state before the first event, no row of an event has it.
    rows = [(*row[:2], e[2] and row[2], *row[3:]) for row, e in zip(rows, expected)]
    equal(what, rows, expected)


def check_tables(file, stats, folder):
    import duckdb
    import pandas
    import polars

    expected = expected_sums(stats)
    formats = ["csv", "jsonl"] + (["parquet"] if b"parquet" in run("export", "--help") else [])
    for name in formats:
        export(file, "--format", name, "-o", folder)
        paths = {table: f"{folder}/{table}.{name}" for table in TABLES}
        quoted = {table: f"'{path}'" for table, path in paths.items()}
        rows = duckdb.sql(SUMS.format(**quoted)).fetchall()
        same_sums(f"DuckDB, {name}", rows, expected)
        read = {"csv": polars.read_csv, "jsonl": functools.partial(polars.read_ndjson, infer_schema_length=None), "parquet": polars.read_parquet}[name]
        allocations = read(paths["allocations"], **({} if name == "parquet" else {"infer_schema_length": None}))
        live = allocations.filter(polars.col("is_live_at_end"))["size_bytes"].sum()
        equal(f"Polars, {name}", live, sum(d["final"]["active"] for d in stats))
        segments = {
            "csv": pandas.read_csv,
            "jsonl": lambda path: pandas.read_json(path, lines=True),
            "parquet": pandas.read_parquet,
        }[name](paths["segments"])
        reserved = sum(d["final"]["reserved"] for d in stats)
        equal(f"pandas, {name}", int(segments["size_bytes"].sum()), reserved)
        if shutil.which("java"):
            same_sums(f"Spark, {name}", spark_sums(paths, name), expected)
    # The join that the documentation promises.
    joined = duckdb.sql(
        f"SELECT count(*) FROM '{folder}/events.jsonl' e LEFT JOIN '{folder}/stacks.jsonl' s USING (stack) "
        "WHERE e.stack IS NOT NULL AND s.text IS NULL"
    ).fetchall()
    equal("events without their stack", joined, [(0,)])
    return formats


SPARK = None


def spark_sums(paths, name):
    global SPARK
    from pyspark.sql import SparkSession

    if SPARK is None:
        quiet = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
        SPARK = SparkSession.builder.master("local[1]").config(map=quiet).getOrCreate()
        SPARK.sparkContext.setLogLevel("ERROR")
    for table, path in paths.items():
        reader = SPARK.read.option("header", True).option("inferSchema", True).option("escape", '"')
        {"csv": reader.csv, "jsonl": reader.json, "parquet": reader.parquet}[name](path).createOrReplaceTempView(table)
    rows = SPARK.sql(SUMS.format(**{table: table for table in TABLES})).collect()
    return [tuple(row) for row in rows]


def live_bytes(file, *args):
    return sum(row["size"] for row in json.loads(run("live", file, "--format", "json", *args)))


def profile_class():
    """The message Profile of pprof's profile.proto, with the fields that are read here."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    INT64, STRING, MESSAGE, UINT64 = 3, 9, 11, 4
    schema = {
        "ValueType": [("type", 1, INT64), ("unit", 2, INT64)],
        "Label": [("key", 1, INT64), ("str", 2, INT64)],
        "Sample": [("location_id", 1, UINT64, "*"), ("value", 2, INT64, "*"), ("label", 3, "Label", "*")],
        "Line": [("function_id", 1, UINT64), ("line", 2, INT64)],
        "Location": [("id", 1, UINT64), ("line", 4, "Line", "*")],
        "Function": [("id", 1, UINT64), ("name", 2, INT64), ("system_name", 3, INT64), ("filename", 4, INT64)],
        "Profile": [
            ("sample_type", 1, "ValueType", "*"),
            ("sample", 2, "Sample", "*"),
            ("location", 4, "Location", "*"),
            ("function", 5, "Function", "*"),
            ("string_table", 6, STRING, "*"),
            ("time_nanos", 9, INT64),
            ("default_sample_type", 14, INT64),
        ],
    }
    file = descriptor_pb2.FileDescriptorProto(name="profile.proto", package="perftools.profiles", syntax="proto3")
    for name, fields in schema.items():
        message = file.message_type.add(name=name)
        for field_name, number, kind, *repeated in fields:
            field = message.field.add(name=field_name, number=number, label=3 if repeated else 1)
            field.type = kind if isinstance(kind, int) else MESSAGE
            if not isinstance(kind, int):
                field.type_name = f".perftools.profiles.{kind}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("perftools.profiles.Profile"))


def check_stacks(file, folder):
    moments = [["--at", "peak"], ["--at", "end", "--filter", "size>1MB"]]
    for args in moments:
        expected = live_bytes(file, *args)
        folded = run("export", file, "--format", "folded", *args).decode().splitlines()
        equal("folded", sum(int(line.rpartition(" ")[2]) for line in folded), expected)
        path = folder / "profile.pb.gz"
        export(file, "--format", "pprof", "-o", path, *args)
        profile = profile_class()()
        profile.ParseFromString(gzip.decompress(path.read_bytes()))
        equal("pprof", sum(sample.value[1] for sample in profile.sample), expected)
        functions = {function.id: profile.string_table[function.name] for function in profile.function}
        for location in profile.location:
            assert functions[location.line[0].function_id] is not None
        known = {location.id for location in profile.location}
        assert all(set(sample.location_id) <= known for sample in profile.sample)
        if shutil.which("go") and expected:
            command = ["go", "tool", "pprof", "-raw", str(path)]
            raw = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()
            samples = raw.partition("Samples:")[2].partition("Locations")[0]
            values = [int(bytes) for bytes in re.findall(r"^ *\d+ +(\d+):", samples, re.MULTILINE)]
            equal("go tool pprof", sum(values), expected)


def read_trace(path):
    """Counters and slices of a trace, by the names of process and track."""
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as perfetto

    trace = perfetto.Trace()
    trace.ParseFromString(path.read_bytes())
    tracks, names, categories = {}, {}, {}
    counters, slices, instants = defaultdict(list), defaultdict(list), defaultdict(list)
    open_slices = defaultdict(list)
    events = []
    for packet in trace.packet:
        assert packet.trusted_packet_sequence_id == 1
        names.update((entry.iid, entry.name) for entry in packet.interned_data.event_names)
        categories.update((entry.iid, entry.name) for entry in packet.interned_data.event_categories)
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            group = tracks[track.parent_uuid][0] if track.parent_uuid else track.process.process_name
            tracks[track.uuid] = (group, track.name)
        elif packet.HasField("track_event"):
            event = packet.track_event
            name = names[event.name_iid] if event.name_iid else ""
            category = categories[event.category_iids[0]] if event.category_iids else ""
            size = next((note.int_value for note in event.debug_annotations if note.HasField("int_value")), None)
            events.append((packet.timestamp, event.type, event.track_uuid, name, category, size, event.counter_value))
    # As the trace processor does: by time, those of the same time in the order of the file.
    events.sort(key=lambda event: event[0])
    kinds = perfetto.TrackEvent
    for time, kind, uuid, name, category, size, value in events:
        track = tracks[uuid]
        if kind == kinds.TYPE_COUNTER:
            counters[track].append((time, value))
        elif kind == kinds.TYPE_SLICE_BEGIN:
            open_slices[uuid].append([time, None, name, category, size])
            slices[track].append(open_slices[uuid][-1])
        elif kind == kinds.TYPE_SLICE_END:
            slice = open_slices[uuid].pop()
            slice[1] = time
            assert slice[0] <= time
        elif kind == kinds.TYPE_INSTANT:
            instants[track].append((time, name))
    return counters, slices, instants


def process_name(device):
    return "memory of pinned host memory" if device == -1 else f"memory of device {device}"


def check_trace(file, stats, folder):
    path = folder / "trace.pftrace"
    export(file, "--format", "perfetto", "-o", path)
    counters, slices, instants = read_trace(path)
    rows = [json.loads(line) for line in run("export", file, "--format", "jsonl", "--table", "allocations").splitlines()]
    ranges = [json.loads(line) for line in run("export", file, "--format", "jsonl", "--table", "ranges").splitlines()]
    for d in stats:
        group = next(name for name, _ in counters if name.split(",")[0] == process_name(d["device"]))
        for name in ["allocated", "active", "reserved"]:
            values = [value for _, value in counters[group, name]]
            equal(f"peak of {name}", max(values), d["peak"][name])
        equal("reserved in the end", counters[group, "reserved"][-1][1], d["final"]["reserved"])
        mine = [row for row in rows if row["device"] == d["device"]]
        found = slices[group, "allocations"]
        equal("slices", len(found), len(mine))
        equal("their bytes", sum(slice[4] for slice in found), sum(row["size_bytes"] for row in mine))
        ended = sum(row["free_completed_event"] is not None for row in mine)
        equal("ended slices", sum(slice[1] is not None for slice in found), ended)
        live = defaultdict(int)
        for row in mine:
            if row["free_completed_event"] is None:
                live[f"active: {row['category']}"] += row["size_bytes"]
                stream = row["stream"]
                live["active: unknown stream" if stream is None else f"active: stream {stream}"] += row["size_bytes"]
        for (process, name), values in counters.items():
            if process == group and name.startswith("active: "):
                equal(f"{name} in the end", values[-1][1], live[name])
        ooms = sum(name == "oom" for _, name in instants[group, "failed requests and snapshots"])
        equal("ooms", ooms, len(d["oom"]))
        for kind, track in [("iteration", "iterations"), ("phase", "phases"), ("annotation", "ranges")]:
            named = [row["name"] for row in ranges if row["device"] == d["device"] and row["kind"] == kind]
            equal(track, sorted(slice[2] for slice in slices[group, track]), sorted(named))
            assert all(slice[1] is not None for slice in slices[group, track])


def check_profile(file, stats, folder):
    """A profile in torch.profiler's layout, with times since a base, beside the memory of the same time."""
    base_ns = stats[0]["time_us"][0] * 1000 - 5_000
    span = {"ph": "X", "cat": "cpu_op", "pid": 4711, "tid": 4712}
    profile = {
        "schemaVersion": 1,
        "traceEvents": [
            {"ph": "M", "name": "process_name", "pid": 4711, "tid": 0, "ts": 0, "args": {"name": "python"}},
            {"ph": "M", "name": "thread_name", "pid": 4711, "tid": 4712, "ts": 0, "args": {"name": "thread 4712 (python)"}},
            {**span, "name": "aten::mul", "ts": 9.0, "dur": 2.5, "args": {"Input Dims": [[2, 3]]}},
            {**span, "name": "aten::linear", "ts": 5.0, "dur": 4.0},
            {**span, "name": "aten::addmm", "ts": 6.25, "dur": 2.75},
            {"ph": "i", "s": "t", "name": "[memory]", "pid": 4711, "tid": 4712, "ts": 7.0, "args": {"Bytes": 512}},
            {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 8, "dur": 3},
        ],
        "displayTimeUnit": "ms",
        "baseTimeNanoseconds": base_ns,
    }
    source, path = folder / "profile.json.gz", folder / "merged.pftrace"
    source.write_bytes(gzip.compress(json.dumps(profile).encode()))
    export(file, "--format", "perfetto", "--profile", source, "-o", path)
    counters, slices, instants = read_trace(path)
    found = [slice[:4] for slice in slices["python 4711", "thread 4712 (python)"]]
    expected = [
        [base_ns + 5000, base_ns + 9000, "aten::linear", "cpu_op"],
        [base_ns + 6250, base_ns + 9000, "aten::addmm", "cpu_op"],
        [base_ns + 9000, base_ns + 11500, "aten::mul", "cpu_op"],
    ]
    equal("spans of the profile", found, expected)
    equal("kernels", [slice[2] for slice in slices["process 0", "thread 7"]], ["gemm"])
    equal("instants", instants["python 4711", "thread 4712 (python)"], [(base_ns + 7000, "[memory]")])
    # One clock: the first span begins when the recording does.
    device = process_name(stats[0]["device"])
    first = min(time for (process, _), values in counters.items() if process == device for time, _ in values)
    equal("the first counter", first, base_ns + 5000 - 1)


def main():
    for file in sys.argv[2:]:
        stats = json.loads(run("stats", file, "--format", "json"))
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            formats = check_tables(file, stats, folder)
            check_stacks(file, folder)
            check_trace(file, stats, folder)
            if stats[0]["time_us"]:
                check_profile(file, stats, folder)
        print(f"{file}: {', '.join(formats)}, folded, pprof and perfetto agree with stats")


main()
