"""Jobs of many ranks on Spark, from the tables that each node wrote of its own recordings.

    oomscope ranks rank3_memory.pickle --format parquet -o jobs/job=17/node=3/      (on each node)
    spark-submit ranks_spark.py jobs/                                               (or s3a://bucket/jobs/)

docs/ranks.md has the columns. A job's answers are those of `oomscope ranks` over all of its files.
"""

import sys

from pyspark.sql import SparkSession
from pyspark.sql import Window
from pyspark.sql import functions as f

KEY = ["job", "node", "file", "device"]


def read(spark, folder, table):
    """A table of all nodes, with the columns `job` and `node` from the names of directories."""
    folder = folder.rstrip("/")
    return spark.read.option("basePath", folder).parquet(f"{folder}/*/*/{table}.parquet")


def in_the_middle(rows, by):
    """Of each job the row in the middle; of an even number, the lower of the two."""
    job = Window.partitionBy("job")
    counted = rows.withColumn("count", f.count("*").over(job)).withColumn("place", f.row_number().over(job.orderBy(*by)))
    return counted.where((2 * f.col("place")).isin([f.col("count"), f.col("count") + 1])).drop("place")


def apart(ranks):
    """Ranks farther from the median than three times the median absolute deviation, and than 1 % of the median."""
    rows = ranks.where("error IS NULL")
    order = ["peak_active_bytes", f.col("rank").asc_nulls_last(), "node", "file", "device"]
    median = in_the_middle(rows, order).select(
        "job",
        "count",
        f.col("peak_active_bytes").alias("median_bytes"),
        *(f.col(name).alias(f"median_{name}") for name in KEY[1:]),
    )
    rows = rows.join(f.broadcast(median), "job")
    rows = rows.withColumn("difference", f.col("peak_active_bytes") - f.col("median_bytes"))
    rows = rows.withColumn("distance", f.abs("difference"))
    usual = in_the_middle(rows.drop("count"), ["distance"]).select("job", f.col("distance").alias("usual"))
    rows = rows.join(f.broadcast(usual), "job")
    return rows.where("3 <= count AND 3 * usual < distance AND median_bytes < 100 * distance")


def apart_lines(apart, lines):
    """Their lines of code against those of the median rank: the differences add up to that of the peaks."""
    who = apart.select(*KEY, "rank", *(f"median_{name}" for name in KEY[1:]))
    lines = lines.drop("rank", "blocks")
    own = who.join(lines, KEY).select(*KEY, "rank", "line", "bytes", f.lit(0).alias("median_bytes"))
    renamed = lines.select("job", "line", "bytes", *(f.col(name).alias(f"median_{name}") for name in KEY[1:]))
    median = who.join(renamed, ["job", *(f"median_{name}" for name in KEY[1:])])
    median = median.select(*KEY, "rank", "line", f.lit(0).alias("bytes"), f.col("bytes").alias("median_bytes"))
    sums = own.unionByName(median).groupBy(*KEY, "rank", "line")
    sums = sums.agg(f.sum("bytes").alias("bytes"), f.sum("median_bytes").alias("median_bytes"))
    return sums.withColumn("difference", f.col("bytes") - f.col("median_bytes")).where("difference <> 0")


def first_failures(ranks):
    """The first failed request of each job."""
    order = [f.col("oom_time_us").asc_nulls_last(), f.col("rank").asc_nulls_last(), "node", "file", "device"]
    place = f.row_number().over(Window.partitionBy("job").orderBy(*order))
    failed = ranks.where("oom_event IS NOT NULL").withColumn("place", place).where("place = 1")
    return failed.select("job", "rank", "device", "oom_event", "oom_time_us", "oom_requested_bytes", "phase", "verdict")


def jobs(ranks):
    """Each job: its ranks, failures and peaks, and what memory is for at the peaks, on average."""
    categories = ["parameter", "gradient", "optimizer_state", "activation"]
    return ranks.groupBy("job").agg(
        f.count(f.when(f.col("error").isNull(), 1)).alias("ranks"),
        f.count("oom_event").alias("failed"),
        f.count("error").alias("unread"),
        f.min("peak_active_bytes").alias("least_bytes"),
        f.max("peak_active_bytes").alias("most_bytes"),
        *(f.avg(f"{name}_bytes").cast("long").alias(f"{name}_bytes") for name in categories),
    )


def main(folder):
    spark = SparkSession.builder.appName("oomscope ranks").getOrCreate()
    ranks, lines = read(spark, folder, "ranks"), read(spark, folder, "lines")
    found = apart(ranks).cache()
    jobs(ranks).orderBy("job").show(truncate=False)
    found.select("job", "rank", "device", "difference", "phase", "iteration", "verdict").show(truncate=False)
    largest = f.row_number().over(Window.partitionBy(*KEY).orderBy(f.abs("difference").desc()))
    most = apart_lines(found, lines).withColumn("place", largest).where("place <= 6")
    most.orderBy("job", "rank", "place").select("job", "rank", "line", "difference").show(truncate=False)
    first_failures(ranks).orderBy("job").show(truncate=False)


if __name__ == "__main__":
    main(sys.argv[1])
