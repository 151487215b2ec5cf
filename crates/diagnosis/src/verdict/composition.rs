//! What the memory of a moment is made of, in a headline and a sentence.

use crate::case::{Case, Parts};
use crate::figure;
use crate::finding::Role;
use crate::inferred::amount;
use crate::sentence::{Sentence, name, say};
use oomscope_analysis::{Category, Phase};
use oomscope_program::share::{MUCH, NOTABLE, TRACE};

/// A headline with more categories than this is no headline.
const MAX_NAMED: usize = 4;

/// The amount and what it is made of: `Peak 51.0 GiB in the optimizer step: optimizer state 25.4 GiB, parameters 12.7 GiB,
/// gradients 12.7 GiB; the batch adds 307 MiB`.
pub(super) fn headline(case: &Case<'_>) -> Sentence {
    let (peak_at, peak_bytes) = case.recording.active.peak();
    let is_peak = case.moment == peak_at || case.recording.active.at(case.moment) == peak_bytes;
    let (what, verb) = match (is_peak && case.has_history(), case.starts_late()) {
        (false, _) => ("", " in use"),
        (true, false) => ("Peak ", ""),
        // There may have been a higher one before.
        (true, true) => ("Recorded peak ", ""),
    };
    let live = case.live_bytes();
    let parts = Sentence::joined(named(case), ", ");
    let colon = if parts.text().is_empty() { "" } else { ": " };
    let when = during(case.phases().phase_at(case.moment));
    say!("{}{}{}{}{}{}{}", what, figure::bytes(live), verb, when, colon, parts, batch(case))
}

/// The largest categories with their bytes.
fn named(case: &Case<'_>) -> Vec<Sentence> {
    let live = case.live_bytes();
    let categories = case.largest_categories();
    let named = categories.iter().filter(|of| TRACE.is_reached(of.bytes, live)).take(MAX_NAMED);
    named.map(|of| say!("{} {}", label(of.category), amount(of.bytes, of.inferred_bytes).of(live))).collect()
}

/// The name of a category in a list of amounts.
fn label(category: Category) -> &'static str {
    match category {
        Category::Unknown => "not known for what",
        category => category.label(),
    }
}

/// Where nearly all belongs to the model: the bytes of the passes, if these are the rest.
fn batch(case: &Case<'_>) -> Option<Sentence> {
    let live = case.live_bytes();
    let Parts { step, pass, other, .. } = Parts::of(case);
    let is_rest = 0 < pass && step == 0 && other == 0 && !TRACE.is_reached(pass, live);
    (is_rest && case.trains()).then(|| say!("; the batch adds {}", figure::bytes(pass).of(live)))
}

fn during(phase: Phase) -> &'static str {
    match phase {
        Phase::Init => " while the model is built",
        Phase::Data => " while data is loaded",
        Phase::Forward => " in the forward pass",
        Phase::Backward => " in the backward pass",
        Phase::Optimizer => " in the optimizer step",
        Phase::Eval => " in evaluation",
        Phase::Unknown => "",
    }
}

/// What it belongs to, what comes from one line, and what is reserved in vain.
pub(super) fn why(case: &Case<'_>) -> Option<Sentence> {
    let parts: Vec<Sentence> =
        [Parts::of(case).sentence(), line(case), idle(case)].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| say!("{}.", Sentence::joined(parts, "; ")))
}

fn line(case: &Case<'_>) -> Option<Sentence> {
    let live = case.live_bytes();
    let sites = case.code.sites(&case.live_stacks(), Role::Live);
    let first =
        sites.iter().max_by_key(|site| site.bytes).filter(|site| MUCH.is_reached(site.bytes, live))?;
    Some(say!("{} were allocated by {}", figure::bytes(first.bytes).of(live), name(first.label())))
}

fn idle(case: &Case<'_>) -> Option<Sentence> {
    let total = &case.state.total;
    let idle = total.reserved_bytes - total.active_rounded_bytes();
    let is_much = NOTABLE.is_reached(idle, total.reserved_bytes) && !case.is_contradictory();
    is_much.then(|| say!("{} more are reserved and not in use", figure::bytes(idle).of(total.reserved_bytes)))
}
