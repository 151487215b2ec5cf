//! Jobs by hand: outliers, who failed first, and how peaks are aligned.

use super::*;
use crate::{FindingId, Severity};
use oomscope_analysis::{Phase, Position};
use oomscope_model::{Bytes, DeviceId, Moment, Trust, Why};
use proptest::prelude::*;

const GIB: i64 = 1 << 30;

/// A rank with a peak, made up of lines.
fn rank(rank: u32, lines: &[(&str, i64)]) -> FileSummary {
    let lines: Vec<LineBytes> = lines
        .iter()
        .map(|&(line, bytes)| LineBytes { line: line.to_owned(), bytes: Bytes(bytes), blocks: 1 })
        .collect();
    let active_bytes = lines.iter().map(|line| line.bytes).sum();
    let device = DeviceSummary {
        device: DeviceId(0),
        events: 100,
        peak: PeakSummary {
            moment: Moment(50),
            active_bytes,
            position: Position {
                phase: Phase::Unknown,
                basis: None,
                iteration: None,
                iteration_of_recording: None,
                iteration_at_least: None,
            },
            categories: Vec::new(),
            lines,
        },
        peak_reserved_bytes: active_bytes,
        failure: None,
        capacity_bytes: None,
        verdict: VerdictSummary {
            id: FindingId::Nothing,
            title: String::new(),
            severity: Severity::Info,
            uneven_from_bytes: None,
        },
        taken_us: None,
        world_size: None,
        iterations: Vec::new(),
        slices: vec![active_bytes],
        reserved: vec![(0, Bytes::ZERO), (10, active_bytes)],
        time_us: Some([0, 100]),
        is_damaged: false,
        is_predicted: false,
        trust: oomscope_model::DeviceTrust::KNOWN,
    };
    let name = format!("rank{rank}.pickle");
    FileSummary { path: name.clone().into(), name, rank: Some(rank), devices: Ok(vec![device]) }
}

fn with(mut file: FileSummary, change: impl FnOnce(&mut DeviceSummary)) -> FileSummary {
    if let Some(device) = file.devices.as_mut().ok().and_then(|devices| devices.first_mut()) {
        change(device);
    }
    file
}

fn fails(file: FileSummary, time_us: Option<i64>) -> FileSummary {
    with(file, |device| {
        device.capacity_bytes = Some(Bytes(8 * GIB));
        device.failure = Some(FailureSummary {
            moment: Moment(100),
            requested_bytes: Bytes(GIB),
            time_us,
            active_bytes: Bytes(7 * GIB),
            reserved_bytes: Bytes(7 * GIB),
        });
    })
}

fn outlier_ranks(peaks: &[i64]) -> Vec<u32> {
    let files = peaks.iter().zip(0..).map(|(&peak, number)| rank(number, &[("a.py:1 f", peak)]));
    outliers(&Job::new(files.collect())).iter().filter_map(|outlier| outlier.row.file.rank).collect()
}

#[test]
fn ranks_are_in_order_and_files_without_one_last() {
    let nameless = FileSummary {
        path: "b.pickle".into(),
        name: "b.pickle".to_owned(),
        rank: None,
        devices: Err("cut".to_owned()),
    };
    let job = Job::new(vec![nameless, rank(10, &[]), rank(2, &[])]);
    let order: Vec<Option<u32>> = job.files().iter().map(|file| file.rank).collect();
    assert_eq!(order, [Some(2), Some(10), None]);
    assert_eq!(job.rows().len(), 2);
    assert_eq!(Job::new(Vec::new()).median(), None);
}

#[test]
fn a_rank_is_an_outlier_if_it_is_farther_from_the_median_than_others() {
    assert_eq!(outlier_ranks(&[GIB, GIB, GIB, 3 * GIB]), [3]);
    // Both directions, the farthest first.
    assert_eq!(outlier_ranks(&[4 * GIB, 4 * GIB, GIB, 4 * GIB, 5 * GIB, 4 * GIB, 4 * GIB]), [2, 4]);
    // Less than a hundredth; stages of a pipeline, which are all different; too few to have a middle.
    assert!(outlier_ranks(&[1000, 1000, 1000, 1009]).is_empty());
    assert!(outlier_ranks(&[GIB, 2 * GIB, 3 * GIB, 4 * GIB]).is_empty());
    assert!(outlier_ranks(&[GIB, 9 * GIB]).is_empty());
}

#[test]
fn a_peak_that_is_not_known_is_compared_with_none() {
    let unknown = with(rank(3, &[("a.py:1 f", 9 * GIB)]), |device| {
        device.trust.peak_in_use = Trust::Unknown(Why::Contradicts);
    });
    let job = Job::new((0..3).map(|number| rank(number, &[("a.py:1 f", GIB)])).chain([unknown]).collect());
    assert_eq!((job.rows().len(), job.by_peak().len()), (4, 3));
    assert!(outliers(&job).is_empty());
}

#[test]
fn the_lines_of_an_outlier_add_up_to_the_difference() {
    let usual = [("a.py:1 f", GIB), ("b.py:2 g", GIB / 2)];
    let long = [("a.py:1 f", 3 * GIB), ("c.py:3 h", GIB)];
    let job = Job::new(vec![rank(0, &usual), rank(1, &long), rank(2, &usual)]);
    let found = &outliers(&job)[0];
    assert_eq!((found.row.file.rank, found.median.file.rank), (Some(1), Some(2)));
    let lines: Vec<(&str, i64)> =
        found.lines.iter().map(|change| (change.line.as_str(), change.difference_bytes().0)).collect();
    assert_eq!(lines, [("a.py:1 f", 2 * GIB), ("c.py:3 h", GIB), ("b.py:2 g", -GIB / 2)]);
    assert_eq!(lines.iter().map(|line| line.1).sum::<i64>(), found.difference_bytes);
}

#[test]
fn a_rank_that_failed_with_more_than_the_others_failed_for_that() {
    let usual = [("a.py:1 f", GIB), ("no stack recorded", GIB)];
    let long = [("a.py:1 f", 2 * GIB), ("no stack recorded", 4 * GIB)];
    let verdicts = |least: Option<i64>| {
        let long = with(rank(1, &long), |device| device.verdict.uneven_from_bytes = least.map(Bytes));
        let job = Job::new(vec![rank(0, &usual), long, rank(2, &usual)]);
        let excess = job.excess(std::path::Path::new("rank1.pickle"), DeviceId(0)).expect("an outlier");
        let lines: Vec<&str> = excess.lines.iter().map(|line| line.line.as_str()).collect();
        assert_eq!((excess.bytes, lines), (Bytes(4 * GIB), vec!["a.py:1 f"]));
        job.rows().iter().map(|row| row.device.verdict.clone()).collect::<Vec<_>>()
    };
    let enough = verdicts(Some(4 * GIB));
    assert_eq!(enough[1].id, FindingId::UnevenRanks);
    assert_eq!(
        enough[1].title,
        "Out of memory: rank 1 has 4.00 GiB more at its peak than rank 2, the median of 3 ranks (a.py:1)"
    );
    assert_eq!([enough[0].id, enough[2].id], [FindingId::Nothing; 2]);
    // It lacked more, or failed for something that says more.
    for least in [Some(4 * GIB + 1), None] {
        assert_eq!(verdicts(least)[1].id, FindingId::Nothing);
    }
}

#[test]
fn ranks_without_a_file_are_missing_where_others_say_how_many_there_are() {
    let of = |number| with(rank(number, &[("a.py:1 f", 1)]), |device| device.world_size = Some(5));
    assert_eq!(Job::new(vec![of(0), of(3)]).missing(), [1, 2, 4]);
    assert_eq!(Job::new(vec![rank(0, &[]), rank(3, &[])]).missing(), Vec::<u32>::new());
    let many = with(rank(0, &[]), |device| device.world_size = Some(u32::MAX));
    assert_eq!(Job::new(vec![many]).missing(), Vec::<u32>::new());
}

#[test]
fn the_newest_file_of_a_rank_stands_for_it() {
    let of = |number, name: &str, taken_us: Option<i64>| FileSummary {
        name: name.to_owned(),
        ..with(rank(number, &[("a.py:1 f", GIB)]), |device| device.taken_us = taken_us)
    };
    let job = Job::new(vec![
        of(0, "a", Some(7)),
        of(0, "b", Some(9)),
        of(1, "c", Some(8)),
        of(2, "d", None),
        of(2, "e", None),
    ]);
    let names = |files: &[FileSummary]| files.iter().map(|file| file.name.clone()).collect::<String>();
    assert_eq!((names(job.files()), names(job.older())), ("bcde".to_owned(), "a".to_owned()));
}

#[test]
fn a_rank_stands_as_it_did_at_its_last_event_until_its_file_is_written() {
    let line = [("a.py:1 f", 2 * GIB)];
    let ended = |taken_us| {
        with(rank(1, &line), |device| (device.time_us, device.taken_us) = (Some([0, 30]), taken_us))
    };
    for (taken_us, is_known) in [(None, false), (Some(39), false), (Some(40), true)] {
        let job = Job::new(vec![fails(rank(0, &line), Some(40)), ended(taken_us)]);
        let first = first_failure(&job).expect("one fails");
        assert_eq!(first.others[0].1 != Standing::Unknown, is_known);
    }
}

#[test]
fn the_first_failure_is_that_of_the_clock_and_others_are_known_while_they_record() {
    let line = [("a.py:1 f", 2 * GIB)];
    let job = Job::new(vec![
        fails(rank(0, &line), Some(60)),
        fails(rank(1, &line), Some(40)),
        rank(2, &line),
        with(rank(3, &line), |device| device.time_us = Some([0, 30])),
        with(rank(4, &line), |device| device.reserved.clear()),
    ]);
    let first = first_failure(&job).expect("two fail");
    assert_eq!(first.row.file.rank, Some(1));
    let standings: Vec<Standing> = first.others.iter().map(|(_, standing)| *standing).collect();
    let reserved = Standing::Reserved { bytes: Bytes(2 * GIB) };
    assert_eq!(standings, [reserved, reserved, Standing::Unknown, Standing::Unknown]);
    assert!(first_failure(&Job::new(vec![rank(0, &line)])).is_none());
    let timeless = Job::new(vec![fails(rank(0, &line), None), rank(1, &line)]);
    assert!(first_failure(&timeless).is_some_and(|first| first.others.is_empty()));
}

fn peaks(numbers: &[(Option<u32>, i64)]) -> Vec<IterationPeak> {
    numbers
        .iter()
        .map(|&(number, active_bytes)| IterationPeak { number, active_bytes: Bytes(active_bytes) })
        .collect()
}

#[test]
fn columns_are_iterations_by_number_else_from_the_last_else_events() {
    let of = |number, iterations: &[(Option<u32>, i64)]| {
        with(rank(number, &[]), |device| device.iterations = peaks(iterations))
    };
    let numbered = Job::new(vec![of(0, &[(Some(3), 5), (Some(4), 7)]), of(1, &[(Some(4), 9), (Some(5), 1)])]);
    let found = heat(&numbered, 100);
    assert_eq!(found.axis, HeatAxis::Iterations([3, 5]));
    assert_eq!(
        found.rows,
        [vec![Some(Bytes(5)), Some(Bytes(7)), None], vec![None, Some(Bytes(9)), Some(Bytes(1))]]
    );
    assert_eq!(found.most_bytes, 9);
    // Fewer columns than iterations: each has the most of its iterations.
    assert_eq!(heat(&numbered, 1).rows, [[Some(Bytes(7))], [Some(Bytes(9))]]);

    let mixed = Job::new(vec![of(0, &[(None, 5), (None, 7)]), of(1, &[(Some(9), 2)])]);
    let found = heat(&mixed, 100);
    assert_eq!(found.axis, HeatAxis::LastIterations(2));
    assert_eq!(found.rows, [vec![Some(Bytes(5)), Some(Bytes(7))], vec![None, Some(Bytes(2))]]);

    let without = Job::new(vec![of(0, &[(None, 5)]), rank(1, &[("a.py:1 f", 3)])]);
    assert_eq!(heat(&without, 100).axis, HeatAxis::Events);
    assert_eq!(heat(&without, 100).rows[1], [Some(Bytes(3))]);
    assert_eq!(heat(&Job::new(Vec::new()), 10).rows, Vec::<Vec<Option<Bytes>>>::new());
}

#[test]
fn recordings_of_one_gpu_add_up_while_all_record() {
    let reserved = |changes: &[(i64, i64)]| changes.iter().map(|&(at, bytes)| (at, Bytes(bytes))).collect();
    let of = |changes: &[(i64, i64)], time_us| {
        with(rank(0, &[]), |device| (device.reserved, device.time_us) = (reserved(changes), Some(time_us)))
    };
    let job =
        Job::new(vec![of(&[(0, 9), (10, 4), (20, 1)], [0, 40]), of(&[(5, 2), (10, 6), (50, 99)], [5, 60])]);
    let found = together(&job.rows()).expect("they overlap");
    // From 5 to 40; both change at 10, and only the state after both counts.
    assert_eq!(
        found,
        Together { time_us: 5, bytes: Bytes(11), shares: vec![Bytes(9), Bytes(2)], within_us: [5, 40] }
    );
    let scattered = Job::new(vec![of(&[(0, 9)], [0, 4]), of(&[(5, 2)], [5, 60])]);
    assert_eq!(together(&scattered.rows()), None);
    assert_eq!(together(&[]), None);
}

proptest! {
    #[test]
    fn sums_on_the_clock_are_those_of_every_instant(
        first in proptest::collection::vec((0..40i64, 0..100i64), 1..12),
        second in proptest::collection::vec((0..40i64, 0..100i64), 1..12),
        spans in ((0..20i64, 20..45i64), (0..20i64, 20..45i64)),
    ) {
        let of = |mut changes: Vec<(i64, i64)>, (from, to): (i64, i64)| {
            changes.sort_by_key(|change| change.0);
            with(rank(0, &[]), |device| {
                // A recording knows its state from its start.
                device.reserved = std::iter::once((from, 50)).chain(
                    changes.into_iter().filter(|change| (from..=to).contains(&change.0)),
                ).map(|(at, bytes)| (at, Bytes(bytes))).collect();
                device.time_us = Some([from, to]);
            })
        };
        let job = Job::new(vec![of(first, spans.0), of(second, spans.1)]);
        let rows = job.rows();
        let state = |row: &JobDevice<'_>, at: i64| {
            row.device.reserved.iter().rfind(|change| change.0 <= at).map_or(Bytes::ZERO, |change| change.1)
        };
        let within = spans.0.0.max(spans.1.0)..=spans.0.1.min(spans.1.1);
        let most = within.map(|at| rows.iter().map(|row| state(row, at)).sum::<Bytes>()).max();
        prop_assert_eq!(together(&rows).map(|found| found.bytes), most);
    }
}
