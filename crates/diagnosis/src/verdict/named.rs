//! What other findings say of a device that is too small: memory that is not needed and would have been enough, and else what
//! is peculiar about the memory that is.

use crate::answered::Answered;
use crate::case::{Among, Case, Shortage, leading};
use crate::cause::Cause;
use crate::figure;
use crate::finding::{Advice, Finding, Role, Site};
use crate::findings::Need;
use crate::sentence::{Sentence, say};
use oomscope_model::{AllocId, Bytes};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// The findings that a verdict about a device that is too small names: those without whose memory the request would have been
/// met. Of memory that is not needed, these are all that are enough alone, largest first; else those that are together.
pub(super) struct Named<'f> {
    findings: Vec<&'f Finding>,
    /// Whether the first alone is enough.
    is_enough_alone: bool,
    is_needed: bool,
}

impl<'f> Named<'f> {
    /// Ask the other findings: which of them the verdict names, and the questions that were asked to find out.
    pub(super) fn among(
        case: &Case<'_>,
        shortage: &Shortage,
        others: &'f [Finding],
    ) -> (Option<Self>, Vec<Answered>) {
        let of = |need: Need| {
            let mut of: Vec<&Finding> =
                others.iter().filter(|finding| finding.id.kind().need == need).collect();
            of.sort_by_key(|finding| Reverse(finding.weight_bytes));
            of
        };
        let (not_needed, as_written) = (of(Need::Nothing), of(Need::AsWritten));
        let largest = |findings: &[&'f Finding]| findings.first().copied().into_iter().collect::<Vec<_>>();
        let questions = [
            ("Would it have been met without one thing that nothing needs?", largest(&not_needed)),
            ("Would it have been met without all that nothing needs?", disjoint(case, &not_needed)),
            ("Would it have been met with one thing written otherwise?", largest(&as_written)),
        ];
        let mut asked: Vec<Answered> = Vec::new();
        for (asks, findings) in questions {
            asked.push(answered(asks, shortage, &findings));
            if asked.last().is_some_and(|answered| answered.is_yes) {
                break;
            }
        }
        let is_enough = |finding: &&Finding| shortage.is_covered_by(finding.weight_bytes);
        let alone = |all: &[&'f Finding]| all.iter().filter(|one| is_enough(one)).copied().collect();
        let yes = asked.iter().position(|answered| answered.is_yes);
        let named = yes.map(|at| match at {
            0 => Self { findings: alone(&not_needed), is_enough_alone: true, is_needed: false },
            1 => Self { findings: disjoint(case, &not_needed), is_enough_alone: false, is_needed: false },
            _ => Self { findings: alone(&as_written), is_enough_alone: true, is_needed: true },
        });
        (named, asked)
    }

    /// What is too much, in a title.
    pub(super) fn title(&self) -> Sentence {
        let titles = self.titled().iter().map(|finding| finding.title.clone().in_a_sentence());
        Sentence::joined(titles, "; ")
    }

    /// The findings that the title names: the first of those that are enough alone, else all.
    pub(super) fn titled(&self) -> &[&'f Finding] {
        let count = if self.is_enough_alone { 1 } else { self.findings.len() };
        self.findings.get(..count).unwrap_or_default()
    }

    /// The line that led to most of it.
    pub(super) fn site(&self, case: &Case<'_>, asked: &[Site]) -> Option<Site> {
        let first = self.findings.first()?;
        let sites = &first.evidence.sites;
        if self.is_needed {
            // Of several lines, the one that asked for more is as good as any, and a reader has just met it.
            let has_asked = |site: &&Site| asked.iter().any(|asked| asked.place() == site.place());
            return sites.iter().find(has_asked).or(sites.first()).cloned();
        }
        let stacks = case.stacks_of(first.evidence.about.iter().copied());
        let caller = leading(case, &stacks, Among::Live).into_iter().next();
        let site = caller.map(|caller| case.code.site(caller.key, caller.bytes, caller.count, Role::Live));
        site.or(sites.first().cloned())
    }

    /// Whether it says more than that one request is out of all proportion: what the program needs as it is written does not.
    pub(super) fn says_more_than(&self, cause: &Cause) -> bool {
        !self.is_needed || *cause != Cause::SingleRequest
    }

    /// Say why that is the cause, and give the advice about it first.
    pub(super) fn describe(&self, verdict: &mut Finding, shortage: &Shortage, cause: &Cause) {
        if self.says_more_than(cause) {
            let lacked = figure::bytes(shortage.lacking_bytes().unwrap_or_default());
            let reason = self.findings.first().and_then(|finding| finding.explanation.first().cloned());
            let reason = reason.map(|reason| say!(" {}", reason));
            let is_less = if self.is_enough_alone { "less than this" } else { "less than these together" };
            verdict.because(say!("The request lacked {}, {}.{}", lacked, is_less, reason));
        } else if let (Some(why), Some(first)) = (verdict.why.take(), self.findings.first()) {
            verdict.because(say!("{} {}.", why, first.title.clone()));
        }
        let named = self.findings.iter().skip(1).map(|finding| say!("{}.", finding.title.clone()));
        verdict.explanation.extend(named);
        let advice = self.findings.iter().flat_map(|finding| advice_of(finding));
        verdict.advice = advice.chain(std::mem::take(&mut verdict.advice)).collect();
    }
}

/// Whether the request would have been met without the memory of some findings, with their names.
fn answered(asks: &'static str, shortage: &Shortage, findings: &[&Finding]) -> Answered {
    let bytes = findings.iter().map(|finding| finding.weight_bytes).sum::<Bytes>();
    let names = Sentence::joined(findings.iter().map(|finding| finding.id.name().into()), ", ");
    let of = (!findings.is_empty()).then(|| say!(" ({})", names));
    let lacked = figure::bytes(shortage.lacking_bytes().unwrap_or_default());
    let figures = say!("{}{}, and {} were missing", figure::bytes(bytes), of, lacked);
    Answered { asks, figures, is_yes: shortage.is_covered_by(bytes) }
}

/// The advice of a finding, the first with the remedy that simulates it, where one does.
fn advice_of(finding: &Finding) -> Vec<Advice> {
    let mut advice = finding.advice.clone();
    if let (Some(first), [only]) = (advice.first_mut(), finding.id.kind().remedies) {
        first.remedy = first.remedy.or(Some(only));
    }
    advice
}

/// The findings whose memory is not that of a larger one.
fn disjoint<'f>(case: &Case<'_>, findings: &[&'f Finding]) -> Vec<&'f Finding> {
    let mut seen: BTreeSet<AllocId> = BTreeSet::new();
    let mut is_new = |finding: &&&Finding| {
        let about = &finding.evidence.about;
        let is_live = |id: &AllocId| case.recording.gone(*id).is_none_or(|gone| case.moment < gone);
        let is_new = !about.is_empty() && about.iter().all(|id| is_live(id) && !seen.contains(id));
        if is_new {
            seen.extend(about);
        }
        is_new
    };
    findings.iter().filter(|finding| is_new(finding)).copied().collect()
}
