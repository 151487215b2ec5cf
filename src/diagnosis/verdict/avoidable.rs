//! What the verdict takes from other findings: memory that need not be there, and how to be rid of it.

use crate::diagnosis::finding::{Finding, Severity};
use crate::diagnosis::findings::{FindingId, Need};
use crate::diagnosis::sentence::say;

/// Memory below one in this many of the live bytes does not lead the advice: it would only put off the failure.
const LEADING_PART: i64 = 10;

/// Let the verdict about a device that is too small name what would have been enough and need not be there, most first, and
/// give the advice about it first.
pub(super) fn name_avoidable(verdict: &mut Finding, others: &[Finding], live_bytes: i64) {
    let is_too_little =
        matches!(verdict.id, FindingId::Capacity | FindingId::OutsidePytorch | FindingId::SingleRequest);
    if !is_too_little {
        return;
    }
    let leads = |finding: &&Finding| {
        finding.severity == Severity::Warning
            && finding.id.kind().need != Need::Open
            && live_bytes / LEADING_PART <= finding.weight_bytes
    };
    let leading: Vec<&Finding> = others.iter().filter(leads).collect();
    let mut named = leading.iter().map(|finding| say!("{}.", finding.title.clone()));
    if let Some(first) = named.next() {
        let why = verdict.why.take().map(|why| say!("{} ", why));
        verdict.because(say!("{}{}", why, first));
    }
    verdict.explanation.extend(named);
    let advice = leading.iter().flat_map(|finding| finding.advice.iter().cloned());
    verdict.advice = advice.chain(std::mem::take(&mut verdict.advice)).collect();
}
