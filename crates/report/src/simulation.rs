//! Simulated settings as a table and as JSON.

use super::damage::DamageRecord;
use super::fits::{fit_words, outcome_text};
use super::json;
use super::predicted::PredictedRecord;
use super::projection::{ProjectionRecord, projection_lines, projection_record};
use super::table::{self, Align};
use super::text_style::TextStyle;
use super::trust::{TrustRecord, trust_lines};
use oomscope_model::{Bytes, Recording};
use oomscope_program::projection::{Course, Unprojected};
use oomscope_simulator::{Fidelity, Outcome, Reach, Settings};
use oomscope_units as units;
use serde::Serialize;
use std::io::{self, Write};

/// The simulations of one device's recording under several settings.
#[derive(Debug)]
pub struct Simulation<'a> {
    /// The file.
    pub file: &'a str,
    /// The device's recording.
    pub recording: &'a Recording,
    /// The settings of the recording.
    pub recorded: &'a Settings,
    /// The share of the recording that the simulation reproduces.
    pub fidelity: Fidelity,
    /// What the rest of the step follows in which a request failed, or why there is none.
    pub projected: Result<Course, Unprojected>,
    /// Bytes that could be reserved in the simulations; `None` for any number.
    pub capacity_bytes: Option<u64>,
    /// Whether the user gave the capacity; otherwise it is derived from the recording.
    pub is_capacity_given: bool,
    /// The change to the recorded requests, in words; empty if there is none.
    pub change: String,
    /// Whether the useful settings were tried.
    pub is_sweep: bool,
    /// The outcome of each setting.
    pub outcomes: &'a [Outcome],
    /// The smallest change of settings with which every request is met, if one was searched for.
    pub recommended: Option<&'a Outcome>,
    /// The outcome with the least capacity that meets every request, if one was searched for.
    pub smallest: Option<&'a Outcome>,
    /// The capacity of [`Self::smallest`].
    pub smallest_bytes: Option<u64>,
}

/// The name of the format.
const SCHEMA: &str = "oomscope-simulate";

/// Its number. It changes when a key changes its meaning or goes.
const VERSION: u32 = 2;

#[derive(Serialize)]
struct Record<'a> {
    schema: &'static str,
    version: u32,
    file: &'a str,
    device: i64,
    recorded_settings: String,
    recorded_peak_reserved: Bytes,
    recorded_oom: Option<u32>,
    capacity: Option<u64>,
    fidelity: FidelityRecord,
    projection: Option<ProjectionRecord>,
    not_projected: Option<&'static str>,
    change: &'a str,
    results: Vec<OutcomeRecord>,
    recommendation: Option<String>,
    smallest_capacity: Option<u64>,
    damage: Option<DamageRecord>,
    predicted: Option<PredictedRecord>,
    trust: TrustRecord,
}

#[derive(Serialize)]
struct FidelityRecord {
    events: u64,
    identical: u64,
    first_difference: Option<u32>,
}

#[derive(Serialize)]
struct OutcomeRecord {
    settings: String,
    peak_reserved: u64,
    peak_allocated: u64,
    peak_active: u64,
    peak_requested: u64,
    peak_inactive_split: u64,
    largest_hole: u64,
    holes: u64,
    segment_allocs: u64,
    segment_frees: u64,
    segment_maps: u64,
    segment_unmaps: u64,
    num_alloc_retries: u64,
    num_ooms: u64,
    oom: Option<OomRecord>,
    reaches: Option<u32>,
    fits: bool,
    fits_until: &'static str,
    margin: Option<Bytes>,
}

#[derive(Serialize)]
struct OomRecord {
    event: u32,
    requested: u64,
    reserved: u64,
}

fn record(outcome: &Outcome) -> OutcomeRecord {
    let counters = &outcome.counters;
    OutcomeRecord {
        settings: outcome.settings.conf(),
        peak_reserved: counters.reserved_bytes.peak,
        peak_allocated: counters.allocated_bytes.peak,
        peak_active: counters.active_bytes.peak,
        peak_requested: counters.requested_bytes.peak,
        peak_inactive_split: counters.inactive_split_bytes.peak,
        largest_hole: outcome.largest_hole_bytes,
        holes: outcome.hole_bytes,
        segment_allocs: counters.segment_allocs,
        segment_frees: counters.segment_frees,
        segment_maps: counters.segment_maps,
        segment_unmaps: counters.segment_unmaps,
        num_alloc_retries: counters.num_alloc_retries,
        num_ooms: counters.num_ooms,
        oom: outcome.oom.map(|oom| OomRecord {
            event: oom.event.0,
            requested: oom.requested_bytes,
            reserved: oom.reserved_bytes,
        }),
        reaches: match outcome.reach {
            Reach::End => None,
            Reach::Oom(event) | Reach::RecordedOom(event) => Some(event.0),
        },
        fits: outcome.fits(),
        fits_until: outcome.until.key(),
        margin: outcome.margin_bytes(),
    }
}

/// Write a simulation as one JSON record; sizes are in bytes.
pub fn simulation_json(out: &mut dyn Write, simulation: &Simulation<'_>) -> io::Result<()> {
    let Simulation { file, recording, recorded, fidelity, .. } = simulation;
    let (projection, not_projected) = projection_record(simulation.projected);
    let record = Record {
        schema: SCHEMA,
        version: VERSION,
        file,
        device: recording.device.0,
        recorded_settings: recorded.conf(),
        recorded_peak_reserved: recording.reserved.peak().1,
        recorded_oom: recording.ooms.last().map(|oom| oom.event.0),
        capacity: simulation.capacity_bytes,
        fidelity: FidelityRecord {
            events: fidelity.events,
            identical: fidelity.identical,
            first_difference: fidelity.first_difference.map(|event| event.0),
        },
        projection,
        not_projected,
        change: &simulation.change,
        results: simulation.outcomes.iter().map(record).collect(),
        recommendation: simulation.recommended.map(|outcome| export_line(&outcome.settings)),
        smallest_capacity: simulation.smallest_bytes,
        damage: DamageRecord::of(recording.snapshot()),
        predicted: PredictedRecord::of(recording.snapshot()),
        trust: TrustRecord::of(recording),
    };
    json::write(out, &record)
}

/// The line that sets the environment variable.
pub fn export_line(settings: &Settings) -> String {
    settings.conf_line()
}

/// The fidelity of a simulation: `98.7 % of 41,220 allocator events identical; first difference at event 12`.
pub fn fidelity_text(fidelity: Fidelity) -> String {
    let count = units::count(fidelity.events);
    match fidelity.first_difference {
        None => format!("all of {count} allocator events identical"),
        Some(event) => format!(
            "{} of {count} allocator events identical; first difference at event {}",
            part(fidelity.identical, fidelity.events),
            units::count(event.0)
        ),
    }
}

fn part(part: u64, whole: u64) -> String {
    units::percent(Bytes::of_size(part), Bytes::of_size(whole))
}

fn bytes(count: u64) -> String {
    units::bytes(Bytes::of_size(count))
}

/// Write a simulation as text.
pub fn simulation_text(out: &mut dyn Write, simulation: &Simulation<'_>, style: TextStyle) -> io::Result<()> {
    let recording = simulation.recording;
    writeln!(out, "{} · {}", units::printable(simulation.file), recording.device)?;
    for line in trust_lines(recording.snapshot(), [recording]) {
        writeln!(out, "  {line}")?;
    }
    writeln!(out, "  recorded with   {}", name(simulation.recorded))?;
    writeln!(out, "  simulated again {}", fidelity_text(simulation.fidelity))?;
    let source = if simulation.is_capacity_given { "given" } else { "derived from the file" };
    match simulation.capacity_bytes {
        Some(capacity) => writeln!(out, "  capacity        {} ({source})", bytes(capacity))?,
        None => {
            writeln!(out, "  capacity        not limited: the file does not show it; --capacity sets it")?;
        }
    }
    if !simulation.change.is_empty() {
        writeln!(out, "  requests        {}", simulation.change)?;
    }
    for line in projection_lines(simulation.projected) {
        writeln!(out, "  {line}")?;
    }
    writeln!(out)?;
    table(out, simulation, style)?;
    conclusions(out, simulation)
}

/// The settings, or that they are the default.
fn name(settings: &Settings) -> String {
    let conf = settings.conf();
    if conf.is_empty() { "default settings".to_owned() } else { conf }
}

fn table(out: &mut dyn Write, simulation: &Simulation<'_>, style: TextStyle) -> io::Result<()> {
    let titles = [
        "settings",
        "peak reserved",
        "peak allocated",
        "largest hole",
        "cudaMalloc, map",
        "retries",
        "outcome",
    ];
    let mut rows = vec![titles.map(str::to_owned).to_vec()];
    for outcome in simulation.outcomes {
        let counters = &outcome.counters;
        let is_recorded = outcome.settings == *simulation.recorded;
        rows.push(vec![
            format!("{}{}", name(&outcome.settings), if is_recorded { " (recorded)" } else { "" }),
            bytes(counters.reserved_bytes.peak),
            bytes(counters.allocated_bytes.peak),
            bytes(outcome.largest_hole_bytes),
            units::count(counters.segment_allocs + counters.segment_maps),
            units::count(counters.num_alloc_retries),
            outcome_text(outcome),
        ]);
    }
    let mut align = [Align::Right; 7];
    (align[0], align[6]) = (Align::Left, Align::Left);
    // Counts of calls, then what is behind the outcome.
    table::write_fitted(out, style.table_width, &align, &[4, 5, 3, 2], rows)
}

fn conclusions(out: &mut dyn Write, simulation: &Simulation<'_>) -> io::Result<()> {
    if let (Some(outcome), Some(capacity)) = (simulation.smallest, simulation.smallest_bytes) {
        writeln!(
            out,
            "\nSmallest capacity with which the program {} under {}:",
            fit_words(outcome.until).fits,
            name(&outcome.settings)
        )?;
        writeln!(out, "  {} ({} bytes)", bytes(capacity), units::count(capacity))?;
    }
    if let Some(outcome) = simulation.recommended {
        let fits = fit_words(outcome.until).fits;
        writeln!(out, "\nThe smallest change with which the program {fits} (simulated):")?;
        writeln!(out, "  export {}", export_line(&outcome.settings))?;
    }
    if simulation.is_sweep && simulation.outcomes.iter().all(|outcome| !outcome.fits()) {
        writeln!(out, "\nNone of these settings makes it fit; 'oomscope fixes' says what would.")?;
    }
    Ok(())
}
