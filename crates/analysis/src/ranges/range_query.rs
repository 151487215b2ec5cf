//! Names of parts of a recording, and the events that they mean.

use super::event_ranges::EventRanges;
use crate::lanes::{RangeName, annotation_ranges};
use crate::{Iterations, Phase, Phases};
use oomscope_model::Recording;
use std::collections::BTreeMap;

/// A part of a recording as users name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RangeQuery {
    /// Iterations by their numbers, both ends included.
    Iterations([u32; 2]),
    /// All that lies in a phase.
    Phase(Phase),
    /// Annotations of the program with a text in their names. The text is in lower case.
    Named(String),
    /// Events by their numbers, both ends included.
    Events([u32; 2]),
}

impl RangeQuery {
    /// Understand `iteration:3`, `iteration:2..5`, `phase:backward`, `range:NAME`, `event:100..200`, `100..200`, or the name of
    /// an annotation.
    ///
    /// # Errors
    /// The values that were expected.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let text = text.trim();
        let (key, value) = text.split_once(':').map_or(("", text), |(key, value)| (key, value.trim()));
        match key.to_ascii_lowercase().as_str() {
            "iteration" => Self::iterations(value).ok_or("a number such as 3, or a range such as 2..5"),
            "phase" => Phase::from_key(value)
                .map(Self::Phase)
                .ok_or("init, data, forward, backward, optimizer, eval or unknown"),
            "event" => bounds(value).ok_or("a range of events such as 100..200").and_then(Self::events),
            "range" if !value.is_empty() => Ok(Self::Named(value.to_lowercase())),
            _ if text.is_empty() || text.ends_with(':') => Err("the name of a range"),
            _ => match bounds(text) {
                Some(_) if !text.contains("..") => Err("two events such as 100..200, or range: and a name"),
                Some(events) => Self::events(events),
                None => Ok(Self::Named(text.to_lowercase())),
            },
        }
    }

    fn events([first, last]: [u32; 2]) -> Result<Self, &'static str> {
        if first <= last { Ok(Self::Events([first, last])) } else { Err("the first event before the last") }
    }

    /// The iterations with some numbers: `3`, `2..5`, `2..` or `..5`.
    pub(crate) fn iterations(text: &str) -> Option<Self> {
        bounds(text).map(Self::Iterations)
    }

    /// Whether iterations and phases have to be known to find it.
    pub fn needs_attribution(&self) -> bool {
        matches!(self, Self::Iterations(_) | Self::Phase(_))
    }

    /// The ranges of events that are meant: the first event of each, and the one after its last.
    pub(crate) fn find_all(&self, recording: &Recording, phases: &Phases) -> Vec<[u32; 2]> {
        let end = recording.events.len() as u32;
        match self {
            Self::Iterations([first, last]) => {
                let numbered = phases.iterations.ranges().into_iter();
                numbered.filter(|(n, _)| (*first..=*last).contains(n)).map(|(_, range)| range).collect()
            }
            Self::Phase(phase) => {
                let spans = phases.spans(end).filter(|span| span.0 == *phase);
                spans.map(|span| span.1).collect()
            }
            Self::Named(text) => named(recording, text),
            Self::Events([first, last]) => vec![[*first, last.saturating_add(1).min(end)]],
        }
    }

    /// The events that are meant.
    pub fn find(&self, recording: &Recording, phases: &Phases) -> EventRanges {
        EventRanges::new(self.find_all(recording, phases))
    }

    /// Why a device can have no such range: what it needs was not recorded.
    pub(crate) fn missing(&self, recording: &Recording, phases: &Phases) -> Option<&'static str> {
        let is_known = |iterations: &Iterations| !iterations.ranges().is_empty();
        match self {
            Self::Named(_) if recording.snapshot().annotations.is_empty() => Some("no ranges were recorded"),
            Self::Named(_) if !recording.times.has_times() => {
                Some("no times were recorded, by which a range could be placed")
            }
            Self::Iterations(_) if !is_known(&phases.iterations) => Some("no iterations were found"),
            Self::Iterations(_) if !phases.iterations.has_numbers() => Some(
                "the recording starts too late to number iterations: they count from its first, which is 0",
            ),
            _ => None,
        }
    }
}

/// The events within annotations that have a text in their names, in any case.
fn named(recording: &Recording, text: &str) -> Vec<[u32; 2]> {
    // Thousands of ranges may share a name.
    let mut known: BTreeMap<RangeName, bool> = BTreeMap::new();
    let mut has_text = |name: RangeName| {
        *known.entry(name).or_insert_with(|| name.text(recording.snapshot()).to_lowercase().contains(text))
    };
    let ranges = annotation_ranges(recording).into_iter().filter(|range| has_text(range.name));
    // A moment comes after its event.
    ranges.map(|range| range.moments.map(|moment| moment.0.saturating_sub(1))).collect()
}

/// One number, or two with both ends included, one of which may be left out. Digits may be grouped.
fn bounds(text: &str) -> Option<[u32; 2]> {
    let number = |text: &str| {
        let text = text.trim();
        let is_number = text.starts_with(|c: char| c.is_ascii_digit());
        text.replace([',', '_'], "").parse::<u32>().ok().filter(|_| is_number)
    };
    let bound = |text: &str, open: u32| if text.trim().is_empty() { Some(open) } else { number(text) };
    match text.split_once("..") {
        Some((first, last)) if first.trim().is_empty() && last.trim().is_empty() => None,
        Some((first, last)) => Some([bound(first, 0)?, bound(last, u32::MAX)?]),
        None => number(text).map(|number| [number; 2]),
    }
}
