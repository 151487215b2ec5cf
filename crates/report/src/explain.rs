//! `explain`: the reasons for an allocation's category, as text or JSON.

use super::because_text::{allocation_name, because_text};
use super::damage::DamageRecord;
use super::json;
use super::named_tensor::{NamedRecord, named_records, named_text};
use super::predicted::PredictedRecord;
use super::trust::{TrustRecord, trust_lines};
use oomscope_analysis::{
    Attribution, Claim, FittingTensor, SiteFrame, Verdict, fitting_tensors, frame_line, site_frame,
    site_place, stack_lines, tensors_text,
};
use oomscope_model::{Allocation, Bytes, PoolKey, Recording};
use oomscope_units as units;
use serde::Serialize;
use std::io::{self, Write};

/// An allocation and the claims of all rules about it.
#[derive(Debug)]
pub struct Explanation<'a> {
    /// The device.
    pub recording: &'a Recording,
    /// The allocation.
    pub allocation: Allocation,
    /// The attribution of the device.
    pub found: Attribution,
    /// The claims about the allocation, in the order in which rules were asked.
    pub claims: Vec<Claim>,
}

/// The name of the format.
const SCHEMA: &str = "oomscope-explain";

/// Its number. It changes when a key changes its meaning or goes.
const VERSION: u32 = 2;

#[derive(Serialize)]
struct Record<'a> {
    schema: &'static str,
    version: u32,
    device: i64,
    addr: String,
    alloc_event: Option<u32>,
    size: Bytes,
    pool: Option<[i64; 2]>,
    #[serde(flatten)]
    winner: ClaimRecord,
    /// Claims that stood until another one replaced them.
    overruled: Vec<ClaimRecord>,
    /// Claims that were refused because a surer one stood already.
    without_effect: Vec<ClaimRecord>,
    /// Those noted at the address with these bytes, without times.
    tensors: Vec<TensorRecord>,
    /// Those that the program named at the end of the recording.
    named: Vec<NamedRecord<'a>>,
    stack: Vec<String>,
    damage: Option<DamageRecord>,
    predicted: Option<PredictedRecord>,
    trust: TrustRecord,
}

#[derive(Serialize)]
struct TensorRecord {
    dtype: String,
    shape: Vec<i64>,
    operator: String,
}

#[derive(Serialize)]
struct ClaimRecord {
    category: &'static str,
    rule: &'static str,
    basis: &'static str,
    says: &'static str,
    because: String,
}

impl Explanation<'_> {
    fn claim(&self, verdict: Verdict) -> ClaimRecord {
        let rule = verdict.rule.rule();
        let id = self.allocation.id;
        let because = self.found.categories.because_of(self.recording, id, verdict.rule);
        ClaimRecord {
            category: verdict.category.key(),
            rule: rule.id,
            basis: rule.basis.key(),
            says: rule.says,
            because: because_text(self.recording, &self.allocation, because),
        }
    }

    fn tensors(&self) -> Vec<FittingTensor> {
        fitting_tensors(self.recording.snapshot(), self.recording.device, &self.allocation)
    }

    fn record(&self) -> Record<'_> {
        let winner = self.found.categories.verdict(self.allocation.id);
        let (accepted, refused): (Vec<Claim>, Vec<Claim>) =
            self.claims.iter().partition(|claim| claim.is_accepted);
        let others = |claims: Vec<Claim>| {
            let others = claims.into_iter().map(|claim| claim.verdict).filter(|&verdict| verdict != winner);
            others.map(|verdict| self.claim(verdict)).collect()
        };
        Record {
            schema: SCHEMA,
            version: VERSION,
            device: self.recording.device.0,
            addr: units::address(self.allocation.addr),
            alloc_event: self.allocation.alloc_event().map(|event| event.0),
            size: self.allocation.size,
            pool: self.allocation.pool.map(|PoolKey(a, b)| [a, b]),
            winner: self.claim(winner),
            overruled: others(accepted),
            without_effect: others(refused),
            tensors: self.tensors().into_iter().map(tensor_record).collect(),
            named: named_records(self.recording, &self.found.categories, self.allocation.id),
            stack: stack_lines(self.recording.snapshot(), self.allocation.stack).collect(),
            damage: DamageRecord::of(self.recording.snapshot()),
            predicted: PredictedRecord::of(self.recording.snapshot()),
            trust: TrustRecord::of(self.recording),
        }
    }
}

fn tensor_record(FittingTensor { dtype, shape, operator }: FittingTensor) -> TensorRecord {
    TensorRecord { dtype, shape, operator }
}

/// The line of code that names the allocation, where the recording has its file.
fn own_line(Explanation { recording, allocation, .. }: &Explanation<'_>) -> Option<String> {
    let snapshot = recording.snapshot();
    let ids = snapshot.stacks.frames(allocation.stack);
    let frames: Vec<SiteFrame> = ids.iter().map(|&id| site_frame(snapshot, id)).collect();
    let at = site_place(&frames)?;
    let line = snapshot.sources.line(&snapshot.strings, snapshot.frames.get(ids[at]))?;
    Some(format!("{}: {line}", frame_line(&frames[at])))
}

/// Write an explanation as a JSON object.
///
/// # Errors
/// When writing fails.
pub fn explain_json(out: &mut dyn Write, explanation: &Explanation<'_>) -> io::Result<()> {
    json::write(out, &explanation.record())
}

/// Write an explanation for people.
///
/// # Errors
/// When writing fails.
pub fn explain_text(out: &mut dyn Write, explanation: &Explanation<'_>) -> io::Result<()> {
    let Explanation { recording, allocation, .. } = explanation;
    for line in trust_lines(recording.snapshot(), [*recording]) {
        writeln!(out, "{line}")?;
    }
    let record = explanation.record();
    let size = units::bytes_exact(allocation.size);
    writeln!(out, "{} on {}: {size}", allocation_name(allocation), recording.device)?;
    let mut line = |name: &str, text: &str| writeln!(out, "  {name:<11} {}", units::printable(text));
    line("category", record.winner.category)?;
    let verdict = explanation.found.categories.verdict(allocation.id);
    line("basis", &format!("{}: {}", record.winner.basis, verdict.basis().explains()))?;
    line("rule", &format!("{}: {}", record.winner.rule, record.winner.says))?;
    line("because", &record.winner.because)?;
    if let Some([a, b]) = record.pool.filter(|&[a, b]| PoolKey(a, b).is_private()) {
        line("pool", &format!("private {a}.{b}"))?;
    }
    let others = [("overruled", &record.overruled), ("no effect", &record.without_effect)];
    for (name, claims) in others {
        for claim in claims {
            let ClaimRecord { category, rule, basis, says, because } = claim;
            line(name, &format!("{category} by {rule} ({basis}): {says}; {because}"))?;
        }
    }
    if let Some(named) = named_text(recording, &explanation.found.categories, allocation.id) {
        line("tensor", &named)?;
    }
    if let Some(tensors) = tensors_text(&explanation.tensors()) {
        line("tensor", &tensors)?;
    }
    if let Some(source) = own_line(explanation) {
        line("source", &source)?;
    }
    if record.stack.is_empty() {
        return line("stack", "none was recorded");
    }
    record
        .stack
        .iter()
        .enumerate()
        .try_for_each(|(at, frame)| line(if at == 0 { "stack" } else { "" }, frame))
}
