//! Recordings without any stacks, or without any of Python. Blocks that stay from before anything is freed are parameters;
//! of later blocks as large as these, gradients and state are told apart by their order.

use super::announced_steps;
use super::gradient_sizes::lasting_gradients;
use crate::attribution::claims::{Blocks, Claims, Verdict};
use crate::attribution::facts::{SCRATCH_EVENTS, leading_parameters};
use crate::attribution::structure::Phase;
use crate::attribution::thresholds::{MAX_BLOCKS_PER_PARAMETER, SIMILAR_PART};
use crate::attribution::view::{CountBySize, View};
use crate::attribution::{Category, RuleId};
use foldhash::HashMap;
use oomscope_model::{AllocId, Bytes};

/// Gradients are dropped in every iteration if, among the first later blocks, more than one part in this many of the
/// parameters' bytes is freed. A copy of the model that is not trained has no gradients.
const DROPPED_PART: i64 = 3;

/// Two groups of blocks are apart when more than one part in this many of all events lies between them.
const APART_PART: u32 = 8;

/// The blocks of one parameter's size.
#[derive(Default, Clone, Copy)]
struct SizeGroup {
    parameters: usize,
    /// Later blocks that are never freed.
    kept: usize,
    /// Later blocks that live for more than a moment.
    later: usize,
    /// How many of the first `parameters` such blocks are freed. Gradients are allocated before optimizer state, so these
    /// are gradients.
    dropped: usize,
}

type SizeGroups = HashMap<Bytes, SizeGroup>;

/// The purpose of the later blocks that are kept.
enum KeptBlocks {
    /// They are as large as parameters by chance.
    Chance,
    /// All of them are state.
    State,
    /// All of them are gradients.
    Gradients,
    /// Gradients come first, one for each parameter, then state.
    GradientsFirst,
    /// State comes up to an event, gradients from there.
    GradientsFrom(u32),
}

/// Claim `new`, the allocations of the recording that no stack explains.
pub(super) fn claim(view: &View<'_>, new: &[AllocId], claims: &mut Claims) {
    // Stacks of compiled code show the autograd engine, and nothing else.
    let has_stacks = view.device.activities.has_stacks;
    let shows_engine = has_stacks && view.stacks.is_compiled;
    if new.is_empty() || (has_stacks && !shows_engine) {
        return;
    }
    let mut groups = SizeGroups::default();
    for id in view.old_ids().filter(|&id| claims.is(id, Category::Parameter)) {
        groups.entry(view.size(id)).or_default().parameters += 1;
    }
    // If parameters are older, what the recording sees being made are none.
    let first_count = if groups.is_empty() { count_leading_parameters(view, new) } else { 0 };
    let (first, rest) = new.split_at(first_count.min(new.len()));
    for &id in first.iter().filter(|&&id| view.free_event(id).is_none()) {
        claims.claim(id, RuleId::MadeFirst.verdict());
        groups.entry(view.size(id)).or_default().parameters += 1;
    }
    let (kept, purpose) = if shows_engine {
        let gradients = lasting_gradients(view, claims);
        (claim_beside_engine(view, rest, &mut groups, &gradients, claims), KeptBlocks::State)
    } else {
        let has_old_state = view.old_ids().any(|id| claims.is(id, Category::OptimizerState));
        let (kept, has_announced_state) = claim_by_lifetimes(view, rest, &mut groups, claims);
        let purpose = if has_announced_state {
            KeptBlocks::Gradients
        } else {
            purpose_of_kept(view, &kept, &groups, has_old_state)
        };
        (kept, purpose)
    };
    claim_kept(view, &kept, &groups, &purpose, claims);
    if !shows_engine {
        announced_steps::refine(view, new, claims);
    }
}

fn count_leading_parameters(view: &View<'_>, new: &[AllocId]) -> usize {
    let life = |&id: &AllocId| {
        let freed = view.free_event(id)?;
        Some(freed.0.saturating_sub(view.timeline.lifetimes.start(id).0))
    };
    leading_parameters(new.iter().map(life))
}

/// Claim later blocks where stacks show the autograd engine, which makes the gradients. Returns the blocks that pair with
/// parameters and are kept.
fn claim_beside_engine(
    view: &View<'_>,
    later: &[AllocId],
    groups: &mut SizeGroups,
    gradients: &CountBySize,
    claims: &mut Claims,
) -> Vec<AllocId> {
    let mut kept = Vec::new();
    for &id in later {
        let size = view.size(id);
        match groups.get_mut(&size) {
            Some(group) if view.free_event(id).is_none() && gradients.contains_key(&size) => {
                group.kept += 1;
                kept.push(id);
            }
            _ => claim_activation_of_pass(view, id, claims),
        }
    }
    kept
}

/// Claim later blocks by announced steps and by whether they are freed. Returns the blocks that pair with parameters and are
/// kept, and whether an announced step left state.
fn claim_by_lifetimes(
    view: &View<'_>,
    later: &[AllocId],
    groups: &mut SizeGroups,
    claims: &mut Claims,
) -> (Vec<AllocId>, bool) {
    let (mut kept, mut has_announced_state) = (Vec::new(), false);
    let unfinished = announced_steps::UnfinishedStep::of(view);
    for &id in later {
        let freed = view.free_event(id);
        let made = view.timeline.lifetimes.start(id).0;
        let is_scratch = freed.is_some_and(|freed| freed.0 <= made.saturating_add(SCRATCH_EVENTS));
        let mut group = groups.get_mut(&view.size(id));
        if let Some(group) = group.as_mut().filter(|_| !is_scratch) {
            group.later += 1;
            group.dropped += usize::from(group.later <= group.parameters && freed.is_some());
        }
        if let Some(verdict) = announced_steps::verdict(view, unfinished.as_ref(), id) {
            has_announced_state |= verdict.category == Category::OptimizerState;
            claims.claim(id, verdict);
            continue;
        }
        match (group, freed) {
            (Some(group), None) => {
                group.kept += 1;
                kept.push(id);
            }
            (Some(_), Some(_)) => {
                claims.claim(id, RuleId::PairsAndGoes.verdict());
            }
            (None, _) => claim_activation_of_pass(view, id, claims),
        }
    }
    (kept, has_announced_state)
}

/// Claim an allocation that is made in a forward or a backward, as far as steps that torch announced tell.
fn claim_activation_of_pass(view: &View<'_>, id: AllocId, claims: &mut Claims) {
    let phase = view.course.of_event_before(view.timeline.lifetimes.start(id));
    if matches!(phase, Phase::Forward | Phase::Backward | Phase::Eval) {
        claims.claim(id, RuleId::PairsWithNothing.verdict());
    }
}

/// Claim the later blocks that pair with parameters and are kept.
fn claim_kept(
    view: &View<'_>,
    kept: &[AllocId],
    groups: &SizeGroups,
    purpose: &KeptBlocks,
    claims: &mut Claims,
) {
    let mut seen: HashMap<Bytes, usize> = HashMap::default();
    for &id in kept {
        let size = view.size(id);
        let group = groups.get(&size).copied().unwrap_or_default();
        let most = group.parameters.saturating_mul(MAX_BLOCKS_PER_PARAMETER);
        let are_too_many = most < group.parameters + group.kept;
        if matches!(purpose, KeptBlocks::Chance) || are_too_many {
            claim_activation_of_pass(view, id, claims);
            continue;
        }
        let order = seen.entry(size).or_default();
        let is_gradient = match *purpose {
            KeptBlocks::State | KeptBlocks::Chance => false,
            KeptBlocks::Gradients => true,
            KeptBlocks::GradientsFirst => *order < group.parameters,
            KeptBlocks::GradientsFrom(event) => event <= view.timeline.lifetimes.start(id).0,
        };
        *order += 1;
        let category = if is_gradient { Category::Gradient } else { Category::OptimizerState };
        let blocks = Blocks { alike: group.kept, known: group.parameters, known_as: Category::Parameter };
        claims.claim_with_blocks(id, Verdict::new(category, RuleId::PairsAndStays), size, blocks);
    }
}

/// The purpose of the blocks that are kept, by how many there are for each parameter, and when they came.
fn purpose_of_kept(
    view: &View<'_>,
    kept: &[AllocId],
    groups: &SizeGroups,
    has_old_state: bool,
) -> KeptBlocks {
    let bytes = |count: fn(&SizeGroup) -> usize| {
        let each = groups.iter().map(|(&size, group)| size * (count(group) as i64));
        each.sum::<Bytes>()
    };
    let parameter_bytes = bytes(|group| group.parameters).max(Bytes(1));
    let kept_bytes = bytes(|group| group.kept);
    let drops_gradients = parameter_bytes / DROPPED_PART < bytes(|group| group.dropped);
    // State is set up in the first iteration: later blocks are gradients, if they are no more than those of one iteration.
    if let [_, second, ..] = view.course.iterations.list.as_slice()
        && view.course.iterations.first_number.is_some()
        && drops_gradients
        && !has_old_state
    {
        let is_since = |&id: &AllocId| second.start.0 <= view.timeline.lifetimes.start(id).0;
        let since_bytes = view.bytes(kept.iter().copied().filter(is_since));
        let most_bytes = parameter_bytes + parameter_bytes / SIMILAR_PART as i64;
        if since_bytes <= most_bytes {
            return KeptBlocks::GradientsFrom(second.start.0);
        }
    }
    if has_old_state {
        return KeptBlocks::Gradients;
    }
    let copies = (kept_bytes + parameter_bytes / 2) / parameter_bytes;
    let paired_sizes = groups.values().filter(|group| 0 < group.kept).count();
    match (copies, start_of_second_group(view, kept)) {
        // A forward pass may make a few blocks as large as parameters.
        (0, _) if !drops_gradients && 2 * paired_sizes < groups.len() => KeptBlocks::Chance,
        (0, _) => KeptBlocks::Gradients,
        (_, Some(from)) if drops_gradients => KeptBlocks::GradientsFrom(from),
        (1 | 2, _) if drops_gradients => KeptBlocks::State,
        (1, _) => KeptBlocks::Gradients,
        _ => KeptBlocks::GradientsFirst,
    }
}

/// Where the kept blocks fall into two groups with a long gap between them: the moment at which the second starts.
fn start_of_second_group(view: &View<'_>, kept: &[AllocId]) -> Option<u32> {
    let start = |id: AllocId| view.timeline.lifetimes.start(id).0;
    let gaps = kept.windows(2).filter_map(|pair| {
        let (one, next) = (start(*pair.first()?), start(*pair.get(1)?));
        Some((next.saturating_sub(one), next))
    });
    let is_long = |&(width, _): &(u32, u32)| view.timeline.events.len() as u32 / APART_PART < width;
    gaps.max().filter(is_long).map(|(_, from)| from)
}
