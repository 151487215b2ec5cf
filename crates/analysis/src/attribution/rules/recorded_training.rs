//! The training that was under way when the recording began, as far as the recorded part shows it: how many blocks of each
//! size it keeps for a parameter.

use super::gradient_sizes::lasting_gradients;
use super::parameter_sweeps::swept_parameters;
use crate::attribution::Category;
use crate::attribution::claims::Claims;
use crate::attribution::facts::Activity;
use crate::attribution::knowledge::Optimizer;
use crate::attribution::thresholds::{ADAM_BLOCKS, NEGLIGIBLE_PART, OUTSIDE_PART};
use crate::attribution::view::{BlocksBySize, CountBySize, View};
use crate::segments::address_order::AddressKey;
use oomscope_model::allocator_sizes::SMALL_SIZE;
use oomscope_model::{AllocId, Bytes};

/// The purposes of the blocks of one size, in the order of their addresses. Parameters come first, as they were made first;
/// what is left after the gradients is state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct SizeSplit {
    pub(super) parameters: usize,
    pub(super) buckets: usize,
    pub(super) gradients: usize,
}

/// The training that the recorded part shows.
pub(super) struct RecordedTraining<'a> {
    view: &'a View<'a>,
    /// Gradients that stay after a backward.
    pub(super) gradients: CountBySize,
    /// Parameters by size: as many as gradients, or, where nothing computes any, as the program's own lines go through.
    parameters: CountBySize,
    /// Gradients that do not stay, where none does though there are backwards. Those that are set to zero rather than
    /// dropped are as old as the rest.
    passing_gradients: CountBySize,
    /// State that was set up within the recording.
    new_state: CountBySize,
    /// Tensors of state for each parameter, where the optimizer is known.
    states: Option<usize>,
    /// Most of what stays after a backward has no parameter of its size: gradients are parts of
    /// larger blocks, or sparse.
    is_flat: bool,
    /// Each parameter has its step within the backward, and its gradient is freed before the next.
    steps_within_backward: bool,
    /// Blocks for each parameter that the sizes suggest where there is no backward at all; 1 if they suggest nothing.
    guessed: usize,
    /// Of four blocks for each gradient, one is a third tensor of state rather than of another model.
    keeps_maximum: bool,
}

impl<'a> RecordedTraining<'a> {
    pub(super) fn of(view: &'a View<'a>, claims: &Claims, by_size: &BlocksBySize) -> Self {
        let gradients = lasting_gradients(view, claims);
        let parameters =
            if gradients.is_empty() { swept_parameters(view, by_size) } else { gradients.clone() };
        let new = || view.new_ids().map(|(id, _)| id);
        let passing_gradients = if gradients.is_empty() {
            view.count_by_size(new().filter(|&id| claims.is(id, Category::Gradient)))
        } else {
            CountBySize::default()
        };
        let is_new_state =
            |&id: &AllocId| claims.is(id, Category::OptimizerState) && view.free_event(id).is_none();
        let known_states = view.stacks.optimizers.iter().filter_map(|optimizer| match optimizer {
            Optimizer::StatesPerParameter(states) => Some(*states),
            _ => None,
        });
        let states = known_states.max().or_else(|| states_beside_gradients(by_size, &passing_gradients));
        let shows_gradients = !gradients.is_empty() || !passing_gradients.is_empty();
        Self {
            view,
            new_state: view.count_by_size(new().filter(is_new_state)),
            states,
            is_flat: are_gradients_flat(&gradients, by_size),
            steps_within_backward: steps_within_backward(view),
            keeps_maximum: !has_copy_first(view, by_size, &gradients),
            guessed: if !shows_gradients && may_train(view) { guess_blocks(by_size) } else { 1 },
            gradients,
            parameters,
            passing_gradients,
        }
    }

    /// Whether nothing shows any gradients.
    pub(super) fn shows_no_gradients(&self) -> bool {
        self.gradients.is_empty() && self.passing_gradients.is_empty() && !self.view.stacks.uses_ddp
    }

    /// Blocks for each parameter that is trained: itself and its state; 1 where the optimizer is not known.
    pub(super) fn blocks_with_state(&self) -> usize {
        self.states.map_or(1, |states| states + 1)
    }

    /// Whether addresses show which blocks are the parameters. What functions of the program's own initialise leaves room in
    /// between, which state fills.
    pub(super) fn are_parameters_first(&self) -> bool {
        let are_swept = self.gradients.is_empty() && !self.parameters.is_empty();
        self.view.order.is_shown() && (!are_swept || self.view.stacks.call_modules())
    }

    /// Split `count` blocks of one size into purposes; `None` where nothing pairs with them.
    pub(super) fn split(&self, size: Bytes, count: usize) -> Option<SizeSplit> {
        // State that a step makes anew is none of the old blocks.
        let is_made_anew = self.new_state.contains_key(&size);
        // Where the optimizer does not show, it is one of the usual ones: Adam and its like.
        let states = if is_made_anew { 0 } else { self.states.unwrap_or(ADAM_BLOCKS - 2) };
        let gradients = self.parameters.get(&size).copied().filter(|&gradients| 0 < gradients);
        // Where gradients are parts of larger blocks, one of a parameter's size is a coincidence.
        let is_sure = |gradients: usize| !self.is_flat || count == gradients.saturating_mul(states + 1);
        if let Some(gradients) = gradients.filter(|&g| !self.steps_within_backward && is_sure(g)) {
            let is_known = self.states.is_some() || count / gradients <= ADAM_BLOCKS;
            return is_known.then(|| self.split_by_gradients(size, count, gradients));
        }
        let each = match self.passing_gradients.contains_key(&size) {
            // With DistributedDataParallel the gradients are parts of its buckets.
            true if self.view.stacks.uses_ddp => states + 1,
            true if count.is_multiple_of(states + 2) => states + 2,
            _ if (self.is_flat && 1 < states) || 1 < self.guessed || gradients.is_some() => states + 1,
            _ => return None,
        };
        let parameters = count / each;
        // A bucket may happen to be as large as a parameter.
        let buckets = if self.view.stacks.uses_ddp && 0 < parameters { count % each } else { 0 };
        (count - buckets).is_multiple_of(each).then(|| SizeSplit {
            parameters,
            buckets,
            gradients: if each == states + 2 { parameters } else { 0 },
        })
    }

    /// Split the blocks of a size with gradients: state takes its share, and the rest is copies of the model.
    fn split_by_gradients(&self, size: Bytes, count: usize, gradients: usize) -> SizeSplit {
        let new = self.new_state.get(&size).copied().unwrap_or_default() / gradients;
        let each = count / gradients;
        let states = match self.states {
            // Four for each gradient are two models with two states, or one with three.
            Some(2) | None if each == 4 && new == 0 => 2 + usize::from(self.keeps_maximum),
            Some(states) => states.saturating_sub(new).min(each.saturating_sub(1)),
            None => each.saturating_sub(1),
        };
        let left = count.saturating_sub(states.saturating_mul(gradients));
        let buckets = if self.view.stacks.uses_ddp { left % gradients } else { 0 };
        SizeSplit { parameters: (left - buckets).min(count), gradients: 0, buckets }
    }
}

/// Whether most bytes of gradients have no parameters of their size, or fewer than gradients.
fn are_gradients_flat(gradients: &CountBySize, by_size: &BlocksBySize) -> bool {
    let bytes = |(size, count): (&Bytes, &usize)| *size * (*count as i64);
    let is_matched =
        |(size, count): &(&Bytes, &usize)| by_size.get(size).is_some_and(|ids| **count <= ids.len());
    let all = gradients.iter().map(bytes).sum::<Bytes>();
    let matched = gradients.iter().filter(is_matched).map(bytes).sum::<Bytes>();
    matched < all / 2
}

/// Tensors of state for each parameter where gradients are set to zero rather than dropped: the blocks of all sizes that
/// have gradients, less parameter and gradient.
fn states_beside_gradients(by_size: &BlocksBySize, gradients: &CountBySize) -> Option<usize> {
    let counts = || by_size.iter().filter(|(size, _)| gradients.contains_key(size)).map(|(_, ids)| ids.len());
    let each = [4, 3, 2].into_iter().find(|each| counts().all(|count| count.is_multiple_of(*each)));
    each.filter(|_| 0 < counts().count()).map(|each| each - 2)
}

/// Where there are four blocks for each gradient: whether the first half by address is two models, as
/// they are made before any state is. A third tensor of state, as `AMSGrad` keeps, comes with the
/// first two, parameter by parameter.
fn has_copy_first(view: &View<'_>, by_size: &BlocksBySize, gradients: &CountBySize) -> bool {
    // Small blocks come from segments of their own, where order says little.
    let is_four = |(size, ids): &(&Bytes, &Vec<AllocId>)| {
        SMALL_SIZE < **size && gradients.get(size).is_some_and(|&count| ids.len() == 4 * count)
    };
    let mut blocks: Vec<(AddressKey, Bytes)> = Vec::new();
    for (&size, ids) in by_size.iter().filter(is_four) {
        blocks.extend(ids.iter().map(|&id| (view.address_key(id), size)));
    }
    blocks.sort_unstable();
    let mut first_half = CountBySize::default();
    for &(_, size) in blocks.iter().take(blocks.len() / 2) {
        *first_half.entry(size).or_default() += 1;
    }
    let in_first_half = |size: &Bytes| first_half.get(size).copied().unwrap_or_default();
    let sizes = by_size.iter().filter(is_four);
    let misplaced: usize = sizes.map(|(size, ids)| in_first_half(size).abs_diff(ids.len() / 2)).sum();
    misplaced <= blocks.len() / OUTSIDE_PART as usize
}

/// Whether anything speaks for training: a step, or that nothing shows at all what is going on.
fn may_train(view: &View<'_>) -> bool {
    let runs = &view.device.activities.runs;
    runs.is_empty() || runs.iter().any(|run| run.activity == Activity::Step)
}

/// Whether most steps are followed by more of the backward.
fn steps_within_backward(view: &View<'_>) -> bool {
    let runs = view.device.activities.runs.iter().map(|run| run.activity);
    let (mut steps, mut within, mut before) = (0, 0, Activity::Nothing);
    for activity in runs.filter(|&activity| activity != Activity::Gradients) {
        steps += u32::from(activity == Activity::Step && before != Activity::Step);
        within += u32::from(activity == Activity::Backward && before == Activity::Step);
        before = activity;
    }
    steps / 2 < within
}

/// Guess how many blocks there are for each parameter from the counts of all sizes that matter: three
/// with the two moments of Adam, else 1.
fn guess_blocks(by_size: &BlocksBySize) -> usize {
    let bytes = |(size, ids): (&Bytes, &Vec<AllocId>)| *size * (ids.len() as i64);
    let total: Bytes = by_size.iter().map(bytes).sum();
    let matters = |&(size, ids): &(&Bytes, &Vec<AllocId>)| total / NEGLIGIBLE_PART < bytes((size, ids));
    let come_in = |each: usize| by_size.iter().filter(matters).all(|(_, ids)| ids.len().is_multiple_of(each));
    if !by_size.is_empty() && come_in(3) { 3 } else { 1 }
}
