"""Run the examples for jobs of many ranks with DuckDB and Spark, and compare with `oomscope ranks`.

    pip install -r tests/exports/requirements.txt
    python tests/exports/ranks.py target/release/oomscope sample_snapshots/ranks
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

PROGRAM, SAMPLES = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
sys.path.insert(0, str(EXAMPLES))


def run(*args):
    command = [str(PROGRAM), *map(str, args)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


def equal(what, found, expected):
    if found != expected:
        sys.exit(f"{what}: {found!r}, not {expected!r}")


def write_jobs(folder):
    """A job whose nodes have a rank each, and one without the rank that stands apart, on two nodes; with the expected answers."""
    files = sorted(SAMPLES.glob("rank*"))
    even = [file for file in files if not file.name.startswith("rank3_")]
    nodes = {17: [[file] for file in files], 18: [even[:3], even[3:]]}
    answers = {}
    for job, parts in nodes.items():
        for node, part in enumerate(parts):
            run("ranks", *part, "--format", "parquet", "-o", folder / f"jobs/job={job}/node={node}")
        answers[job] = json.loads(run("ranks", *sum(parts, []), "--format", "json"))
    return answers


def expected(answers):
    apart = {(job, row["rank"], row["difference"]) for job, answer in answers.items() for row in answer["apart"]}
    lines = {
        (job, row["rank"], line["line"], line["bytes"], line["median_bytes"])
        for job, answer in answers.items()
        for row in answer["apart"]
        for line in row["lines"]
    }
    firsts = {job: answer["first_failure"] for job, answer in answers.items()}
    failures = {(job, first["rank"], first["event"], first["time_us"]) for job, first in firsts.items() if first}
    jobs = {}
    for job, answer in answers.items():
        devices = [device for file in answer["files"] for device in file["devices"]]
        peaks = [device["peak_active"] for device in devices]
        jobs[job] = (len(devices), sum(device["oom"] is not None for device in devices), min(peaks), max(peaks))
    return apart, lines, failures, jobs


SUMS = "SELECT job, count(*), count(oom_event), min(peak_active_bytes), max(peak_active_bytes) FROM ranks GROUP BY job"


def check_categories(query, answers):
    names = [name for name in next(iter(answers.values()))["files"][0]["devices"][0]["peak_categories"]]
    keys = ["parameter", "gradient", "optimizer_state", "activation", "input", "temporary", "comm", "kv_cache"]
    keys += ["graph_pool", "other", "unknown"]
    assert set(names) <= set(keys)
    rows = query(f"SELECT job, rank, peak_active_bytes, {', '.join(f'{key}_bytes' for key in keys)} FROM ranks")
    for job, rank, peak, *values in rows:
        equal("categories of a peak", sum(values), peak)
        files = [file for file in answers[job]["files"] if file["rank"] == rank]
        known = files[0]["devices"][0]["peak_categories"]
        equal("bytes by category", dict(zip(keys, values)), {key: known.get(key, 0) for key in keys})
    lines = query("SELECT job, rank, sum(bytes) FROM lines GROUP BY job, rank")
    peaks = {(job, rank): peak for job, rank, peak, *_ in rows}
    equal("lines of a peak", {(job, rank): int(sum) for job, rank, sum in lines}, peaks)


def same(engine, found, wanted):
    for what, rows, expected in zip(["apart", "lines", "first failures"], found, wanted):
        equal(f"{engine}, {what}", {tuple(row) for row in rows}, expected)


def check_duckdb(folder, answers, wanted):
    import duckdb

    # The example names the directory as it lies where it is run.
    os.chdir(folder)
    database = duckdb.connect()
    database.execute((EXAMPLES / "ranks_duckdb.sql").read_text())
    query = lambda sql: database.execute(sql).fetchall()
    found = [
        query("SELECT job, rank, difference FROM apart"),
        query("SELECT job, rank, line, bytes::BIGINT, median_bytes::BIGINT FROM apart_lines"),
        query("SELECT job, rank, oom_event, oom_time_us FROM first_failures"),
    ]
    same("DuckDB", found, wanted)
    equal("DuckDB, jobs", {job: tuple(row) for job, *row in query(SUMS)}, wanted[3])
    check_categories(query, answers)


def check_spark(folder, answers, wanted):
    import ranks_spark
    from pyspark.sql import SparkSession

    quiet = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.sql.shuffle.partitions": "2"}
    spark = SparkSession.builder.master("local[1]").config(map=quiet).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    ranks, lines = (ranks_spark.read(spark, f"{folder}/jobs", table) for table in ["ranks", "lines"])
    apart = ranks_spark.apart(ranks)
    found = [
        apart.select("job", "rank", "difference").collect(),
        ranks_spark.apart_lines(apart, lines).select("job", "rank", "line", "bytes", "median_bytes").collect(),
        ranks_spark.first_failures(ranks).select("job", "rank", "oom_event", "oom_time_us").collect(),
    ]
    same("Spark", found, wanted)
    ranks.createOrReplaceTempView("ranks")
    lines.createOrReplaceTempView("lines")
    query = lambda sql: [tuple(row) for row in spark.sql(sql).collect()]
    equal("Spark, jobs", {job: tuple(row) for job, *row in query(SUMS)}, wanted[3])
    check_categories(query, answers)
    ranks_spark.main(f"{folder}/jobs")


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        answers = write_jobs(folder)
        wanted = expected(answers)
        assert wanted[0] and wanted[1] and wanted[2]
        check_duckdb(folder, answers, wanted)
        engines = "DuckDB"
        if shutil.which("java"):
            check_spark(folder, answers, wanted)
            engines += " and Spark"
        os.chdir("/")
    print(f"{SAMPLES}: {engines} agree with oomscope ranks")


main()
