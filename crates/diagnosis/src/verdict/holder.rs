//! Who holds the memory that a verdict is about, where the program said so: the variable from which references lead to it.

use crate::case::Case;
use crate::figure;
use crate::finding::Finding;
use crate::sentence::{name, say};
use oomscope_analysis::{holder_text, named_tensors};
use oomscope_model::{Action, AllocId, Bytes, CensusIx};
use std::collections::BTreeMap;

/// Whether nothing was allocated or freed behind the moment: who holds what was written at the end.
fn is_at_end(case: &Case<'_>) -> bool {
    let events = &case.recording.events;
    let changes = [Action::Alloc, Action::FreeRequested, Action::FreeCompleted];
    let later = events.indices().skip(case.moment.index());
    later.map(|event| events.action(event)).all(|action| !changes.contains(&action))
}

/// Name the variable that holds more than half of what a verdict is about. Less is not what it is about.
pub(super) fn name_holder(verdict: &mut Finding, case: &Case<'_>) {
    let (recording, about) = (case.recording, &verdict.evidence.about);
    let census = &recording.snapshot().census;
    if census.tensors().is_empty() || !is_at_end(case) {
        return;
    }
    let size = |id: AllocId| recording.size(id);
    let all = about.iter().map(|&id| size(id)).sum::<Bytes>();
    let mut held: BTreeMap<CensusIx, (Bytes, usize)> = BTreeMap::new();
    for &id in about {
        let holder = named_tensors(recording, id).iter().find_map(|tensor| tensor.holder);
        if let Some(holder) = holder {
            let (bytes, blocks) = held.entry(holder).or_default();
            *bytes += size(id);
            *blocks += 1;
        }
    }
    let Some((holder, (bytes, blocks))) = held.into_iter().max_by_key(|(_, (bytes, _))| *bytes) else {
        return;
    };
    if bytes * 2 <= all {
        return;
    }
    let said = say!(
        "{} holds {} of {}, {}.",
        name(holder_text(census, census.holder(holder))),
        figure::bytes(bytes).of(all),
        figure::bytes(all),
        figure::counted(blocks, "block")
    );
    match verdict.why.take() {
        Some(why) => verdict.because(say!("{} {}", why, said)),
        None => verdict.because(said),
    }
}
