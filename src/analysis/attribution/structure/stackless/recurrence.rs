//! What recurs in a recording in which torch announced no step: activations that pile up and
//! are given back while gradients are made; gradients that are dropped; the sizes of the data.

use super::humps::{Hump, humps};
use super::tape::{Mark, Tape};
use super::valley::Writer;
use super::window::Window;
use super::{Found, Phase};
use crate::model::{EventIx, Timeline};

/// So many temporaries as large as parameters are an optimizer's work.
const MIN_TEMPORARIES: usize = 3;

/// Find what recurs; `None` where nothing does.
pub(super) fn find(timeline: &Timeline) -> Option<Found> {
    let tape = Tape::of(timeline);
    if tape.parameter_count() == 0 {
        return None;
    }
    let humps = humps(&tape, &[Window::all(&tape)])?;
    let first = humps.iter().position(|hump| hump.trains)?;
    let mut writer = Writer::new(&tape, humps.iter().all(|hump| hump.trains));
    let is_from_start = timeline.lifetimes.initial_count() == 0 && first == 0;
    writer.before(humps.first()?.data, is_from_start);
    let mut last = None;
    for (at, hump) in humps.iter().enumerate() {
        let next = humps.get(at + 1).map(|next| next.data);
        last = writer.pass(hump, next.unwrap_or(tape.len()), 0);
    }
    let steps = steps(&tape, &humps);
    let is_seen = steps.is_some() && humps.iter().rev().skip(1).all(|hump| hump.trains);
    let steps = steps.unwrap_or_else(|| humps.iter().map(|hump| hump.trains).collect());
    let is_counted = is_seen && are_steps_alike(&tape, &humps, &steps);
    let mut starts = starts(&humps, &steps);
    let mut unsure_from = last.as_ref().map(|tail| tail.start);
    let over = humps.iter().zip(&steps).filter(|(hump, _)| hump.trains && hump.is_over);
    let trained: Vec<bool> = over.map(|(_, &steps)| steps).collect();
    // The gradients of the last pass may not be dropped yet.
    let is_regular = 1 < trained.len() && trained.iter().rev().skip(1).all(|&steps| steps);
    if let Some(tail) = last.filter(|_| is_regular) {
        match tail.phase {
            Phase::Forward | Phase::Backward => {
                starts.push(EventIx(tail.start));
                unsure_from = None;
            }
            Phase::Eval => unsure_from = None,
            _ => {}
        }
    }
    Some(Found { phases: writer.phases, starts, is_counted, unsure_from })
}

/// After which passes an optimizer stepped; `None` if that is never seen.
fn steps(tape: &Tape<'_>, humps: &[Hump]) -> Option<Vec<bool>> {
    let mut steps = vec![false; humps.len()];
    let trained: Vec<usize> =
        humps.iter().enumerate().filter(|(_, hump)| hump.trains).map(|(at, _)| at).collect();
    for hump in humps.iter().filter(|hump| hump.trains) {
        let Some(gone) = hump.gradients_gone else { continue };
        let after = trained.partition_point(|&at| humps.get(at).is_some_and(|hump| hump.backward < gone));
        let last = after.checked_sub(1).and_then(|last| trained.get(last));
        if let Some(step) = last.and_then(|&last| steps.get_mut(last)) {
            *step = true;
        }
    }
    if steps.contains(&true) {
        return Some(steps);
    }
    // Gradients that are set to zero stay; an optimizer's temporaries tell as well.
    let works = |at: usize, hump: &Hump| {
        let end = humps.get(at + 1).map_or(tape.len(), |next| next.data);
        let is_like = |&event: &u32| matches!(tape.at(event), Mark::Birth(id) if tape.is_like_parameter(id));
        hump.trains && (hump.end..end).filter(is_like).take(MIN_TEMPORARIES).count() == MIN_TEMPORARIES
    };
    let works: Vec<bool> = humps.iter().enumerate().map(|(at, hump)| works(at, hump)).collect();
    works.contains(&true).then_some(works)
}

/// Whether about as many blocks as large as parameters are made after each pass that an optimizer
/// stepped after. Where parameters are perturbed for a second backward, only every other one is a step.
fn are_steps_alike(tape: &Tape<'_>, humps: &[Hump], steps: &[bool]) -> bool {
    let works: Vec<usize> = humps
        .iter()
        .zip(humps.iter().skip(1).map(|next| next.data))
        .zip(steps)
        .filter(|&(_, &steps)| steps)
        .map(|((hump, next), _)| {
            let is_like =
                |&event: &u32| matches!(tape.at(event), Mark::Birth(id) if tape.is_like_parameter(id));
            (hump.end..next).filter(is_like).count()
        })
        .skip(1)
        .collect();
    let (least, most) = (works.iter().min().copied().unwrap_or(0), works.iter().max().copied().unwrap_or(0));
    most <= least.saturating_mul(2).saturating_add(MIN_TEMPORARIES)
}

fn starts(humps: &[Hump], steps: &[bool]) -> Vec<EventIx> {
    let mut out = Vec::new();
    let mut is_over = true;
    for (hump, &steps) in humps.iter().zip(steps).filter(|(hump, _)| hump.trains && hump.is_over) {
        if is_over {
            out.push(EventIx(hump.data));
        }
        is_over = steps;
    }
    out
}
