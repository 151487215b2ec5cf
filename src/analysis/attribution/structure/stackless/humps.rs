//! Forward and backward passes in a recording without stacks: activations pile up, and are given back
//! while gradients are made.

use super::tape::{Mark, NEVER, Tape};
use super::window::{Span, Window};
use foldhash::HashSet;

/// More that stays than usual is a pass that is not over.
const MIN_KEPT: usize = 4;

/// A backward makes at least so many blocks as large as parameters.
const MIN_GRADIENTS: usize = 3;

/// More of them for each parameter are several passes that were taken for one.
const MAX_GRADIENTS: usize = 3;

/// What a backward gives back last may lie so many events apart.
const LAST_GAP_EVENTS: u32 = 24;

/// Data are made within so many events before the forward pass.
const DATA_EVENTS: usize = 8;

/// A result as small as this is a loss, or its gradient.
pub(super) const SCALAR_BYTES: i64 = 8;

/// A forward pass and its backward.
#[derive(Debug, Clone, Default)]
pub(super) struct Hump {
    /// Where its data begin; the same as `forward` where none are seen.
    pub(super) data: u32,
    /// The first event of the forward pass.
    pub(super) forward: u32,
    /// The first event of the backward.
    pub(super) backward: u32,
    /// The first event after it.
    pub(super) end: u32,
    /// Whether it is over when the recording ends.
    pub(super) is_over: bool,
    /// How many activations were there for the backward.
    held: usize,
    /// How much of what it made in the forward pass stays until the end.
    kept: usize,
    /// Whether gradients were made while it went down.
    pub(super) trains: bool,
    /// How many blocks as large as parameters its backward made.
    gradients: usize,
    /// Sizes of its data.
    pub(super) data_sizes: Vec<i64>,
    /// Where the program gives back the gradients that it left, if it left any: the median.
    pub(super) gradients_gone: Option<u32>,
}

/// The passes, in order; `None` if they cannot be told apart. Only the last may be under way.
pub(super) fn humps(tape: &Tape<'_>, windows: &[Window]) -> Option<Vec<Hump>> {
    let mut out: Vec<Hump> = Vec::new();
    let (mut floor, mut kept) = (0, 0);
    let mut trained: Option<usize> = None;
    let spans: Vec<(Span, bool)> = windows.iter().flat_map(|window| window.spans(tape)).collect();
    for (at, &(span, leads_to_step)) in spans.iter().enumerate() {
        let is_last = at + 1 == spans.len() && !leads_to_step;
        let before = Before { end: floor, kept, last: trained.and_then(|at| out.get(at)), is_last };
        // Nothing is looked at twice, however many there are that are no passes.
        floor = span.down;
        let Some(mut hump) = hump(tape, span, &before) else { continue };
        floor = floor.max(hump.end);
        kept = kept.max(hump.kept);
        // Several passes that were taken for one.
        if tape.parameter_count().saturating_mul(MAX_GRADIENTS) < hump.gradients {
            return None;
        }
        hump.trains |= leads_to_step;
        if hump.trains {
            trained = Some(out.len());
        }
        out.push(hump);
    }
    Some(out)
}

/// Whether an allocation counts as an activation of a complete pass.
pub(super) fn is_passing(tape: &Tape<'_>, id: u32) -> bool {
    tape.death(id) != NEVER && !tape.is_like_parameter(id) && SCALAR_BYTES < tape.size(id)
}

/// What is known of the passes before.
struct Before<'h> {
    /// Where the last one ended, or what looked like one.
    end: u32,
    /// How much each kept at most.
    kept: usize,
    /// The last one that trained.
    last: Option<&'h Hump>,
    /// Whether none comes after.
    is_last: bool,
}

impl Before<'_> {
    /// How much a pass kept, as far before its highest point as the last one began.
    fn kept(&self, tape: &Tape<'_>, span: Span) -> usize {
        let length = self.last.map_or(0, |last| last.backward.saturating_sub(last.data));
        let from = span.peak.saturating_sub(length.saturating_add(length / 4)).max(self.end);
        (from..span.peak).filter(|&event| is_kept(tape, event)).count()
    }

    /// Whether a pass holds about as many activations as the last one.
    fn is_like(&self, held: usize) -> bool {
        self.last.is_some_and(|last| last.held.abs_diff(held) <= last.held / 4)
    }
}

/// `None` if it is no pass.
fn hump(tape: &Tape<'_>, span: Span, before: &Before<'_>) -> Option<Hump> {
    let floor = before.end;
    let kept = before.kept(tape, span);
    let is_over = !before.is_last || kept < MIN_KEPT || kept <= 2 * before.kept;
    let fallen = end_of_fall(tape, span, floor);
    let loss = gradient_of_loss(tape, span, fallen, floor, is_over);
    let (backward, end) = match loss {
        Some(id) => (tape.birth(id).saturating_add(1), tape.death(id).min(tape.len())),
        None => (span.peak, fallen),
    };
    let end = if is_over { end } else { tape.len() };
    let (mut live, mut gradients) = (Vec::new(), Vec::new());
    for event in floor..end {
        let Mark::Birth(id) = tape.at(event) else { continue };
        if tape.is_like_parameter(id) && backward <= event {
            gradients.push(id);
        } else if event < backward && (!is_over || is_passing(tape, id)) && backward <= tape.death(id) {
            live.push(id);
        }
    }
    let live = without_stragglers(tape, &live);
    let is_data = |&&id: &&u32| end <= tape.death(id) && SCALAR_BYTES < tape.size(id);
    let data = if is_over { live.iter().take_while(is_data).count() } else { 0 };
    let forward = tape.birth(*live.get(data)?);
    let data = data_before(tape, live.first().map_or(forward, |&id| tape.birth(id)), before, end);
    let births = (data..forward).filter_map(|event| match tape.at(event) {
        Mark::Birth(id) => Some(tape.size(id)),
        _ => None,
    });
    Some(Hump {
        data,
        forward,
        backward,
        end,
        is_over,
        held: live.len(),
        kept,
        // One that is under way is only known by those before.
        trains: loss.is_some()
            && (is_over || before.is_like(live.len()))
            && are_gradients(tape, &gradients, data, backward),
        data_sizes: births.collect(),
        gradients: gradients.len(),
        gradients_gone: gradients_gone(tape, &gradients, end),
    })
}

/// Whether an event makes an activation that stays until the end.
fn is_kept(tape: &Tape<'_>, event: u32) -> bool {
    match tape.at(event) {
        Mark::Birth(id) => {
            tape.death(id) == NEVER && SCALAR_BYTES < tape.size(id) && !tape.is_like_parameter(id)
        }
        _ => false,
    }
}

/// The gradient of the loss is a scalar that is there from before the first event of the backward until
/// after the last.
fn gradient_of_loss(tape: &Tape<'_>, span: Span, fallen: u32, floor: u32, is_over: bool) -> Option<u32> {
    let length = fallen.saturating_sub(span.peak);
    let ends = span.down..=fallen.saturating_add(length.max(LAST_GAP_EVENTS));
    let is_end = |death| if is_over { ends.contains(&death) } else { death == NEVER };
    (floor..=span.peak.saturating_add(length / 4 + 2)).rev().find_map(|event| match tape.at(event) {
        Mark::Birth(id) if tape.size(id) <= SCALAR_BYTES && is_end(tape.death(id)) => Some(id),
        _ => None,
    })
}

/// Where the data begin that a pass lives on; they may be as large as a parameter.
fn data_before(tape: &Tape<'_>, first: u32, before: &Before<'_>, end: u32) -> u32 {
    let mut data = first;
    for event in (before.end..first).rev().take(DATA_EVENTS) {
        if let Mark::Birth(id) = tape.at(event) {
            let is_known = before.last.is_some_and(|last| last.data_sizes.contains(&tape.size(id)));
            let death = tape.death(id);
            if death < end || (death == NEVER && !is_known) {
                break;
            }
            data = event;
        }
    }
    data
}

/// Leaves out what was made long before the rest: results of something else.
fn without_stragglers<'v>(tape: &Tape<'_>, live: &'v [u32]) -> &'v [u32] {
    let gap = |at: usize| match (live.get(at), live.get(at + 1)) {
        (Some(&a), Some(&b)) => tape.birth(b).saturating_sub(tape.birth(a)),
        _ => 0,
    };
    let half = live.len() / 2;
    let usual = (half..live.len()).map(gap).max().unwrap_or(0).max(LAST_GAP_EVENTS);
    let from = (0..half).rev().find(|&at| usual.saturating_mul(2) < gap(at)).map_or(0, |at| at + 1);
    live.get(from..).unwrap_or_default()
}

/// The event after the last one of the backward: what is left after the fall goes soon.
fn end_of_fall(tape: &Tape<'_>, span: Span, floor: u32) -> u32 {
    let mut last = span.down;
    let mut event = span.down.saturating_add(1);
    let longest = span.down.saturating_sub(span.peak).saturating_mul(2).max(LAST_GAP_EVENTS);
    let limit = tape.len().min(span.down.saturating_add(longest));
    while event < limit && event.saturating_sub(last) <= LAST_GAP_EVENTS {
        if let Mark::Death(id) = tape.at(event)
            && is_passing(tape, id)
            && (floor..last).contains(&tape.birth(id))
        {
            last = event;
        }
        event += 1;
    }
    last.saturating_add(1)
}

/// Whether what a backward made are the gradients of most parameters: blocks as large as they are, which
/// the forward pass does not make in such numbers.
fn are_gradients(tape: &Tape<'_>, gradients: &[u32], from: u32, backward: u32) -> bool {
    let sizes: HashSet<i64> = gradients.iter().map(|&id| tape.size(id)).collect();
    let is_like = |&event: &u32| matches!(tape.at(event), Mark::Birth(id) if tape.is_like_parameter(id));
    let in_forward = (from..backward).filter(is_like).count();
    MIN_GRADIENTS.max(in_forward + 1) <= gradients.len() && tape.parameter_sizes() <= 2 * sizes.len()
}

fn gradients_gone(tape: &Tape<'_>, gradients: &[u32], end: u32) -> Option<u32> {
    let mut gone: Vec<u32> =
        gradients.iter().map(|&id| tape.death(id)).filter(|&death| end <= death).collect();
    if gone.len() < MIN_GRADIENTS {
        return None;
    }
    gone.sort_unstable();
    gone.get(gone.len() / 2).copied().filter(|&median| median != NEVER)
}
