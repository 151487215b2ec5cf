//! Forward and backward passes in a recording without stacks: activations pile up, and are given back
//! while gradients are made.

use super::tape::{Mark, NEVER, Tape};

/// Passes that hold fewer activations at a time look like anything.
const MIN_HEIGHT: u32 = 12;

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
    /// How much of what it made in the forward pass stays until the end.
    kept: usize,
    /// Whether gradients were made while it went down.
    pub(super) trains: bool,
    /// Sizes of its data.
    pub(super) data_sizes: Vec<i64>,
    /// Where the program gives back the gradients that it left, if it left any: the median.
    pub(super) gradients_gone: Option<u32>,
}

/// Where activations rise and fall.
#[derive(Clone, Copy)]
struct Span {
    peak: u32,
    down: u32,
    height: u32,
}

/// The passes that are complete, in order; `None` if one of them cannot be understood.
pub(super) fn humps(tape: &Tape<'_>) -> Option<Vec<Hump>> {
    let mut out: Vec<Hump> = Vec::new();
    for span in spans(tape) {
        let floor = out.last().map_or(0, |last| last.end);
        let usual_kept = out.iter().map(|hump| hump.kept).max().unwrap_or(0);
        out.push(hump(tape, span, floor, usual_kept)?);
    }
    Some(out)
}

/// Whether an allocation counts as an activation of a complete pass.
fn is_passing(tape: &Tape<'_>, id: u32) -> bool {
    tape.death(id) != NEVER && !tape.is_like_parameter(id)
}

/// Calls back with how many activations are live after each of their births and deaths.
fn count(tape: &Tape<'_>, mut visit: impl FnMut(u32, u32)) {
    let mut live = 0u32;
    for event in 0..tape.len() {
        match tape.at(event) {
            Mark::Birth(id) if is_passing(tape, id) => live = live.saturating_add(1),
            Mark::Death(id) if is_passing(tape, id) => live = live.saturating_sub(1),
            _ => continue,
        }
        visit(event, live);
    }
}

fn spans(tape: &Tape<'_>) -> Vec<Span> {
    let mut most = 0;
    count(tape, |_, live| most = most.max(live));
    let mut out = Vec::new();
    if most < MIN_HEIGHT {
        return out;
    }
    let (low, high) = (most / 3, most / 2);
    let mut span = Span { peak: 0, down: 0, height: 0 };
    count(tape, |event, live| {
        if span.height < live {
            (span.peak, span.height) = (event, live);
        }
        if live <= low {
            if high <= span.height {
                out.push(Span { down: event, ..span });
            }
            span = Span { peak: event, down: event, height: live };
        }
    });
    out
}

/// `None` if it makes no sense as one pass.
fn hump(tape: &Tape<'_>, span: Span, floor: u32, usual_kept: usize) -> Option<Hump> {
    let kept = (floor..span.peak).filter(|&event| is_kept(tape, event)).count();
    let is_over = kept < MIN_KEPT || kept <= 2 * usual_kept;
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
    let data = data_before(tape, live.first().map_or(forward, |&id| tape.birth(id)), floor, end);
    let births = (data..forward).filter_map(|event| match tape.at(event) {
        Mark::Birth(id) => Some(tape.size(id)),
        _ => None,
    });
    let is_one = gradients.len() <= tape.parameter_count().saturating_mul(MAX_GRADIENTS);
    is_one.then(|| Hump {
        data,
        forward,
        backward,
        end,
        is_over,
        kept,
        trains: MIN_GRADIENTS.max(span.height as usize / 10) <= gradients.len(),
        data_sizes: births.collect(),
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
    let ends = span.down..=fallen.saturating_add(LAST_GAP_EVENTS);
    let is_end = |death| if is_over { ends.contains(&death) } else { death == NEVER };
    (floor..=span.peak.saturating_add(2)).rev().find_map(|event| match tape.at(event) {
        Mark::Birth(id) if tape.size(id) <= SCALAR_BYTES && is_end(tape.death(id)) => Some(id),
        _ => None,
    })
}

/// Where the data begin that a pass lives on; they may be as large as a parameter.
fn data_before(tape: &Tape<'_>, first: u32, floor: u32, end: u32) -> u32 {
    let mut data = first;
    for event in (floor..first).rev().take(DATA_EVENTS) {
        if let Mark::Birth(id) = tape.at(event) {
            let death = tape.death(id);
            if death == NEVER || death < end {
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
    while event < tape.len() && event.saturating_sub(last) <= LAST_GAP_EVENTS {
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

fn gradients_gone(tape: &Tape<'_>, gradients: &[u32], end: u32) -> Option<u32> {
    let mut gone: Vec<u32> =
        gradients.iter().map(|&id| tape.death(id)).filter(|&death| end <= death).collect();
    if gone.len() < MIN_GRADIENTS {
        return None;
    }
    gone.sort_unstable();
    gone.get(gone.len() / 2).copied().filter(|&median| median != NEVER)
}
