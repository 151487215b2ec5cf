//! Who holds the memory that a verdict is about, where the program said so: the variable from which references lead to it.

use super::holder_advice::{self, Kept};
use crate::assessment::Assessment;
use crate::case::Case;
use crate::figure;
use crate::finding::Finding;
use crate::findings::FindingId;
use crate::sentence::{name, say};
use oomscope_analysis::{HeldBy, named_tensors};
use oomscope_model::{Action, AllocId, Bytes, CensusIx, TensorRole};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Whether nothing was allocated or freed behind the moment: who holds what was written at the end.
fn is_at_end(case: &Case<'_>) -> bool {
    let events = &case.recording.events;
    let changes = [Action::Alloc, Action::FreeRequested, Action::FreeCompleted];
    let later = events.indices().skip(case.moment.index());
    later.map(|event| events.action(event)).all(|action| !changes.contains(&action))
}

/// What of a verdict's memory a variable holds.
struct Held {
    holder: HeldBy,
    bytes: Bytes,
    blocks: usize,
    /// Bytes that operations have saved for a backward.
    saved_bytes: Bytes,
}

/// The variable that holds more than half of some memory. Less is not what a verdict is about.
fn holder_of(case: &Case<'_>, about: &[AllocId]) -> Option<Held> {
    let recording = case.recording;
    let census = &recording.snapshot().census;
    let mut held: BTreeMap<CensusIx, Held> = BTreeMap::new();
    for &id in about {
        let tensors = named_tensors(recording, id);
        let Some(holder) = tensors.iter().find_map(|tensor| census.holder_of(tensor)) else { continue };
        let of = held.entry(holder).or_insert_with(|| Held {
            holder: HeldBy::of(census, census.holder(holder)),
            bytes: Bytes::ZERO,
            blocks: 0,
            saved_bytes: Bytes::ZERO,
        });
        let bytes = recording.size(id);
        of.bytes += bytes;
        of.blocks += 1;
        let is_saved = tensors.iter().any(|tensor| tensor.role == Some(TensorRole::Saved));
        of.saved_bytes += if is_saved { bytes } else { Bytes::ZERO };
    }
    let all = about.iter().map(|&id| recording.size(id)).sum::<Bytes>();
    let is_most = |held: &Held| all < held.bytes * 2;
    let mut held: Vec<Held> = held.into_values().collect();
    if !held.iter().any(is_most) {
        held = together(held);
    }
    held.into_iter().find(is_most)
}

/// What is one variable to a person may be several here: entries of a dictionary, links of a chain.
fn together(held: Vec<Held>) -> Vec<Held> {
    let mut joined: BTreeMap<(String, String), Held> = BTreeMap::new();
    for of in held {
        match joined.entry(of.holder.root()) {
            Entry::Occupied(mut all) => {
                let all = all.get_mut();
                all.holder.join(&of.holder);
                all.bytes += of.bytes;
                all.blocks += of.blocks;
                all.saved_bytes += of.saved_bytes;
            }
            Entry::Vacant(first) => {
                first.insert(of);
            }
        }
    }
    joined.into_values().collect()
}

/// Name the variable that holds more than half of what a verdict is about, and write the fix of a leak with it.
pub(super) fn name_holder(verdict: &mut Finding, assessment: &Assessment<'_>) {
    let case = assessment.case;
    if case.recording.snapshot().census.tensors().is_empty() || !is_at_end(case) {
        return;
    }
    let about = &verdict.evidence.about;
    let Some(held) = holder_of(case, about) else { return };
    let all = about.iter().map(|&id| case.recording.size(id)).sum::<Bytes>();
    let said = say!(
        "{} holds {} of {}, {}.",
        name(held.holder.to_string()),
        figure::bytes(held.bytes).of(all),
        figure::bytes(all),
        figure::counted(held.blocks, "block")
    );
    match verdict.why.take() {
        // It may be about this variable already.
        Some(why) if why.text().contains(&held.holder.to_string()) => verdict.because(why),
        Some(why) => verdict.because(say!("{} {}", why, said)),
        None => verdict.because(said),
    }
    if verdict.id == FindingId::Leak {
        let is_over = assessment.retained.as_ref().is_none_or(|retained| !retained.may_be_one_step());
        let kept = match held.bytes < held.saved_bytes * 2 {
            false => Kept::Tensors,
            true if is_over => Kept::FinishedGraphs,
            true => Kept::Graphs,
        };
        holder_advice::advise(verdict, &held.holder, kept);
    }
}
