//! What `stats` says only if it is asked for: a moment, a filter, tables of modules and iterations.

use super::category_text;
use super::iterations::iterations_text;
use super::modules::modules_text;
use super::position::{PlaceRecord, place, position_text};
use super::text_style::TextStyle;
use oomscope_analysis::filter::{Filter, Prepared};
use oomscope_analysis::{Attribution, CategoryBytes, Phases, UserRules, iteration_table, module_table};
use oomscope_model::{Bytes, DeviceId, Moment, Recording, Snapshot, Timeline};
use oomscope_units as units;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

/// What to say besides the figures that are always there.
#[derive(Clone, Copy)]
pub struct StatsRequest<'a> {
    /// The user's rules for categories.
    pub rules: &'a UserRules,
    /// A moment to describe besides the peak and the end. A device may lack it.
    pub at: Option<&'a FindMoment<'a>>,
    /// Allocations to add up.
    pub filter: Option<&'a Filter>,
    /// Whether text has the table of modules; JSON always does.
    pub has_modules: bool,
    /// Whether text has the table of iterations; JSON always does.
    pub has_iterations: bool,
    /// Whether to add the allocator's own statistics.
    pub has_summary: bool,
    /// The only device that is wanted; `None` for all.
    pub device: Option<DeviceId>,
    /// How text is written.
    pub style: TextStyle,
}

/// Finds a moment on a device.
pub type FindMoment<'a> = dyn Fn(&Recording, &Phases) -> Option<Moment> + 'a;

impl<'a> StatsRequest<'a> {
    /// Nothing but the figures that are always there.
    pub fn new(rules: &'a UserRules) -> Self {
        Self {
            rules,
            at: None,
            filter: None,
            has_modules: false,
            has_iterations: false,
            has_summary: false,
            device: None,
            style: TextStyle::default(),
        }
    }

    /// The devices that are wanted.
    pub(super) fn devices<'s>(
        &self,
        snapshot: &'s Arc<Snapshot>,
    ) -> impl Iterator<Item = Recording> + use<'s> {
        let wanted = self.device;
        Recording::all(snapshot)
            .filter(move |recording| wanted.is_none_or(|device| device == recording.device))
    }

    /// The moment that the user names, if the device has it.
    pub(super) fn moment(&self, recording: &Recording, phases: &Phases) -> Option<Moment> {
        self.at.and_then(|find| find(recording, phases))
    }
}

/// A moment, for JSON.
#[derive(Serialize)]
pub(super) struct AtRecord {
    /// The event before the moment; -1 for the state before the first.
    event: i64,
    active: Bytes,
    categories: BTreeMap<&'static str, Bytes>,
    categories_inferred: BTreeMap<&'static str, Bytes>,
    place: PlaceRecord,
}

/// What a filter finds, for JSON.
#[derive(Serialize)]
pub(super) struct FilterRecord {
    /// The number of allocations that match.
    allocations: usize,
    /// Their bytes at the peak, or at the moment that was asked for.
    bytes: Bytes,
    /// Most of their bytes at once, and the first event after which there were as many.
    peak_bytes: Bytes,
    peak_event: i64,
    /// Those that are live at the peak, or at the moment, by category.
    categories: BTreeMap<&'static str, Bytes>,
    /// Parts of the query that the device cannot answer.
    notes: Vec<String>,
}

/// Bytes by the key of their category.
pub(super) fn by_key(of: &[CategoryBytes]) -> BTreeMap<&'static str, Bytes> {
    of.iter().map(|of| (of.category.key(), of.bytes)).collect()
}

/// Inferred bytes by the key of their category.
pub(super) fn inferred_by_key(of: &[CategoryBytes]) -> BTreeMap<&'static str, Bytes> {
    let inferred = of.iter().filter(|of| of.inferred_bytes != 0);
    inferred.map(|of| (of.category.key(), of.inferred_bytes)).collect()
}

/// A moment, for JSON.
pub(super) fn at_record(attribution: &Attribution, timeline: &Timeline, moment: Moment) -> AtRecord {
    let categories = attribution.categories.bytes_at(timeline, moment);
    AtRecord {
        event: i64::from(moment.0) - 1,
        active: timeline.active.at(moment),
        categories: by_key(&categories),
        categories_inferred: inferred_by_key(&categories),
        place: place(&attribution.phases, moment),
    }
}

/// What a filter finds, with the memory that is live at a moment.
pub(super) fn filter_record(
    filter: &Filter,
    recording: &Recording,
    attribution: &Attribution,
    moment: Moment,
) -> FilterRecord {
    let prepared = Prepared::with_attribution(filter, recording, attribution);
    let matches = prepared.matches(recording, moment);
    let (peak, peak_bytes) = matches.peak(recording);
    let live = recording.lifetimes.live_at(moment).filter(|&id| matches.contains(id));
    let categories = attribution.categories.bytes_of(live.map(|id| (id, recording.size(id))));
    FilterRecord {
        allocations: matches.count(),
        bytes: matches.bytes_at(recording, moment),
        peak_bytes,
        peak_event: i64::from(peak.0) - 1,
        categories: by_key(&categories),
        notes: prepared.notes().to_vec(),
    }
}

/// What was asked for besides the figures that are always there.
pub(super) fn request_text(
    out: &mut dyn Write,
    recording: &Recording,
    attribution: &Attribution,
    request: StatsRequest<'_>,
) -> io::Result<()> {
    let at = request.moment(recording, &attribution.phases);
    let moment = at.unwrap_or(recording.active.peak().0);
    if let Some(at) = at {
        at_text(out, recording, attribution, at)?;
    }
    if let Some(filter) = request.filter {
        filter_text(out, &filter_record(filter, recording, attribution, moment), at.is_some())?;
    }
    if request.has_modules {
        modules_text(out, &module_table(recording, attribution, moment), request.style)?;
    }
    if request.has_iterations {
        iterations_text(out, &iteration_table(recording, &attribution.phases), request.style)?;
    }
    Ok(())
}

/// The moment that was asked for.
fn at_text(
    out: &mut dyn Write,
    timeline: &Timeline,
    attribution: &Attribution,
    at: Moment,
) -> io::Result<()> {
    let active = timeline.active_at(at).written(units::bytes_exact);
    let event = at.event().map_or(-1, |event| i64::from(event.0));
    let lies = position_text(attribution.phases.position_at(at))
        .map_or_else(String::new, |text| format!(", {text}"));
    writeln!(out, "  moment       {active} active after event {}{lies}", units::count(event))?;
    let mut totals = attribution.categories.bytes_at(timeline, at);
    totals.sort_by_key(|of| (std::cmp::Reverse(of.bytes), of.category));
    let parts: Vec<String> = totals.iter().map(category_text).collect();
    if parts.is_empty() { Ok(()) } else { writeln!(out, "  {:<12} {}", "moment is for", parts.join(", ")) }
}

/// What the filter finds.
fn filter_text(out: &mut dyn Write, found: &FilterRecord, is_at_moment: bool) -> io::Result<()> {
    let when = if is_at_moment { "then" } else { "at the peak" };
    writeln!(
        out,
        "  filter       {}, {} {when}, at most {} after event {}",
        units::counted(found.allocations, "allocation"),
        units::bytes_exact(found.bytes),
        units::bytes(found.peak_bytes),
        units::count(found.peak_event)
    )?;
    for note in &found.notes {
        writeln!(out, "  {:<12} {note}", "")?;
    }
    Ok(())
}
