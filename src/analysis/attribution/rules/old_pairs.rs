//! Blocks from before the recording: parameters, gradients and state, by size and address, and by the
//! optimizer that steps.

use super::by_layout;
use super::gradient_sizes::{Sizes, gradients};
use super::old_gone;
use super::old_unpaired::Unpaired;
use super::{Blocks, Category, Claims, RuleId, Verdict, View};
use crate::analysis::attribution::facts::Act;
use crate::analysis::attribution::knowledge::Optimizer;
use crate::analysis::segments::address_order::AddressKey;
use crate::model::allocator_sizes::SMALL_SIZE;
use crate::model::{AllocId, Anchor};
use std::collections::BTreeMap;

/// Sizes below this share of all bytes do not speak against a pattern.
const NEGLIGIBLE: i64 = 200;

/// More blocks for each parameter, of an optimizer that is not known, are something else, too.
const MOST_ROUNDS: usize = 4;

/// Old blocks by size, older addresses first.
pub(super) type BySize = BTreeMap<i64, Vec<AllocId>>;

/// How many blocks of one size are what, in address order: parameters come first, as they were there
/// first. The rest is state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Shares {
    parameters: usize,
    buckets: usize,
    gradients: usize,
}

/// Settle what is older than the recording.
pub(super) fn settle(view: &View<'_>, old: &[AllocId], claims: &mut Claims) {
    if old.is_empty() {
        return;
    }
    let (stays, goes): (Vec<AllocId>, Vec<AllocId>) =
        old.iter().partition(|&&id| view.timeline.lifetimes.end(id).is_none());
    let mut by_size = BySize::new();
    for &id in &stays {
        by_size.entry(view.size(id)).or_default().push(id);
    }
    for ids in by_size.values_mut() {
        ids.sort_by_key(|&id| view.address_key(id));
    }
    let seen = Seen::of(view, claims, &by_size);
    let is_bare = seen.trained.is_empty() && seen.passing.is_empty() && !seen.uses_ddp;
    // Where stacks show a model at work that was not trained, all that is old is the model.
    let is_quiet = view.flow.acts.runs.is_empty();
    if is_bare && is_quiet && view.timeline.anchor == Anchor::EndState {
        by_layout::settle(view, &stays, claims);
        old_gone::settle(view, &goes, &seen.trained, claims);
        return;
    }
    let mut unpaired = Unpaired::new(view, seen.copies.map_or(1, |copies| copies + 1));
    for (&size, ids) in &by_size {
        match seen.shares(size, ids.len()) {
            Some(shares) => {
                if view.order.is_shown() || shares.parameters == ids.len() {
                    settle_size(size, ids, shares, claims);
                }
                unpaired.paired(ids.get(..shares.parameters).unwrap_or_default());
            }
            None if seen.trained.contains_key(&size) => {}
            None => unpaired.add(ids),
        }
    }
    unpaired.settle(claims);
    old_gone::settle(view, &goes, &seen.trained, claims);
}

fn settle_size(size: i64, ids: &[AllocId], shares: Shares, claims: &mut Claims) {
    let blocks = Blocks { alike: ids.len(), known: shares.parameters, known_as: Category::Parameter };
    let buckets = shares.parameters + shares.buckets;
    let gradients = buckets + shares.gradients;
    // Of old gradients and old state of one size nothing shows which is which.
    let is_clear = shares.gradients == 0 || ids.len() <= gradients;
    for (at, &id) in ids.iter().enumerate().take(if is_clear { ids.len() } else { buckets }) {
        let category = match at {
            _ if at < shares.parameters => Category::Parameter,
            _ if at < buckets => Category::Comm,
            _ if at < gradients => Category::Gradient,
            _ => Category::OptimizerState,
        };
        claims.claim_of(id, Verdict::new(category, RuleId::OldPairs), size, blocks);
    }
}

/// What the recorded part shows of the training that was under way.
#[expect(clippy::struct_excessive_bools, reason = "each was seen or was not")]
struct Seen {
    /// Gradients that stay after a backward.
    trained: Sizes,
    /// Where none do though there are backwards: what they make for a moment. Gradients that are
    /// set to zero rather than dropped are as old as the rest.
    passing: Sizes,
    /// State that was set up within the recording.
    new_state: Sizes,
    /// Tensors of state for each parameter, where the optimizer is known.
    copies: Option<usize>,
    /// Most of what stays after a backward has no parameter of its size: gradients are parts of
    /// larger blocks, or sparse.
    is_flat: bool,
    /// Each parameter has its step within the backward, and its gradient is gone before the next.
    steps_within_backward: bool,
    /// Without any backward: what all sizes that matter say.
    guessed: usize,
    /// Of four blocks for each gradient, one is a third tensor of state rather than of another model.
    keeps_maximum: bool,
    uses_ddp: bool,
}

impl Seen {
    fn of(view: &View<'_>, claims: &Claims, by_size: &BySize) -> Self {
        let trained = gradients(view, claims);
        let copies = view.places.optimizers.iter().filter_map(|optimizer| match optimizer {
            Optimizer::Copies(copies) => Some(*copies),
            _ => None,
        });
        let of = |category: Category, stays: bool| {
            let mut out = Sizes::default();
            for id in view.ids().skip(view.timeline.lifetimes.initial_count()) {
                let is_it = claims.is(id, category);
                if is_it && (!stays || view.gone(id).is_none()) {
                    *out.entry(view.size(id)).or_default() += 1;
                }
            }
            out
        };
        let passing = if trained.is_empty() { of(Category::Gradient, false) } else { Sizes::default() };
        let bytes = |(size, count): (&i64, &usize)| size.saturating_mul(*count as i64);
        let all = trained.iter().map(bytes).fold(0, i64::saturating_add);
        let matched =
            trained.iter().filter(|(size, count)| by_size.get(size).is_some_and(|b| **count <= b.len()));
        let matched = matched.map(bytes).fold(0, i64::saturating_add);
        Self {
            copies: copies.max().or_else(|| beside_gradients(by_size, &passing)),
            new_state: of(Category::OptimizerState, true),
            is_flat: matched < all / 2,
            steps_within_backward: steps_within_backward(view),
            keeps_maximum: !has_copy_first(view, by_size, &trained),
            guessed: if trained.is_empty() && passing.is_empty() && may_train(view) {
                guess(by_size)
            } else {
                1
            },
            uses_ddp: view.places.uses_ddp,
            trained,
            passing,
        }
    }

    /// What so many blocks of one size are; `None` where nothing pairs with them.
    fn shares(&self, size: i64, count: usize) -> Option<Shares> {
        // State that a step makes anew is none of the old blocks.
        let is_renewed = self.new_state.contains_key(&size);
        let copies = if is_renewed { 0 } else { self.copies.unwrap_or(2) };
        let trained = self.trained.get(&size).filter(|&&trained| 0 < trained);
        // Where gradients are parts of larger blocks, one of a parameter's size is a coincidence.
        let is_sure = |trained: usize| !self.is_flat || count == trained.saturating_mul(copies + 1);
        if let Some(&trained) = trained.filter(|&&trained| !self.steps_within_backward && is_sure(trained)) {
            let is_known = self.copies.is_some() || count / trained <= MOST_ROUNDS;
            return is_known.then(|| self.with_gradients(size, count, trained));
        }
        let each = match self.passing.contains_key(&size) {
            // With DistributedDataParallel they are parts of its buckets.
            true if self.uses_ddp => copies + 1,
            true if count.is_multiple_of(copies + 2) => copies + 2,
            _ if (self.is_flat && 1 < copies) || 1 < self.guessed || trained.is_some() => copies + 1,
            _ => return None,
        };
        let parameters = count / each;
        // A bucket may happen to be as large as a parameter.
        let buckets = if self.uses_ddp && 0 < parameters { count % each } else { 0 };
        (count - buckets).is_multiple_of(each).then(|| Shares {
            parameters,
            buckets,
            gradients: if each == copies + 2 { parameters } else { 0 },
        })
    }

    /// With so many gradients of the size: state takes its share, and what is left over is copies of
    /// the model.
    fn with_gradients(&self, size: i64, count: usize, trained: usize) -> Shares {
        let new = self.new_state.get(&size).copied().unwrap_or_default() / trained;
        let rounds = count / trained;
        let state = match self.copies {
            Some(2) | None if rounds == 4 && new == 0 => 2 + usize::from(self.keeps_maximum),
            Some(copies) => copies.saturating_sub(new).min(rounds.saturating_sub(1)),
            None => rounds.saturating_sub(1),
        };
        let left = count.saturating_sub(state.saturating_mul(trained));
        let odd = if self.uses_ddp { left % trained } else { 0 };
        Shares { parameters: (left - odd).min(count), gradients: 0, buckets: odd }
    }
}

/// Tensors of state for each parameter where gradients are set to zero rather than dropped: what is left of all that
/// have some, besides parameter and gradient.
fn beside_gradients(by_size: &BySize, passing: &Sizes) -> Option<usize> {
    let counts = || by_size.iter().filter(|(size, _)| passing.contains_key(size)).map(|(_, ids)| ids.len());
    let each = [4, 3, 2].into_iter().find(|each| counts().all(|count| count.is_multiple_of(*each)));
    each.filter(|_| 0 < counts().count()).map(|each| each - 2)
}

/// Where there are four blocks for each gradient: whether the first half by address is two models, as
/// they are made before any state is. A third tensor of state, as `AMSGrad` keeps, comes with the
/// first two, parameter by parameter.
fn has_copy_first(view: &View<'_>, by_size: &BySize, trained: &Sizes) -> bool {
    let is_four = |(size, ids): &(&i64, &Vec<AllocId>)| {
        // In small segments, order says little.
        SMALL_SIZE < **size && trained.get(size).is_some_and(|&trained| ids.len() == 4 * trained)
    };
    let mut blocks: Vec<(AddressKey, i64)> = Vec::new();
    for (&size, ids) in by_size.iter().filter(is_four) {
        blocks.extend(ids.iter().map(|&id| (view.address_key(id), size)));
    }
    blocks.sort_unstable();
    let mut first = Sizes::default();
    for &(_, size) in blocks.iter().take(blocks.len() / 2) {
        *first.entry(size).or_default() += 1;
    }
    let sizes = by_size.iter().filter(is_four);
    let off: usize =
        sizes.map(|(size, ids)| first.get(size).copied().unwrap_or_default().abs_diff(ids.len() / 2)).sum();
    off <= blocks.len() / 20
}

/// Whether anything speaks for training: a step, or that nothing shows at all what is going on.
fn may_train(view: &View<'_>) -> bool {
    let runs = &view.flow.acts.runs;
    runs.is_empty() || runs.iter().any(|run| run.act == Act::Step)
}

/// Whether most steps are followed by more of the backward.
fn steps_within_backward(view: &View<'_>) -> bool {
    let runs = view.flow.acts.runs.iter().map(|run| run.act).filter(|&act| act != Act::Gradients);
    let (mut steps, mut within, mut before) = (0, 0, Act::Nothing);
    for act in runs {
        steps += u32::from(act == Act::Step && before != Act::Step);
        within += u32::from(act == Act::Backward && before == Act::Step);
        before = act;
    }
    steps / 2 < within
}

/// How many blocks there are for each parameter, where the sizes of all that matters say so: three
/// with the two moments of Adam.
fn guess(by_size: &BySize) -> usize {
    let bytes = |(size, ids): (&i64, &Vec<AllocId>)| size.saturating_mul(ids.len() as i64);
    let total: i64 = by_size.iter().map(bytes).fold(0, i64::saturating_add);
    let matters = |entry: &(&i64, &Vec<AllocId>)| total / NEGLIGIBLE < bytes((entry.0, entry.1));
    let fits = |copies: usize| by_size.iter().filter(matters).all(|(_, ids)| ids.len() % copies == 0);
    if !by_size.is_empty() && fits(3) { 3 } else { 1 }
}
