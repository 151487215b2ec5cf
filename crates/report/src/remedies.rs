//! Predicted remedies as text and as JSON.

use super::damage::DamageRecord;
use super::fits::{FitWords, fit_words};
use super::json;
use super::kept::{RecordingMark, SCHEMA, VERSION};
use super::position::turn_text;
use super::predicted::PredictedRecord;
use super::prices::{PriceRecord, price_text};
use super::projection::{ProjectionRecord, projection_lines, projection_record};
use super::simulation::fidelity_text;
use super::stated_error::{stated_error, to_spare};
use super::table::{self, Align};
use super::text_style::TextStyle;
use super::trust::{TrustRecord, trust_lines};
use oomscope_model::{Bytes, Recording, Snapshot, Timeline};
use oomscope_program::projection::Turn;
use oomscope_remedies::{Attributed, Figures, Postponed, Precondition, Prediction, Predictions, Trust};
use oomscope_simulator::{Fidelity, Profile, Until};
use oomscope_units as units;
use serde::Serialize;
use std::io::{self, Write};

/// The remedies for one device's recording.
#[derive(Debug)]
pub struct RemediesReport<'a> {
    /// The file.
    pub file: &'a str,
    /// The device's recording.
    pub recording: &'a Recording,
    /// The share of the recording that the simulation reproduces.
    pub fidelity: Fidelity,
    /// Whether the user gave the capacity; otherwise it is derived from the recording.
    pub is_capacity_given: bool,
    /// What was predicted.
    pub predictions: &'a Predictions,
    /// Whether the text has all remedies, not only the best few.
    pub has_all: bool,
    /// Whether the JSON has curves.
    pub has_curves: bool,
}

#[derive(Serialize)]
struct Record<'a> {
    schema: &'static str,
    version: u32,
    oomscope: &'static str,
    file: &'a str,
    device: i64,
    capacity: Option<u64>,
    recorded_events: u32,
    recorded_peak: Bytes,
    recorded_oom: Option<u32>,
    fidelity: FidelityRecord,
    projection: Option<ProjectionRecord>,
    not_projected: Option<&'static str>,
    baseline: BaselineRecord<'a>,
    least: Option<&'a str>,
    plans: Vec<&'a str>,
    best: Vec<&'a str>,
    largest_batch: Option<LargestBatchRecord>,
    remedies: Vec<RemedyRecord<'a>>,
    without_effect: &'a [String],
    damage: Option<DamageRecord>,
    predicted: Option<PredictedRecord>,
    trust: TrustRecord,
}

#[derive(Serialize)]
struct FidelityRecord {
    events: u64,
    identical: u64,
}

#[derive(Serialize)]
struct BaselineRecord<'a> {
    peak_requested: u64,
    peak_allocated: u64,
    peak_reserved: u64,
    fits: Option<bool>,
    fits_until: &'static str,
    margin: Option<Bytes>,
    #[serde(skip_serializing_if = "Option::is_none")]
    curve: Option<CurveRecord<'a>>,
}

/// Requested bytes over time.
#[derive(Serialize)]
struct CurveRecord<'a> {
    events: u32,
    recorded_events: u32,
    requested: &'a [u64],
}

#[derive(Serialize)]
struct LargestBatchRecord {
    factor: f64,
    basis: &'static str,
    fits_until: &'static str,
}

#[derive(Serialize)]
struct RemedyRecord<'a> {
    id: &'a str,
    title: &'a str,
    peak_requested: u64,
    peak_allocated: u64,
    peak_reserved: u64,
    fits: Option<bool>,
    fits_until: &'static str,
    fits_until_iteration: Option<u32>,
    fits_until_call: Option<u32>,
    margin: Option<Bytes>,
    basis: &'static str,
    attribution: &'static str,
    error: Option<f64>,
    effort: &'static str,
    price: PriceRecord,
    preconditions: Vec<PreconditionRecord<'a>>,
    code: &'a str,
    cost: &'a str,
    note: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    curve: Option<CurveRecord<'a>>,
}

#[derive(Serialize)]
struct PreconditionRecord<'a> {
    fact: &'a str,
    line: Option<&'a str>,
}

fn record(remedy: &Prediction, until: Until) -> RemedyRecord<'_> {
    let Figures { peak_requested, peak_allocated, peak_reserved } = remedy.figures;
    RemedyRecord {
        id: &remedy.id,
        title: &remedy.title,
        peak_requested,
        peak_allocated,
        peak_reserved,
        fits: remedy.fits,
        fits_until: until.key(),
        fits_until_iteration: remedy.fits_until_turn.and_then(Turn::iteration),
        fits_until_call: remedy.fits_until_turn.and_then(Turn::call),
        margin: remedy.margin,
        basis: remedy.basis.key(),
        attribution: remedy.attribution.key(),
        error: remedy.error,
        effort: remedy.effort.key(),
        price: remedy.price.into(),
        preconditions: remedy
            .preconditions
            .iter()
            .map(|Precondition { fact, line }| PreconditionRecord { fact, line: line.as_deref() })
            .collect(),
        code: &remedy.code,
        cost: &remedy.cost,
        note: &remedy.note,
        curve: None,
    }
}

/// A remedy as JSON, for other reports.
pub(super) fn remedy_json(remedy: &Prediction, until: Until) -> serde_json::Value {
    // The record has only texts and numbers, which JSON can hold.
    serde_json::to_value(record(remedy, until)).unwrap_or_default()
}

/// What tells a device's recording from others.
pub fn recording_mark(timeline: &Timeline) -> RecordingMark {
    RecordingMark {
        device: timeline.device.0,
        recorded_events: timeline.events.len() as u32,
        recorded_peak: timeline.active.peak().1,
        recorded_oom: timeline.ooms.last().map(|oom| oom.event.0),
    }
}

/// Write remedies as one JSON record; sizes are in bytes.
pub fn remedies_json(out: &mut dyn Write, report: &RemediesReport<'_>) -> io::Result<()> {
    let (predictions, until) = (report.predictions, report.predictions.until);
    let Figures { peak_requested, peak_allocated, peak_reserved } = predictions.baseline;
    let (projection, not_projected) = projection_record(predictions.projected);
    let RecordingMark { device, recorded_events: recorded, recorded_peak, recorded_oom } =
        recording_mark(report.recording);
    let recorded_events = predictions.projected.map_or(recorded, |course| course.from.0);
    let curve = |profile| {
        let requested = Profile::highest(profile);
        let events = predictions.moments.saturating_sub(1);
        report.has_curves.then_some(CurveRecord { events, recorded_events, requested })
    };
    let record = Record {
        schema: SCHEMA,
        version: VERSION,
        oomscope: env!("CARGO_PKG_VERSION"),
        file: report.file,
        device,
        capacity: predictions.capacity,
        recorded_events: recorded,
        recorded_peak,
        recorded_oom,
        fidelity: FidelityRecord { events: report.fidelity.events, identical: report.fidelity.identical },
        projection,
        not_projected,
        baseline: BaselineRecord {
            peak_requested,
            peak_allocated,
            peak_reserved,
            fits: predictions.fits,
            fits_until: until.key(),
            margin: predictions.margin,
            curve: curve(&predictions.curve),
        },
        least: predictions.least().map(|remedy| remedy.id.as_str()),
        plans: named(predictions, &predictions.plans).map(|remedy| remedy.id.as_str()).collect(),
        best: best(predictions).map(|remedy| remedy.id.as_str()).collect(),
        largest_batch: predictions.largest_batch.map(|batch| LargestBatchRecord {
            factor: batch.factor,
            basis: batch.basis.key(),
            fits_until: until.key(),
        }),
        remedies: predictions
            .remedies
            .iter()
            .map(|remedy| RemedyRecord { curve: curve(&remedy.curve), ..record(remedy, until) })
            .collect(),
        without_effect: &predictions.without_effect,
        damage: DamageRecord::of(report.recording.snapshot()),
        predicted: PredictedRecord::of(report.recording.snapshot()),
        trust: TrustRecord::of(report.recording),
    };
    json::write(out, &record)
}

fn best(predictions: &Predictions) -> impl Iterator<Item = &Prediction> {
    named(predictions, &predictions.best)
}

/// Remedies by their indices.
fn named<'a>(predictions: &'a Predictions, indices: &'a [usize]) -> impl Iterator<Item = &'a Prediction> {
    indices.iter().filter_map(|&index| predictions.remedies.get(index))
}

/// Write remedies as text: the cheapest change that fits, the best few in a table with what to write, and how many more there are.
pub fn remedies_text(out: &mut dyn Write, report: &RemediesReport<'_>, style: TextStyle) -> io::Result<()> {
    let predictions = report.predictions;
    writeln!(out, "{}", remedies_headline(predictions))?;
    if let Some(batch) = largest_batch_line(predictions) {
        writeln!(out, "{batch}")?;
    }
    writeln!(out)?;
    writeln!(out, "{} · {}", units::printable(report.file), report.recording.device)?;
    for line in trust_lines(report.recording.snapshot(), [report.recording]) {
        writeln!(out, "  {line}")?;
    }
    let source = if report.is_capacity_given { "given" } else { "derived from the file" };
    match predictions.capacity {
        Some(capacity) => writeln!(out, "  capacity        {} ({source})", bytes(capacity))?,
        None => {
            writeln!(out, "  capacity        not limited: the file does not show it; --capacity sets it")?;
        }
    }
    writeln!(out, "  simulated again {}", fidelity_text(report.fidelity))?;
    for line in projection_lines(predictions.projected) {
        writeln!(out, "  {line}")?;
    }
    writeln!(out)?;
    let shown: Vec<&Prediction> =
        if report.has_all { predictions.remedies.iter().collect() } else { best(predictions).collect() };
    table(out, report, &shown, style)?;
    let lines = more_line(predictions, shown.len()).into_iter().chain(without_effect_line(predictions));
    for (index, line) in lines.enumerate() {
        writeln!(out, "{}{line}", if index == 0 { "\n" } else { "" })?;
    }
    best(predictions).try_for_each(|remedy| describe(out, remedy))
}

/// How many remedies are not shown.
fn more_line(predictions: &Predictions, shown: usize) -> Option<String> {
    let more = predictions.remedies.len().saturating_sub(shown);
    (0 < more).then(|| format!("{} more: --all", units::count(more as u64)))
}

/// The largest batch that fits, and how far that can be trusted.
pub fn largest_batch_line(predictions: &Predictions) -> Option<String> {
    let batch = predictions.largest_batch?;
    let more = if batch.is_more { "at least " } else { "" };
    let trust = match batch.basis {
        Trust::Bound => "; not every backward was recorded, and it may need more",
        // From a multiple of two on, other kernels with other workspaces are likely.
        Trust::Simulated if !(0.5..=2.0).contains(&batch.factor) => "; so far from this one, try it",
        Trust::Simulated => "",
    };
    let fits = fit_words(predictions.until).fits;
    Some(format!("The largest batch that {fits} is {more}{:.2} times this one{trust}.", batch.factor))
}

/// The remedies that apply and change nothing.
pub fn without_effect_line(predictions: &Predictions) -> Option<String> {
    let ids = &predictions.without_effect;
    (!ids.is_empty()).then(|| format!("Without effect on the peak: {}.", ids.join(", ")))
}

/// The cheapest change that fits, or that none is needed, or that none does; with ids, which commands take.
pub fn remedies_headline(predictions: &Predictions) -> String {
    headline(predictions, |remedy| format!("{} ({})", remedy.title, remedy.id))
}

/// The same in words alone.
pub fn remedies_in_words(predictions: &Predictions) -> String {
    headline(predictions, |remedy| remedy.title.clone())
}

fn headline(predictions: &Predictions, named: fn(&Prediction) -> String) -> String {
    let limit = predictions.capacity.map(bytes).unwrap_or_default();
    let FitWords { fits_into, fit_into, .. } = fit_words(predictions.until);
    if let Some(remedy) = predictions.least() {
        let spare = |margin| to_spare(margin, remedy.figures.peak_reserved, remedy.error);
        let margin = remedy.margin.map(|margin| format!(", {}", spare(margin)));
        return format!(
            "The cheapest change that {fits_into} {limit}: {}{}.",
            named(remedy),
            margin.unwrap_or_default()
        );
    }
    if let Some(sentence) =
        predictions.postpones.and_then(|postponed| postponed_text(predictions, postponed, named))
    {
        return sentence;
    }
    match (predictions.fits, predictions.remedies.is_empty()) {
        (_, true) => "No change is known to apply to this program.".to_owned(),
        (Some(true), _) => format!("The program {fits_into} {limit} as it is."),
        (Some(false), _) => format!("No change that was tried makes the program {fit_into} {limit}."),
        (None, _) => {
            let best = predictions.remedies.iter().find(|remedy| is_good(predictions, remedy));
            best.map_or_else(
                || "None of these remedies lowers the peak.".to_owned(),
                |remedy| format!("The most is saved by this: {}.", named(remedy)),
            )
        }
    }
}

/// That what fits as long as was recorded does so for now.
fn postponed_text(
    predictions: &Predictions,
    postponed: Postponed,
    named: fn(&Prediction) -> String,
) -> Option<String> {
    let limit = predictions.capacity.map(bytes).unwrap_or_default();
    let fits_into = fit_words(predictions.until).fits_into;
    let (Postponed::Leak(index) | Postponed::Little(index) | Postponed::Bound(index)) = postponed;
    let remedy = predictions.remedies.get(index)?;
    let what = named(remedy);
    let until = remedy.fits_until_turn;
    let until = until.map_or_else(String::new, |last| format!(", until about {}", turn_text(last)));
    Some(match postponed {
        Postponed::Leak(_) => format!(
            "No change that was tried stops what grows and {fits_into} {limit}. This only puts it off{until}: {what}."
        ),
        Postponed::Little(_) => format!(
            "No change that was tried is known to do more than get past the request that failed within {limit}. This does: {what}."
        ),
        Postponed::Bound(_) => format!(
            "No figure is sure enough to say that the program {fits_into} {limit}; as far as a bound tells, it does with this: {what}."
        ),
    })
}

/// Whether a remedy saves something for sure.
fn is_good(predictions: &Predictions, remedy: &Prediction) -> bool {
    remedy.basis == Trust::Simulated && saves(predictions, remedy)
}

fn saves(predictions: &Predictions, remedy: &Prediction) -> bool {
    let (before, after) = (predictions.baseline, remedy.figures);
    after.peak_requested < before.peak_requested || after.peak_reserved < before.peak_reserved
}

/// The name of the program without a change, as far as its requests are known.
pub fn unchanged_name(predictions: &Predictions, snapshot: &Snapshot) -> &'static str {
    match (&predictions.projected, snapshot.is_estimate()) {
        (Ok(_), _) => "as it is",
        (Err(_), true) => "as predicted",
        (Err(_), false) => "as recorded",
    }
}

fn table(
    out: &mut dyn Write,
    report: &RemediesReport<'_>,
    shown: &[&Prediction],
    style: TextStyle,
) -> io::Result<()> {
    let predictions = report.predictions;
    let fits = fit_words(predictions.until).column;
    let titles = ["fix", "peak requested", "", "reserved", fits, "margin", "price", "basis"];
    let mut rows = vec![titles.map(str::to_owned).to_vec()];
    let before = predictions.baseline;
    let row = |id: &str, figures: Figures, fits: String, margin: Option<Bytes>, last: [String; 2]| {
        let [price, basis] = last;
        vec![
            id.to_owned(),
            bytes(figures.peak_requested),
            remedy_change(before.peak_requested, figures.peak_requested),
            bytes(figures.peak_reserved),
            fits,
            margin.map(units::bytes).unwrap_or_default(),
            price,
            basis,
        ]
    };
    let unchanged = format!("({})", unchanged_name(predictions, report.recording.snapshot()));
    rows.push(row(&unchanged, before, yes_or_no(predictions.fits), predictions.margin, Default::default()));
    // Bounds come last: they are no promise.
    let of = |basis: Trust| shown.iter().filter(move |remedy| remedy.basis == basis);
    for remedy in of(Trust::Simulated).chain(of(Trust::Bound)) {
        let last = [price_text(&remedy.price), remedy_basis(remedy)];
        rows.push(row(&remedy.id, remedy.figures, remedy_fits(remedy), remedy.margin, last));
    }
    let mut align = [Align::Right; 8];
    for column in [0, 4, 6, 7] {
        align[column] = Align::Left;
    }
    // What is reserved, the margin and the change follow from what stays, or are details of it; prices stand below.
    table::write_fitted(out, style.table_width, &align, &[3, 5, 2, 6], rows)
}

/// Whether something fits, if that is known: `yes`, `no`.
pub fn yes_or_no(fits: Option<bool>) -> String {
    fits.map_or("", |fits| if fits { "yes" } else { "no" }).to_owned()
}

/// Whether it fits, or until when: `yes`, `no`, `to iteration 13`.
pub fn remedy_fits(remedy: &Prediction) -> String {
    fits_or_until(remedy.fits, remedy.fits_until_turn)
}

/// The same of what is no remedy.
pub fn fits_or_until(fits: Option<bool>, until: Option<Turn>) -> String {
    until.map_or_else(|| yes_or_no(fits), |last| format!("to {}", turn_text(last)))
}

/// The change of a figure in percent: `-12.5 %`; empty if there is none.
pub fn remedy_change(before: u64, after: u64) -> String {
    if before == after || before == 0 {
        return String::new();
    }
    format!("{:+.1} %", (after as f64 / before as f64 - 1.0) * 100.0)
}

/// How sure a prediction is, in a few words.
pub fn remedy_basis(remedy: &Prediction) -> String {
    basis_text(remedy.basis, remedy.error, remedy.attribution)
}

/// The same of its parts.
pub(super) fn basis_text(basis: Trust, error: Option<f64>, attribution: Attributed) -> String {
    let mut words = match (basis, error) {
        (Trust::Bound, _) => "a bound".to_owned(),
        (Trust::Simulated, Some(error)) if 0.0 < error => {
            format!("simulated, {}", stated_error(error))
        }
        (Trust::Simulated, _) => "simulated".to_owned(),
    };
    if attribution == Attributed::Inferred {
        words.push_str(", purpose inferred");
    }
    words
}

fn describe(out: &mut dyn Write, remedy: &Prediction) -> io::Result<()> {
    writeln!(out, "\n{}: {}", remedy.id, remedy.title)?;
    for precondition in &remedy.preconditions {
        writeln!(out, "  applies because {}", precondition.text())?;
    }
    for line in remedy.code.lines() {
        writeln!(out, "    {line}")?;
    }
    writeln!(out, "  costs {}", remedy.cost)?;
    writeln!(out, "  {}", remedy_basis(remedy))?;
    if !remedy.note.is_empty() {
        writeln!(out, "  {}", remedy.note)?;
    }
    Ok(())
}

fn bytes(count: u64) -> String {
    units::bytes(i64::try_from(count).unwrap_or(i64::MAX))
}

#[cfg(test)]
pub(super) mod fixture {
    use super::*;
    use oomscope_remedies::{Effort, Price};

    /// A prediction without figures.
    pub(crate) fn prediction(id: &str) -> Prediction {
        Prediction {
            id: id.to_owned(),
            title: format!("do {id}"),
            figures: Figures::default(),
            reserved: None,
            curve: Profile::default(),
            fits: None,
            fits_until_turn: None,
            margin: None,
            basis: Trust::Simulated,
            attribution: Attributed::Seen,
            preconditions: Vec::new(),
            parts: Vec::new(),
            effort: Effort::Argument,
            price: Price::default(),
            error: None,
            is_conditional: false,
            code: String::new(),
            cost: String::new(),
            note: String::new(),
        }
    }
}
