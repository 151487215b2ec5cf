//! What is under way when a recording ends, after the last step: read beside one of the last rounds.

use super::alignment;
use super::humps::Hump;
use super::rounds::Round;
use super::tape::Tape;
use super::{Phase, PhaseStart};
use crate::model::Timeline;

/// So many rounds are looked at for one that goes like the last.
const MOST_ROUNDS: usize = 4;

/// The phases from an event on, if what is made goes as in one of the last rounds, of which the phases are known.
pub(super) fn phases(
    timeline: &Timeline,
    tape: &Tape<'_>,
    known: &[PhaseStart],
    rounds: &[Round],
    humps: &[Hump],
    begins: u32,
) -> Option<Vec<PhaseStart>> {
    // What follows on a failure is given back because of it.
    let until = timeline.ooms.last().map(|oom| oom.event.0).filter(|&event| begins < event);
    let until = until.unwrap_or(tape.len());
    let births = |from, to| tape.births(from, to).collect::<Vec<u32>>();
    let new = births(begins, until);
    let passes = rounds.iter().rev().filter(|round| round.step_end.is_some() && round.is_pass);
    let like = |round: &Round| {
        let starts = [round.begins, round.trained_from(humps)];
        starts
            .into_iter()
            .flatten()
            .find_map(|from| alignment::follow(tape, known, &new, until, &births(from, round.window.to)))
    };
    let found = passes.clone().take(MOST_ROUNDS).find_map(like)?;
    let has = |phase| found.iter().any(|start| start.phase == phase);
    let may_be_evaluated = has(Phase::Forward) && !has(Phase::Backward);
    let is_told = !may_be_evaluated || !passes.into_iter().any(|round| has_other_graph(tape, round, humps));
    is_told.then_some(found)
}

/// Whether something else is called before the pass, which keeps a graph as well: an evaluation with gradients looks
/// like a training forward.
fn has_other_graph(tape: &Tape<'_>, round: &Round, humps: &[Hump]) -> bool {
    let Some((begins, data)) = round.begins.zip(round.trained_from(humps)) else { return false };
    let births = |from, to| tape.births(from, to).take(alignment::MOST_COMPARED).collect::<Vec<u32>>();
    alignment::are_alike(tape, &births(begins, data), &births(data, round.window.to))
}
