//! Recordings without any stacks, or without any of Python: what stays from before anything is given back is parameters; of
//! what is as large as they are and comes later, gradients and state are told apart by their order.

use super::announced_steps;
use super::gradient_sizes::{Sizes, gradients};
use super::unfinished_step::CutStep;
use super::{Blocks, Category, Claims, RuleId, Verdict, View};
use crate::analysis::attribution::facts::first_blocks;
use crate::analysis::attribution::structure::Phase;
use crate::model::AllocId;
use foldhash::HashMap;

/// A block that is gone within so many events is of no account.
const BRIEF_EVENTS: u32 = 4;

/// Training keeps at most so many more blocks for each parameter.
const MOST_STAYING: usize = 4;

/// Two groups of blocks are apart when this part of all events lies between them.
const APART: u32 = 8;

/// Blocks of a parameter's size.
#[derive(Default, Clone, Copy)]
struct Pool {
    parameters: usize,
    /// Later, and never given back.
    stays: usize,
    /// Later, and not only for a moment.
    later: usize,
    /// Of as many of those as there are parameters: given back. They are gradients, as these come before state.
    goes: usize,
}

type Pools = HashMap<i64, Pool>;

/// What the blocks that stay are.
enum Groups {
    /// As large as parameters by chance.
    Neither,
    /// All of them state.
    State,
    /// All of them gradients.
    Gradients,
    /// Gradients first, one for each parameter, then state.
    GradientsFirst,
    /// State up to an event, gradients from there.
    GradientsFrom(u32),
}

pub(super) fn settle(view: &View<'_>, new: &[AllocId], claims: &mut Claims) {
    // Frames of compiled code show the autograd engine, and nothing else.
    let knows_gradients = view.places.is_compiled && view.flow.acts.has_stacks;
    if new.is_empty() || (view.flow.acts.has_stacks && !knows_gradients) {
        return;
    }
    let (mut pools, has_old_state) = old(view, claims);
    // What a late recording sees being made are no parameters.
    let life =
        |&id: &AllocId| view.gone(id).map(|gone| gone.0.saturating_sub(view.timeline.lifetimes.start(id).0));
    let parameters = if pools.is_empty() { first_blocks::parameters(new.iter().map(life)) } else { 0 };
    for &id in new.iter().take(parameters).filter(|&&id| view.gone(id).is_none()) {
        claims.claim(id, Verdict::new(Category::Parameter, RuleId::MadeFirst));
        pools.entry(view.size(id)).or_default().parameters += 1;
    }
    let trained = if knows_gradients { gradients(view, claims) } else { Sizes::default() };
    let pairs = |size: i64| !knows_gradients || trained.contains_key(&size);
    let mut later: Vec<AllocId> = Vec::new();
    let mut has_left_state = false;
    let cut = CutStep::of(view);
    for &id in new.iter().skip(parameters) {
        let is_brief = view
            .gone(id)
            .is_some_and(|gone| gone.0 <= view.timeline.lifetimes.start(id).0.saturating_add(BRIEF_EVENTS));
        if let Some(pool) = pools.get_mut(&view.size(id)).filter(|_| !is_brief) {
            pool.later += 1;
            pool.goes += usize::from(pool.later <= pool.parameters && view.gone(id).is_some());
        }
        let announced = if knows_gradients { None } else { announced_steps::verdict(view, cut.as_ref(), id) };
        if let Some(verdict) = announced {
            has_left_state |= verdict.category == Category::OptimizerState;
            claims.claim(id, verdict);
            continue;
        }
        let verdict = match (pools.get_mut(&view.size(id)), view.gone(id)) {
            (Some(pool), None) if pairs(view.size(id)) => {
                pool.stays += 1;
                later.push(id);
                continue;
            }
            (Some(_), Some(_)) if !knows_gradients => Verdict::new(Category::Gradient, RuleId::PairsAndGoes),
            _ if is_of_a_pass(view, id) => Verdict::new(Category::Activation, RuleId::PairsWithNothing),
            _ => continue,
        };
        claims.claim(id, verdict);
    }
    let groups = match () {
        () if knows_gradients => Groups::State,
        () if has_left_state => Groups::Gradients,
        () => groups(view, &later, &pools, has_old_state),
    };
    settle_pairs(view, &later, &pools, &groups, claims);
    if !knows_gradients {
        announced_steps::refine(view, new, claims);
    }
}

/// Whether an allocation is made in a forward or a backward, as far as steps that torch announced tell.
fn is_of_a_pass(view: &View<'_>, id: AllocId) -> bool {
    let phase = view.phases.phase_at(view.timeline.lifetimes.start(id));
    matches!(phase, Phase::Forward | Phase::Backward | Phase::Eval)
}

/// The sizes of parameters that are older than the recording, and whether state is.
fn old(view: &View<'_>, claims: &Claims) -> (Pools, bool) {
    let mut pools = Pools::default();
    let mut has_state = false;
    for id in view.ids().take(view.timeline.lifetimes.initial_count()) {
        match claims.get(id).category {
            Category::Parameter => pools.entry(view.size(id)).or_default().parameters += 1,
            Category::OptimizerState => has_state = true,
            _ => {}
        }
    }
    (pools, has_state)
}

fn settle_pairs(view: &View<'_>, later: &[AllocId], pools: &Pools, groups: &Groups, claims: &mut Claims) {
    let mut seen: HashMap<i64, usize> = HashMap::default();
    for &id in later {
        let size = view.size(id);
        let pool = pools.get(&size).copied().unwrap_or_default();
        if matches!(groups, Groups::Neither) || pool.parameters.saturating_mul(MOST_STAYING) < pool.stays {
            if is_of_a_pass(view, id) {
                claims.claim(id, Verdict::new(Category::Activation, RuleId::PairsWithNothing));
            }
            continue;
        }
        let order = seen.entry(size).or_default();
        let is_gradient = match *groups {
            Groups::State | Groups::Neither => false,
            Groups::Gradients => true,
            Groups::GradientsFirst => *order < pool.parameters,
            Groups::GradientsFrom(event) => event <= view.timeline.lifetimes.start(id).0,
        };
        *order += 1;
        let category = if is_gradient { Category::Gradient } else { Category::OptimizerState };
        let blocks = Blocks { alike: pool.stays, known: pool.parameters, known_as: Category::Parameter };
        claims.claim_of(id, Verdict::new(category, RuleId::PairsAndStays), size, blocks);
    }
}

fn bytes(pools: &Pools, count: impl Fn(&Pool) -> usize) -> i64 {
    let each = pools.iter().map(|(&size, pool)| size.saturating_mul(count(pool) as i64));
    each.fold(0, i64::saturating_add)
}

/// How many blocks of a parameter's size stay for each, and in which order they came.
fn groups(view: &View<'_>, later: &[AllocId], pools: &Pools, has_old_state: bool) -> Groups {
    let bytes = |count: fn(&Pool) -> usize| bytes(pools, count);
    let parameters = bytes(|pool| pool.parameters).max(1);
    let rounds = bytes(|pool| pool.stays).saturating_add(parameters / 2) / parameters;
    // A copy of the model that is not trained has no gradients.
    let repeats = parameters / 3 < bytes(|pool| pool.goes);
    // State is set up in the first iteration.
    if let [_, second, ..] = view.phases.iterations.list.as_slice()
        && view.phases.iterations.first_number.is_some()
        && repeats
        && !has_old_state
    {
        let since = later.iter().filter(|&&id| second.start.0 <= view.timeline.lifetimes.start(id).0);
        let since = since.fold(0i64, |sum, &id| sum.saturating_add(view.size(id)));
        if since <= parameters.saturating_add(parameters / 4) {
            return Groups::GradientsFrom(second.start.0);
        }
    }
    let start = |id: AllocId| view.timeline.lifetimes.start(id).0;
    let gap = later
        .windows(2)
        .filter_map(|pair| {
            Some((start(*pair.get(1)?).saturating_sub(start(*pair.first()?)), start(*pair.get(1)?)))
        })
        .max();
    let apart = gap.filter(|&(width, _)| view.timeline.events.len() as u32 / APART < width);
    if has_old_state {
        return Groups::Gradients;
    }
    let sizes = pools.values().filter(|pool| 0 < pool.stays).count();
    match (rounds, apart) {
        // A forward pass may make a few blocks as large as parameters.
        (0, _) if !repeats && 2 * sizes < pools.len() => Groups::Neither,
        (0, _) => Groups::Gradients,
        (_, Some((_, from))) if repeats => Groups::GradientsFrom(from),
        (1 | 2, _) if repeats => Groups::State,
        (1, _) => Groups::Gradients,
        _ => Groups::GradientsFirst,
    }
}
