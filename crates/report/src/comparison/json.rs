//! A comparison as JSON; docs/json.md describes it.

use super::ComparisonReport;
use super::operators::{operator_kind, operator_text};
use super::promises::{PromiseRecord, promises};
use super::rows::module_text;
use super::sentence::{comparison_sentence, moment_word};
use crate::damage::DamageRecord;
use crate::position::{PlaceRecord, place};
use crate::predicted::PredictedRecord;
use crate::trust::TrustRecord;
use crate::{json, settings};
use oomscope_analysis::comparison::{
    BothSides, Figures, LinePair, PoolStream, Portion, SettingChange, Since,
};
use oomscope_analysis::{Basis, Verdict};
use oomscope_model::Bytes;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// The name of the format.
const SCHEMA: &str = "oomscope-diff";

/// Its number. It changes when a key changes its meaning or goes.
const VERSION: u32 = 2;

#[derive(Serialize)]
struct Record {
    schema: &'static str,
    version: u32,
    sentence: String,
    a: SideRecord,
    b: SideRecord,
    total: RowRecord,
    reserved_change: Bytes,
    categories: Vec<Named<CategoryKey>>,
    modules: Vec<Named<ModuleKey>>,
    lines: Vec<Named<LineKey>>,
    operators: Vec<Named<OperatorKey>>,
    pools: Vec<Named<PoolKeys>>,
    judged_differently: Vec<RestatedRecord>,
    settings: Vec<SettingRecord>,
    promises: Vec<PromiseRecord>,
}

#[derive(Serialize)]
struct SideRecord {
    file: String,
    device: i64,
    moment: String,
    /// The event before the moment; -1 for the state before the first.
    event: i64,
    place: PlaceRecord,
    active: Bytes,
    reserved: Bytes,
    peak: Bytes,
    peak_event: i64,
    peak_reserved: Bytes,
    peak_reserved_event: i64,
    /// The event with which the iteration began, from which on memory is not `from_before`; null for the recording.
    iteration_begins: Option<u32>,
    damage: Option<DamageRecord>,
    predicted: Option<PredictedRecord>,
    /// Whether frames of compiled code name operators.
    names_operators: bool,
    trust: TrustRecord,
}

#[derive(Serialize)]
struct PortionRecord {
    bytes: Bytes,
    count: u64,
    set_apart: Bytes,
    from_before: Bytes,
    by_basis: BTreeMap<&'static str, Bytes>,
}

#[derive(Serialize)]
struct RowRecord {
    change: Bytes,
    set_apart: Bytes,
    #[serde(rename = "is")]
    kind: &'static str,
    a: PortionRecord,
    b: PortionRecord,
}

#[derive(Serialize)]
struct Named<K> {
    #[serde(flatten)]
    key: K,
    #[serde(flatten)]
    row: RowRecord,
}

#[derive(Serialize)]
struct CategoryKey {
    category: &'static str,
}

#[derive(Serialize)]
struct ModuleKey {
    module: String,
}

#[derive(Serialize)]
struct LineKey {
    line_a: Option<LineRecord>,
    line_b: Option<LineRecord>,
}

#[derive(Serialize)]
struct OperatorKey {
    operator: String,
    named_by: &'static str,
}

#[derive(Serialize)]
struct LineRecord {
    file: String,
    line: i64,
    function: String,
}

#[derive(Serialize)]
struct PoolKeys {
    pool_a: Option<PoolRecord>,
    pool_b: Option<PoolRecord>,
    by_order: bool,
    reserved_a: Bytes,
    reserved_b: Bytes,
}

#[derive(Serialize)]
struct PoolRecord {
    pool: Option<[i64; 2]>,
    stream: Option<i64>,
}

#[derive(Serialize)]
struct RestatedRecord {
    bytes: Bytes,
    count: u64,
    a: VerdictRecord,
    b: VerdictRecord,
}

#[derive(Serialize)]
struct VerdictRecord {
    category: &'static str,
    basis: &'static str,
    rule: &'static str,
}

#[derive(Serialize)]
struct SettingRecord {
    name: String,
    a: Option<String>,
    b: Option<String>,
}

/// Write one object.
///
/// # Errors
/// When writing fails.
pub fn comparison_json(out: &mut dyn Write, report: &ComparisonReport<'_>) -> io::Result<()> {
    let found = report.comparison;
    let active = found.by_pool();
    let line = |row: BothSides<u32>| {
        found.lines.get(row.key as usize).map(|pair| Named { key: line_key(pair), row: record(&row) })
    };
    let pool = |(pair, at): (&oomscope_analysis::comparison::PoolPair, u32)| {
        let none = BothSides { key: at, sides: [Portion::default(); 2] };
        let row = active.iter().find(|row| row.key == at).unwrap_or(&none);
        Named { key: pool_keys(pair), row: record(row) }
    };
    json::write(
        out,
        &Record {
            schema: SCHEMA,
            version: VERSION,
            sentence: comparison_sentence(report),
            a: side(report, 0),
            b: side(report, 1),
            total: record(&found.total()),
            reserved_change: found.reserved_change_bytes(),
            categories: named(&found.by_category(), |category| CategoryKey { category: category.key() }),
            modules: named(&found.by_module(), |&module| ModuleKey { module: module_text(found, module) }),
            lines: found.by_line().into_iter().filter_map(line).collect(),
            operators: named(&found.by_operator(), |&operator| OperatorKey {
                operator: operator_text(found, operator),
                named_by: operator_kind(found, operator),
            }),
            pools: found.pools.iter().zip(0..).map(pool).collect(),
            judged_differently: found.restated.iter().map(restated).collect(),
            settings: found.settings.iter().map(setting).collect(),
            promises: promises(report),
        },
    )
}

fn named<K, N>(rows: &[BothSides<K>], name: impl Fn(&K) -> N) -> Vec<Named<N>> {
    rows.iter().map(|row| Named { key: name(&row.key), row: record(row) }).collect()
}

fn number(bytes: i128) -> Bytes {
    Bytes::clamped(bytes)
}

fn side(report: &ComparisonReport<'_>, side: usize) -> SideRecord {
    let of = report.sides[side];
    let Figures { moment, active_bytes, reserved_bytes, peak, reserved_peak, since } =
        report.comparison.figures[side];
    let event = |moment: oomscope_model::Moment| i64::from(moment.0) - 1;
    SideRecord {
        file: report.files[side].to_owned(),
        device: of.recording.device.0,
        moment: moment_word(report, side),
        event: event(moment),
        place: place(&of.attribution.phases, moment),
        active: active_bytes,
        reserved: reserved_bytes,
        peak: peak.1,
        peak_event: event(peak.0),
        peak_reserved: reserved_peak.1,
        peak_reserved_event: event(reserved_peak.0),
        iteration_begins: match since {
            Since::Iteration(moment) => Some(moment.0),
            Since::Recording => None,
        },
        damage: DamageRecord::of(of.recording.snapshot()),
        predicted: PredictedRecord::of(of.recording.snapshot()),
        names_operators: report.comparison.are_operators_named[side],
        trust: TrustRecord::of(of.recording),
    }
}

fn record<K>(row: &BothSides<K>) -> RowRecord {
    let [a, b] = row.sides.map(|side| portion(&side));
    RowRecord {
        change: number(row.change_bytes()),
        set_apart: number(row.restated_bytes()),
        kind: row.change().key(),
        a,
        b,
    }
}

fn portion(portion: &Portion) -> PortionRecord {
    let of_basis = Basis::ALL.iter().zip(portion.by_basis).filter(|(_, bytes)| *bytes != 0);
    PortionRecord {
        bytes: number(portion.amount.bytes),
        count: portion.amount.count,
        set_apart: number(portion.restated.bytes),
        from_before: number(portion.older_bytes),
        by_basis: of_basis.map(|(basis, bytes)| (basis.key(), number(bytes))).collect(),
    }
}

fn line_key(pair: &LinePair) -> LineKey {
    let [line_a, line_b] = [0, 1].map(|side| {
        pair.lines[side].as_ref().map(|line| LineRecord {
            file: line.file.clone(),
            line: line.line,
            function: line.function.clone(),
        })
    });
    LineKey { line_a, line_b }
}

fn pool_keys(pair: &oomscope_analysis::comparison::PoolPair) -> PoolKeys {
    let record =
        |key: PoolStream| PoolRecord { pool: key.pool.map(|pool| [pool.0, pool.1]), stream: key.stream };
    let [pool_a, pool_b] = pair.keys.map(|key| key.map(record));
    let [reserved_a, reserved_b] = pair.reserved_bytes.map(number);
    PoolKeys { pool_a, pool_b, by_order: pair.is_by_order, reserved_a, reserved_b }
}

fn restated(found: &oomscope_analysis::comparison::Restated) -> RestatedRecord {
    let verdict = |verdict: Verdict| VerdictRecord {
        category: verdict.category.key(),
        basis: verdict.basis().key(),
        rule: verdict.rule.rule().id,
    };
    let [a, b] = found.verdicts.map(verdict);
    RestatedRecord { bytes: number(found.amount.bytes), count: found.amount.count, a, b }
}

fn setting(change: &SettingChange) -> SettingRecord {
    let [a, b] = [0, 1].map(|side| change.values[side].as_ref().map(settings::value_text));
    SettingRecord { name: change.name.clone(), a, b }
}
