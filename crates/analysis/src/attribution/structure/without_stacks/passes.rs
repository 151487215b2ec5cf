//! Forward and backward passes in a recording without stacks: activations pile up, and are freed
//! while gradients are made.

use super::lifetimes_by_event::{Change, LifetimesByEvent, NEVER};
use super::window::{ActivationPeak, MIN_BLOCKS_OF_PASS, Window};
use crate::attribution::thresholds::{MIN_AGREEING, NEARBY_EVENTS, SIMILAR_PART};
use foldhash::HashSet;
use oomscope_model::{AllocId, Bytes};

/// Something differs from what is usual if it is more than this many times as much: the blocks that a pass keeps, the distance
/// of an activation from the others, or the time in which the last ones are freed, as against that of the fall.
const UNUSUAL_TIMES: u32 = 2;

/// More gradients than this for each parameter are several passes that were taken for one.
const MAX_GRADIENTS_PER_PARAMETER: usize = 3;

/// At the end of a backward, the last frees of activations lie at most this many events apart.
const MAX_GAP_EVENTS: u32 = 24;

/// The gradient of the loss may be made after the top of the peak, as the backward's first temporaries come on top: later
/// by up to one part in this many of the length of the fall, and by [`LOSS_AFTER_TOP_EVENTS`].
const LOSS_AFTER_TOP_PART: u32 = 4;

/// See [`LOSS_AFTER_TOP_PART`]. Very short falls leave no other margin.
const LOSS_AFTER_TOP_EVENTS: u32 = 2;

/// A forward pass and its backward.
#[derive(Debug, Clone, Default)]
pub(super) struct Pass {
    /// The first event of its data; the same as `forward` where none are seen.
    pub(super) data: u32,
    /// The first event of the forward pass.
    pub(super) forward: u32,
    /// The first event of the backward.
    pub(super) backward: u32,
    /// The first event after it.
    pub(super) end: u32,
    /// Whether it is over when the recording ends.
    pub(super) is_over: bool,
    /// Whether gradients were made while its activations were freed.
    pub(super) trains: bool,
    /// Sizes of its data.
    pub(super) data_sizes: Vec<Bytes>,
    /// The median event at which the program frees the gradients that it left, if it left any.
    pub(super) gradients_freed: Option<u32>,
    /// How many activations were there for the backward.
    activations: usize,
    /// How many blocks of its forward stay to the end of the recording.
    kept: usize,
    /// How many blocks as large as parameters its backward made.
    gradients: usize,
}

/// Find the passes, in order; `None` if they cannot be told apart. Only the last may be under way.
pub(super) fn find_passes(lifetimes: &LifetimesByEvent<'_>, windows: &[Window]) -> Option<Vec<Pass>> {
    let mut out: Vec<Pass> = Vec::new();
    let (mut floor, mut kept) = (0, 0);
    let mut last_trained: Option<usize> = None;
    let peaks: Vec<ActivationPeak> = windows.iter().flat_map(|window| window.peaks(lifetimes)).collect();
    for (at, &peak) in peaks.iter().enumerate() {
        let is_last = at + 1 == peaks.len() && !peak.leads_to_step;
        let last = last_trained.and_then(|at| out.get(at));
        let earlier = EarlierPasses { end: floor, kept, last, is_last };
        // No event is looked at twice, however many peaks there are that are no passes.
        floor = peak.fallen;
        let Some(mut pass) = read_pass(lifetimes, peak, &earlier) else { continue };
        floor = floor.max(pass.end);
        kept = kept.max(pass.kept);
        if lifetimes.parameter_count.saturating_mul(MAX_GRADIENTS_PER_PARAMETER) < pass.gradients {
            return None;
        }
        pass.trains |= peak.leads_to_step;
        if pass.trains {
            last_trained = Some(out.len());
        }
        out.push(pass);
    }
    Some(out)
}

/// The passes before another.
struct EarlierPasses<'p> {
    /// The end of the last one, or of what looked like one.
    end: u32,
    /// How many blocks each kept at most.
    kept: usize,
    /// The last one that trained.
    last: Option<&'p Pass>,
    /// Whether no peak comes after the other pass.
    is_last: bool,
}

impl EarlierPasses<'_> {
    /// How many blocks a pass keeps, counted as far before its top as the last pass began.
    fn count_kept(&self, lifetimes: &LifetimesByEvent<'_>, peak: ActivationPeak) -> usize {
        let length = self.last.map_or(0, |last| last.backward.saturating_sub(last.data));
        let length = length.saturating_add(length / SIMILAR_PART as u32);
        let from = peak.top.saturating_sub(length).max(self.end);
        lifetimes.allocated_in(from, peak.top).filter(|&id| lifetimes.is_kept_activation(id)).count()
    }

    /// Whether a pass with some number of activations holds about as many as the last one.
    fn is_similar(&self, activations: usize) -> bool {
        self.last
            .is_some_and(|last| last.activations.abs_diff(activations) <= last.activations / SIMILAR_PART)
    }
}

/// Read the pass around a peak; `None` if there is none.
fn read_pass(
    lifetimes: &LifetimesByEvent<'_>,
    peak: ActivationPeak,
    earlier: &EarlierPasses<'_>,
) -> Option<Pass> {
    let floor = earlier.end;
    let kept = earlier.count_kept(lifetimes, peak);
    let is_over =
        !earlier.is_last || kept < MIN_BLOCKS_OF_PASS || kept <= UNUSUAL_TIMES as usize * earlier.kept;
    let fallen = end_of_fall(lifetimes, peak, floor);
    let loss = gradient_of_loss(lifetimes, peak, fallen, floor, is_over);
    let (backward, end) = match loss {
        Some(id) => {
            let end = lifetimes.free_event(id).min(lifetimes.event_count());
            (lifetimes.alloc_event(id).saturating_add(1), end)
        }
        None => (peak.top, fallen),
    };
    let end = if is_over { end } else { lifetimes.event_count() };
    let is_parameter_sized = |&id: &AllocId| lifetimes.is_parameter_sized(id);
    let gradients: Vec<AllocId> =
        lifetimes.allocated_in(backward.max(floor), end).filter(is_parameter_sized).collect();
    // Blocks of the forward that are live when the backward begins.
    let is_for_backward = |&id: &AllocId| {
        backward <= lifetimes.free_event(id) && (!is_over || lifetimes.is_freed_activation(id))
    };
    let made: Vec<AllocId> =
        lifetimes.allocated_in(floor, backward.min(end)).filter(is_for_backward).collect();
    let activations = without_stragglers(lifetimes, &made);
    // A batch outlives the backward; activations do not.
    let is_data = |&&id: &&AllocId| end <= lifetimes.free_event(id) && !lifetimes.is_scalar(id);
    let data_count = if is_over { activations.iter().take_while(is_data).count() } else { 0 };
    let forward = lifetimes.alloc_event(*activations.get(data_count)?);
    let first = activations.first().map_or(forward, |&id| lifetimes.alloc_event(id));
    let data = start_of_data(lifetimes, first, earlier, end);
    Some(Pass {
        data,
        forward,
        backward,
        end,
        is_over,
        // A pass that is under way shows itself only by what those before did.
        trains: loss.is_some()
            && (is_over || earlier.is_similar(activations.len()))
            && are_gradients(lifetimes, &gradients, data, backward),
        data_sizes: lifetimes.allocated_in(data, forward).map(|id| lifetimes.size(id)).collect(),
        gradients_freed: median_free(lifetimes, &gradients, end),
        activations: activations.len(),
        kept,
        gradients: gradients.len(),
    })
}

/// The gradient of the loss: a scalar that is live from before the first event of the backward until after the last.
fn gradient_of_loss(
    lifetimes: &LifetimesByEvent<'_>,
    peak: ActivationPeak,
    fallen: u32,
    floor: u32,
    is_over: bool,
) -> Option<AllocId> {
    let length = fallen.saturating_sub(peak.top);
    let ends = peak.fallen..=fallen.saturating_add(length.max(MAX_GAP_EVENTS));
    let is_end = |freed| if is_over { ends.contains(&freed) } else { freed == NEVER };
    let last = peak.top.saturating_add(length / LOSS_AFTER_TOP_PART + LOSS_AFTER_TOP_EVENTS);
    let is_gradient = |&id: &AllocId| lifetimes.is_scalar(id) && is_end(lifetimes.free_event(id));
    (floor..=last).rev().filter_map(|event| lifetimes.allocated_at(event)).find(is_gradient)
}

/// The first event of the data that a pass works on. Data may be as large as a parameter.
fn start_of_data(lifetimes: &LifetimesByEvent<'_>, first: u32, earlier: &EarlierPasses<'_>, end: u32) -> u32 {
    let mut data = first;
    for event in (earlier.end..first).rev().take(NEARBY_EVENTS as usize) {
        if let Some(id) = lifetimes.allocated_at(event) {
            let is_known = earlier.last.is_some_and(|last| last.data_sizes.contains(&lifetimes.size(id)));
            let freed = lifetimes.free_event(id);
            if freed < end || (freed == NEVER && !is_known) {
                break;
            }
            data = event;
        }
    }
    data
}

/// Leave out the first blocks if they were made long before the rest: they are results of something else.
fn without_stragglers<'v>(lifetimes: &LifetimesByEvent<'_>, made: &'v [AllocId]) -> &'v [AllocId] {
    let gap = |at: usize| match (made.get(at), made.get(at + 1)) {
        (Some(&a), Some(&b)) => lifetimes.alloc_event(b).saturating_sub(lifetimes.alloc_event(a)),
        _ => 0,
    };
    let half = made.len() / 2;
    let usual = (half..made.len()).map(gap).max().unwrap_or(0).max(MAX_GAP_EVENTS);
    let is_far = |&at: &usize| usual.saturating_mul(UNUSUAL_TIMES) < gap(at);
    let from = (0..half).rev().find(is_far).map_or(0, |at| at + 1);
    made.get(from..).unwrap_or_default()
}

/// The event after the last one of the backward: what is left after the fall is freed soon.
fn end_of_fall(lifetimes: &LifetimesByEvent<'_>, peak: ActivationPeak, floor: u32) -> u32 {
    let mut last = peak.fallen;
    let mut event = peak.fallen.saturating_add(1);
    let longest = peak.fallen.saturating_sub(peak.top).saturating_mul(UNUSUAL_TIMES).max(MAX_GAP_EVENTS);
    let limit = lifetimes.event_count().min(peak.fallen.saturating_add(longest));
    while event < limit && event.saturating_sub(last) <= MAX_GAP_EVENTS {
        if let Change::Free(id) = lifetimes.change_at(event)
            && lifetimes.is_freed_activation(id)
            && (floor..last).contains(&lifetimes.alloc_event(id))
        {
            last = event;
        }
        event += 1;
    }
    last.saturating_add(1)
}

/// Whether blocks that a backward made are the gradients of most parameters: they have at least half of the sizes of
/// parameters, and the forward pass makes fewer such blocks.
fn are_gradients(lifetimes: &LifetimesByEvent<'_>, gradients: &[AllocId], from: u32, backward: u32) -> bool {
    let sizes: HashSet<Bytes> = gradients.iter().map(|&id| lifetimes.size(id)).collect();
    let in_forward =
        lifetimes.allocated_in(from, backward).filter(|&id| lifetimes.is_parameter_sized(id)).count();
    let are_many = MIN_AGREEING.max(in_forward + 1) <= gradients.len();
    are_many && lifetimes.parameter_size_count <= 2 * sizes.len()
}

/// The median event at which gradients are freed after the backward; `None` if few are, or most stay.
fn median_free(lifetimes: &LifetimesByEvent<'_>, gradients: &[AllocId], end: u32) -> Option<u32> {
    let mut freed: Vec<u32> =
        gradients.iter().map(|&id| lifetimes.free_event(id)).filter(|&freed| end <= freed).collect();
    if freed.len() < MIN_AGREEING {
        return None;
    }
    freed.sort_unstable();
    freed.get(freed.len() / 2).copied().filter(|&median| median != NEVER)
}
