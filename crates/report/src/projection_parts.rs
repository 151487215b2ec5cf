//! `explain --projection`: the projected rest of a step that failed, part by part.

use super::position::turn_text;
use super::projection::projection_lines;
use super::stated_error::stated_error;
use super::table::{self, Align};
use super::trust::trust_lines;
use oomscope_analysis::Phase;
use oomscope_model::{Action, Bytes, EventIx, Moment, Recording};
use oomscope_program::projection::{Projection, Unprojected};
use oomscope_units as units;
use std::io::{self, Write};
use std::ops::Range;

/// Write what is projected and what that rests on: which earlier events it follows, and what each phase asks for.
///
/// # Errors
/// When writing fails.
pub fn projection_text(
    out: &mut dyn Write,
    recording: &Recording,
    projected: Result<&Projection, Unprojected>,
) -> io::Result<()> {
    for line in trust_lines(recording.snapshot(), [recording]) {
        writeln!(out, "{line}")?;
    }
    if projected.err() == Some(Unprojected::Complete) {
        return writeln!(out, "No request failed, so nothing is projected.");
    }
    for line in projection_lines(projected.map(Projection::course)) {
        writeln!(out, "{line}")?;
    }
    let Ok(projection) = projected else { return Ok(()) };
    if let Some(line) = followed(projection) {
        writeln!(out, "{line}")?;
    }
    writeln!(out)?;
    table::write(out, &ALIGN, &rows(projection))?;
    let (_, peak) = projection.recording.active.peak();
    let error = stated_error(projection.course.error());
    writeln!(out, "\nHighest: {} in use ({error})", units::bytes(peak))
}

/// Which events the rest follows.
fn followed(projection: &Projection) -> Option<String> {
    let like = projection.course.like()?;
    let (start, end) = (like.moments.0.map_or(0, |start| start.0), like.moments.1.0);
    let name = like.turn.map_or_else(|| "it".to_owned(), turn_text);
    let name = units::capitalised(&name);
    Some(format!("{name} is events {} to {}.", units::count(start), units::count(end.saturating_sub(1))))
}

/// The columns of the table.
const ALIGN: [Align; 5] = [Align::Left, Align::Right, Align::Right, Align::Right, Align::Right];

/// A row for what was recorded, and for each part of what is projected.
fn rows(projection: &Projection) -> Vec<Vec<String>> {
    let from = projection.course.from.0;
    let of_step = from + projection.course.of_step;
    let end = projection.recording.events.len() as u32;
    let header = ["part", "events", "requested", "most in use", "in use after"].map(str::to_owned);
    let recorded = row(projection, "recorded".to_owned(), &(0..from));
    let parts =
        parts(projection, from..of_step).into_iter().map(|(phase, part)| (phase_words(phase, ""), part));
    let next = parts_of_next(projection, of_step..end);
    let rest = parts.chain(next).map(|(name, part)| row(projection, name, &part));
    [header.to_vec(), recorded].into_iter().chain(rest).collect()
}

/// The parts of the step after the one that failed, where it is projected.
fn parts_of_next(projection: &Projection, events: Range<u32>) -> impl Iterator<Item = (String, Range<u32>)> {
    let parts = parts(projection, events);
    parts.into_iter().map(|(phase, part)| (phase_words(phase, "next step: "), part))
}

fn phase_words(phase: Phase, step: &str) -> String {
    let phase = if phase == Phase::Unknown { "rest" } else { phase.key() };
    format!("{step}{phase}")
}

/// Some events, by the phases that they are in.
fn parts(projection: &Projection, events: Range<u32>) -> Vec<(Phase, Range<u32>)> {
    let spans = projection.attribution.phases.spans(events.end);
    let within = |(phase, [start, end]): (Phase, [u32; 2])| {
        let part = start.max(events.start)..end.min(events.end);
        (!part.is_empty()).then_some((phase, part))
    };
    spans.filter_map(within).collect()
}

fn row(projection: &Projection, name: String, part: &Range<u32>) -> Vec<String> {
    let timeline = projection.recording.timeline();
    let made = part.clone().map(EventIx).filter(|&event| timeline.events.action(event) == Action::Alloc);
    let requested: Bytes = made.map(|event| timeline.events.size(event)).sum();
    let most = timeline
        .active
        .peak_in(part.start as usize..part.end as usize + 1)
        .map_or(Bytes::ZERO, |(_, bytes)| bytes);
    let after = timeline.active.at(Moment(part.end));
    let [requested, most, after] = [requested, most, after].map(units::bytes);
    vec![name, units::count(part.len() as u32), requested, most, after]
}
