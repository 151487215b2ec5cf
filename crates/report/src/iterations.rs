//! The table of iterations: as text, JSON and CSV.

use super::csv_text::{io_error, optional};
use super::modules::IN_JSON;
use super::table::{self, Align};
use super::text_style::TextStyle;
use oomscope_analysis::{IterationRow, Phase};
use oomscope_model::Bytes;
use oomscope_units as units;
use serde::Serialize;
use std::collections::BTreeSet;
use std::io::{self, Write};

/// One iteration as JSON has it. Sizes are in bytes; both ends of events are included.
#[derive(Debug, Serialize)]
pub(super) struct IterationRecord {
    /// Its number from 0; null where the recording starts too late to know.
    iteration: Option<u32>,
    iteration_of_recording: u32,
    first_event: u32,
    last_event: u32,
    phases: Vec<PhaseRecord>,
    peak: IterationPeak,
    growth_bytes: Bytes,
    left_bytes: Bytes,
    kept_bytes: Bytes,
}

#[derive(Debug, Serialize)]
struct PhaseRecord {
    phase: &'static str,
    first_event: u32,
    last_event: u32,
}

#[derive(Debug, Serialize)]
struct IterationPeak {
    bytes: Bytes,
    event: i64,
    phase: &'static str,
}

/// The columns of the table, as headers for people.
pub const ITERATION_COLUMNS: [&str; 8] =
    ["iteration", "events", "peak", "at event", "in", "growth", "left behind", "still there"];

/// The cells of an iteration, in the order of [`ITERATION_COLUMNS`].
pub fn iteration_cells(row: &IterationRow) -> [String; ITERATION_COLUMNS.len()] {
    [
        iteration_name(row),
        event_range(row.events),
        units::bytes(row.peak_bytes),
        row.peak.event().map_or_else(|| "–".to_owned(), |event| units::count(event.0)),
        row.peak_phase.key().to_owned(),
        units::bytes_change(row.growth_bytes),
        units::bytes(row.left_bytes),
        units::bytes(row.kept_bytes),
    ]
}

/// The number of an iteration, or its place in the recording: `3`, `3 of the recording`.
pub fn iteration_name(row: &IterationRow) -> String {
    row.number.map_or_else(|| format!("{} of the recording", units::count(row.of_recording)), units::count)
}

/// The phases of an iteration with their events: `data 100–120, forward 121–340`.
pub fn iteration_phases(row: &IterationRow) -> String {
    let known = row.phases.iter().filter(|(phase, _)| *phase != Phase::Unknown);
    let parts: Vec<String> =
        known.map(|(phase, events)| format!("{} {}", phase.key(), event_range(*events))).collect();
    parts.join(", ")
}

fn event_range([from, to]: [u32; 2]) -> String {
    format!("{}–{}", units::count(from), units::count(to.saturating_sub(1)))
}

/// Most iterations of the table as text: about one screen, as `live` has.
const MAX_ROWS: usize = 30;

/// The places of the iterations that are shown: all, or the first, the last and the one with the largest peak.
fn shown(rows: &[IterationRow]) -> BTreeSet<usize> {
    if rows.len() <= MAX_ROWS {
        return (0..rows.len()).collect();
    }
    let half = MAX_ROWS / 2;
    let largest = (0..rows.len()).rev().max_by_key(|&at| rows[at].peak_bytes);
    (0..half).chain(rows.len() - half..rows.len()).chain(largest).collect()
}

/// The columns that a narrow terminal does not show, the least important first: places of phases and peaks, and what else says how
/// memory grows.
const MAY_GO: [usize; 5] = [8, 3, 1, 6, 5];

/// Write the table as text, indented as the rest of `stats`.
pub(super) fn iterations_text(
    out: &mut dyn Write,
    rows: &[IterationRow],
    style: TextStyle,
) -> io::Result<()> {
    if rows.is_empty() {
        return writeln!(out, "  iterations   none were found");
    }
    writeln!(
        out,
        "  iterations   left behind: made in it and live at its end; still there: after the last event"
    )?;
    let cells = |texts: [String; ITERATION_COLUMNS.len()], phases: String| -> Vec<String> {
        let [first, rest @ ..] = texts;
        std::iter::once(format!("  {first}")).chain(rest).chain([phases]).collect()
    };
    let header = cells(ITERATION_COLUMNS.map(str::to_owned), "phases".to_owned());
    let mut table = vec![header];
    let (mut next, mut left_out) = (0, 0);
    for at in shown(rows) {
        if next != at {
            left_out += at - next;
            table.push([vec!["  …".to_owned()], vec![String::new(); ITERATION_COLUMNS.len()]].concat());
        }
        next = at + 1;
        table.push(cells(iteration_cells(&rows[at]), iteration_phases(&rows[at])));
    }
    use Align::{Left, Right};
    let align = [Right, Left, Right, Right, Left, Right, Right, Right, Left];
    table::write_fitted(out, style.table_width, &align, &MAY_GO, table)?;
    if left_out == 0 {
        return Ok(());
    }
    let are = if left_out == 1 { "is" } else { "are" };
    writeln!(out, "  {} {are} {IN_JSON}", units::counted(left_out, "other iteration"))
}

/// The iterations for JSON.
pub(super) fn iteration_records(rows: &[IterationRow]) -> Vec<IterationRecord> {
    let phase = |&(phase, [from, to]): &(Phase, [u32; 2])| PhaseRecord {
        phase: phase.key(),
        first_event: from,
        last_event: to.saturating_sub(1),
    };
    let record = |row: &IterationRow| IterationRecord {
        iteration: row.number,
        iteration_of_recording: row.of_recording,
        first_event: row.events[0],
        last_event: row.events[1].saturating_sub(1),
        phases: row.phases.iter().map(phase).collect(),
        peak: IterationPeak {
            bytes: row.peak_bytes,
            event: i64::from(row.peak.0) - 1,
            phase: row.peak_phase.key(),
        },
        growth_bytes: row.growth_bytes,
        left_bytes: row.left_bytes,
        kept_bytes: row.kept_bytes,
    };
    rows.iter().map(record).collect()
}

/// Write iterations with a header line. Sizes are in bytes; unknown values are empty.
///
/// # Errors
/// When writing fails.
pub fn iterations_csv<'a>(
    out: &mut dyn Write,
    rows: impl IntoIterator<Item = &'a IterationRow>,
) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record([
        "iteration",
        "iteration_of_recording",
        "first_event",
        "last_event",
        "peak_bytes",
        "peak_event",
        "peak_phase",
        "growth_bytes",
        "left_bytes",
        "kept_bytes",
        "phases",
    ])
    .map_err(io_error)?;
    for row in rows {
        let phases: Vec<String> = row
            .phases
            .iter()
            .map(|(phase, [from, to])| format!("{} {from}..{}", phase.key(), to.saturating_sub(1)))
            .collect();
        csv.write_record([
            optional(row.number.map(i64::from)),
            row.of_recording.to_string(),
            row.events[0].to_string(),
            row.events[1].saturating_sub(1).to_string(),
            row.peak_bytes.0.to_string(),
            (i64::from(row.peak.0) - 1).to_string(),
            row.peak_phase.key().to_owned(),
            row.growth_bytes.0.to_string(),
            row.left_bytes.0.to_string(),
            row.kept_bytes.0.to_string(),
            phases.join(" "),
        ])
        .map_err(io_error)?;
    }
    csv.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use oomscope_model::Moment;

    fn row(number: Option<u32>) -> IterationRow {
        IterationRow {
            number,
            of_recording: 1,
            events: [1000, 2000],
            phases: vec![
                (Phase::Unknown, [1000, 1001]),
                (Phase::Forward, [1001, 1500]),
                (Phase::Backward, [1500, 2000]),
            ],
            peak: Moment(1500),
            peak_bytes: Bytes(3 << 20),
            peak_phase: Phase::Forward,
            growth_bytes: Bytes(-(1 << 20)),
            left_bytes: Bytes(2 << 20),
            kept_bytes: Bytes(512),
        }
    }

    fn text(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&mut out).expect("memory takes everything");
        String::from_utf8(out).expect("the table is text")
    }

    #[test]
    fn the_table_reads_in_full() {
        let mut rows = vec![row(Some(7)), row(None)];
        rows[1].growth_bytes = Bytes(1 << 20);
        assert_eq!(
            text(|out| iterations_text(out, &rows, TextStyle::default())).lines().collect::<Vec<_>>(),
            [
                "  iterations   left behind: made in it and live at its end; still there: after the last event",
                "           iteration  events           peak  at event  in          growth  left behind  still there  phases",
                "                   7  1,000–1,999  3.00 MiB     1,499  forward  -1.00 MiB     2.00 MiB        512 B  \
                 forward 1,001–1,499, backward 1,500–1,999",
                "  1 of the recording  1,000–1,999  3.00 MiB     1,499  forward  +1.00 MiB     2.00 MiB        512 B  \
                 forward 1,001–1,499, backward 1,500–1,999",
            ]
        );
        let none = text(|out| iterations_text(out, &[], TextStyle::default()));
        assert_eq!(none, "  iterations   none were found\n");
    }

    #[test]
    fn of_many_iterations_the_first_the_last_and_the_largest_are_shown() {
        let mut rows: Vec<IterationRow> = (0..100).map(|number| row(Some(number))).collect();
        rows[40].peak_bytes = Bytes(5 << 20);
        let found = text(|out| iterations_text(out, &rows, TextStyle::default()));
        let lines: Vec<&str> = found.lines().skip(2).collect();
        let first = |line: &str| line.split_whitespace().next().unwrap_or_default().to_owned();
        let shown: Vec<String> = lines.iter().map(|line| first(line)).collect();
        assert_eq!(shown[..2], ["0", "1"]);
        assert_eq!(shown[14..19], ["14", "…", "40", "…", "85"]);
        assert_eq!(shown[shown.len() - 2..], ["99", "69"]);
        assert_eq!(lines.last().copied(), Some("  69 other iterations are in --format json"));
    }

    #[test]
    fn csv_has_plain_figures() {
        let rows = [row(None)];
        let csv = text(|out| iterations_csv(out, &rows));
        let line = csv.lines().nth(1).unwrap_or_default();
        assert_eq!(
            line,
            ",1,1000,1999,3145728,1499,forward,-1048576,2097152,512,unknown 1000..1000 forward 1001..1499 backward 1500..1999"
        );
    }
}
