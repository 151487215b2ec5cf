-- Jobs of many ranks, from the tables that each node wrote of its own recordings:
--
--     oomscope ranks rank3_memory.pickle --format parquet -o jobs/job=17/node=3/
--
-- Run it where the directory `jobs` is: duckdb < ranks_duckdb.sql. An object store reads the same, as
-- 's3://bucket/jobs/*/*/ranks.parquet'. docs/ranks.md has the columns. A job's answers are those of `oomscope ranks`
-- over all of its files.

CREATE OR REPLACE VIEW ranks AS
    SELECT * FROM read_parquet('jobs/*/*/ranks.parquet', hive_partitioning = true);
CREATE OR REPLACE VIEW iterations AS
    SELECT * FROM read_parquet('jobs/*/*/iterations.parquet', hive_partitioning = true);
CREATE OR REPLACE VIEW lines AS
    SELECT * FROM read_parquet('jobs/*/*/lines.parquet', hive_partitioning = true);

-- The median rank of each job: of an even number, the lower of the two in the middle.
CREATE OR REPLACE VIEW medians AS
    SELECT job, node, file, device, rank, peak_active_bytes, count FROM (
        SELECT *, count(*) OVER (PARTITION BY job) AS count,
            row_number() OVER (PARTITION BY job ORDER BY peak_active_bytes, rank NULLS LAST, node, file, device) AS place
        FROM ranks WHERE error IS NULL
    ) WHERE 2 * place IN (count, count + 1);

-- The distance of each rank from the median, and that which half of the ranks do not exceed.
CREATE OR REPLACE VIEW distances AS
    SELECT *, min(distance) FILTER (2 * place IN (count, count + 1)) OVER (PARTITION BY job) AS usual FROM (
        SELECT r.*, m.count, m.node AS median_node, m.file AS median_file, m.device AS median_device,
            m.peak_active_bytes AS median_bytes, r.peak_active_bytes - m.peak_active_bytes AS difference,
            abs(r.peak_active_bytes - m.peak_active_bytes) AS distance,
            row_number() OVER (PARTITION BY r.job ORDER BY abs(r.peak_active_bytes - m.peak_active_bytes)) AS place
        FROM ranks r JOIN medians m ON r.job = m.job WHERE r.error IS NULL
    );

-- Outliers: farther from the median than three times the median absolute deviation, and than 1 % of the median.
CREATE OR REPLACE VIEW apart AS
    SELECT * FROM distances WHERE 3 <= count AND 3 * usual < distance AND median_bytes < 100 * distance;

-- Their lines of code against those of the median rank: the differences add up to that of the peaks.
CREATE OR REPLACE VIEW apart_lines AS
    SELECT job, node, file, rank, device, line, sum(bytes) AS bytes, sum(median_bytes) AS median_bytes,
        sum(bytes) - sum(median_bytes) AS difference
    FROM (
        SELECT a.job, a.node, a.file, a.rank, a.device, l.line, l.bytes, 0 AS median_bytes
        FROM apart a JOIN lines l ON l.job = a.job AND l.node = a.node AND l.file = a.file AND l.device = a.device
        UNION ALL
        SELECT a.job, a.node, a.file, a.rank, a.device, l.line, 0, l.bytes
        FROM apart a JOIN lines l
            ON l.job = a.job AND l.node = a.median_node AND l.file = a.median_file AND l.device = a.median_device
    )
    GROUP BY job, node, file, rank, device, line HAVING sum(bytes) <> sum(median_bytes);

-- The first failed request of each job.
CREATE OR REPLACE VIEW first_failures AS
    SELECT job, rank, node, file, device, oom_event, oom_time_us, oom_requested_bytes, oom_reserved_bytes, phase, verdict
    FROM ranks WHERE oom_event IS NOT NULL
    QUALIFY row_number() OVER (PARTITION BY job ORDER BY oom_time_us NULLS LAST, rank NULLS LAST, node, file, device) = 1;

-- Each job: its ranks, failures and peaks, and what memory is for at the peaks.
SELECT job, count(*) FILTER (error IS NULL) AS ranks, count(oom_event) AS failed, count(error) AS unread,
    min(peak_active_bytes) >> 20 AS least_mib, max(peak_active_bytes) >> 20 AS most_mib,
    round(avg(parameter_bytes) / 1048576) AS parameter_mib, round(avg(gradient_bytes) / 1048576) AS gradient_mib,
    round(avg(optimizer_state_bytes) / 1048576) AS optimizer_state_mib,
    round(avg(activation_bytes) / 1048576) AS activation_mib
FROM ranks GROUP BY job ORDER BY job;

SELECT job, rank, device, difference >> 20 AS more_mib, phase, iteration, verdict FROM apart
ORDER BY job, distance DESC;

SELECT job, rank, line, difference >> 20 AS more_mib, bytes >> 20 AS mib, median_bytes >> 20 AS median_mib
FROM apart_lines QUALIFY row_number() OVER (PARTITION BY job, node, file, device ORDER BY abs(difference) DESC) <= 6
ORDER BY job, rank, abs(difference) DESC;

SELECT * FROM first_failures ORDER BY job;

-- The rank with the most memory in each iteration.
SELECT job, iteration, arg_max(rank, peak_active_bytes) AS rank, max(peak_active_bytes) >> 20 AS most_mib
FROM iterations WHERE iteration IS NOT NULL GROUP BY job, iteration ORDER BY job, iteration;
