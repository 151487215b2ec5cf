//! A model that is in memory twice: an average, a reference, a teacher, or weights that were loaded or copied and kept.
//!
//! Weights are told apart by the lines that led to them, and are those of one model if their sizes are the same. Which of two is
//! the copy shows in how it was made or, where both were built alike, in that only one of them gets gradients.

use super::models::{self, copies_of_trained};
use super::numbers::SEVERAL;
use super::run::{Run, StackSet};
use super::share::{MOST, MUCH, NEARLY_ALL, Share};
use super::sites::{Sites, owner_of};
use super::sizes::Sizes;
use foldhash::HashMap;
use oomscope_analysis::{Category, FrameCode, Owner};
use oomscope_model::{AllocId, CensusIx, DeviceId, FrameId, Moment, SaturatingSum as _, StackId};
use std::cell::OnceCell;
use std::cmp::Reverse;

/// Own lines that are looked at, from where the program starts inwards: one of them calls for each of the copies.
const MAX_DEPTH: usize = 8;

/// How a copy was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyKind {
    /// By `copy.deepcopy` of a module.
    ModuleCopied,
    /// By `copy.deepcopy` of tensors, as those of a state dict.
    Copied,
    /// By loading it from a file.
    Loaded,
    /// By the program's own code, tensor by tensor: a clone, a state dict.
    TensorsCopied,
    /// As a module like the first.
    Built,
    /// The program says that it is a module with parameters of the same paths, which is not trained.
    Named(CensusIx),
}

/// A second set of a model's weights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelCopy {
    /// Its blocks, in their order.
    pub blocks: Vec<AllocId>,
    /// How it was made.
    pub kind: CopyKind,
    /// Its class, where the program said it.
    pub class: Option<String>,
}

/// Weights that one line led to.
#[derive(Default)]
struct Set {
    blocks: Vec<AllocId>,
    sizes: Sizes,
}

/// What is asked about sets of weights only where there are two that may be copies, each found once.
struct Search<'a> {
    run: &'a Run<'a>,
    made: OnceCell<Made>,
    gradients: OnceCell<Sizes>,
}

/// The stacks that show how weights were made.
struct Made {
    by_deepcopy: StackSet,
    by_load_file: StackSet,
    by_module: StackSet,
    restored: StackSet,
}

/// A copy among what is live at a moment, of at least some share of it. Pinned memory of the host takes no room on the device.
pub(super) fn find(run: &Run<'_>, sites: &Sites, moment: Moment, least: Share) -> Option<ModelCopy> {
    if run.recording.device == DeviceId::HOST {
        return None;
    }
    if let Some(named) = named(run, moment, least) {
        return Some(named);
    }
    let live: Vec<AllocId> = run.recording.lifetimes.live_at(moment).collect();
    let live_bytes = live.iter().map(|&id| run.bytes(id)).saturating_sum();
    let is_weight = |&id: &AllocId| {
        run.recording.stack(id) != StackId::EMPTY
            && matches!(run.category(id), Category::Parameter | Category::Other | Category::Unknown)
    };
    let weights: Vec<AllocId> = live.into_iter().filter(is_weight).collect();
    let mut paths: HashMap<StackId, Vec<FrameId>> = HashMap::default();
    for &id in &weights {
        let stack = run.recording.stack(id);
        paths.entry(stack).or_insert_with(|| sites.own_path(run, stack).collect());
    }
    let search = Search { run, made: OnceCell::new(), gradients: OnceCell::new() };
    (1..=MAX_DEPTH).find_map(|depth| {
        let mut sets: HashMap<&[FrameId], Set> = HashMap::default();
        for &id in &weights {
            let path = paths.get(&run.recording.stack(id)).map_or(&[][..], Vec::as_slice);
            if !path.is_empty() {
                let set = sets.entry(&path[..path.len().min(depth)]).or_default();
                set.blocks.push(id);
                set.sizes.add(run.bytes(id));
            }
        }
        let mut sets: Vec<Set> = sets.into_values().collect();
        sets.retain(|set| least.is_reached(set.sizes.bytes(), live_bytes));
        // The one that was made later is the copy, unless only the other looks like one.
        sets.sort_by_key(|set| Reverse(set.blocks.first().copied()));
        search.copy_among(sets)
    })
}

/// The largest copy that the program itself names.
fn named(run: &Run<'_>, moment: Moment, least: Share) -> Option<ModelCopy> {
    let all = models::find(run, moment);
    let live = run.recording.lifetimes.live_at(moment);
    let live_bytes = live.map(|id| run.bytes(id)).saturating_sum();
    let largest = copies_of_trained(&all).max_by_key(|model| model.bytes)?;
    if !least.is_reached(largest.bytes, live_bytes) {
        return None;
    }
    let (blocks, kind) = (largest.blocks.clone(), CopyKind::Named(largest.owner));
    Some(ModelCopy { blocks, kind, class: Some(largest.class.to_owned()) })
}

impl Search<'_> {
    fn copy_among(&self, mut sets: Vec<Set>) -> Option<ModelCopy> {
        let pairs = (0..sets.len()).flat_map(|at| (0..sets.len()).map(move |with| (at, with)));
        let pairs = pairs.filter(|(at, with)| at != with);
        let found: Vec<(usize, CopyKind)> =
            pairs.filter_map(|(at, with)| Some((at, self.kind(&sets[at], &sets[with])?))).collect();
        // How a set was made says more than which of two gets gradients.
        let (at, kind) = *found.iter().find(|(_, kind)| *kind != CopyKind::Built).or(found.first())?;
        Some(ModelCopy { blocks: sets.swap_remove(at).blocks, kind, class: None })
    }

    /// How a set of weights was made, if it has the sizes of another, and that or its use shows that it is a copy.
    fn kind(&self, set: &Set, other: &Set) -> Option<CopyKind> {
        let (bytes, of) = (set.sizes.bytes(), other.sizes.bytes());
        if !NEARLY_ALL.is_reached(set.sizes.shared_bytes(&other.sizes), bytes.min(of)) {
            return None;
        }
        let made = self.made.get_or_init(|| Made::of(self.run));
        // That of the largest block, for how all of it was made.
        let stack = self.run.recording.stack(*set.blocks.iter().max_by_key(|&&id| self.run.bytes(id))?);
        if made.by_deepcopy.has(stack) {
            // Copies of a whole training have the optimizer's state with the weights.
            let is_module = made.by_module.has(stack);
            return Some(if is_module { CopyKind::ModuleCopied } else { CopyKind::Copied });
        }
        if !MUCH.is_reached(bytes.min(of), bytes.max(of)) {
            return None;
        }
        if made.restored.has(stack) || made.by_load_file.has(stack) {
            return Some(CopyKind::Loaded);
        }
        if set.sizes.different() < SEVERAL {
            return None;
        }
        if !made.by_module.has(stack) {
            // What is not known to be weights may be the state of an optimizer of the program's own.
            let is_known = |id: &AllocId| self.run.category(*id) == Category::Parameter;
            let known = Sizes::of(self.run, set.blocks.iter().copied().filter(is_known));
            return MOST.is_reached(known.bytes(), bytes).then_some(CopyKind::TensorsCopied);
        }
        // Of most bytes, each size has as many gradients as one set has blocks. Gradients on their way through the graph may have the
        // size of some weights, too.
        let gradients = self.gradients.get_or_init(|| most_gradients(self.run));
        let of_one = set.sizes.bytes_of(|bytes, count| {
            let is_of_one = (count..count + other.sizes.count(bytes)).contains(&gradients.count(bytes));
            if is_of_one { count } else { 0 }
        });
        MOST.is_reached(of_one, bytes).then_some(CopyKind::Built)
    }
}

impl Made {
    fn of(run: &Run<'_>) -> Self {
        let own = &run.recording.snapshot().assumed.own_code;
        let is_of = |owner: Owner, code: FrameCode<'_>| owner_of(code, own) == owner;
        let below_runtime = |function: &'static str| {
            let is_one = |code: FrameCode<'_>| is_of(Owner::Runtime, code) && code.function == function;
            run.stacks_with_before(is_one, |code| !is_of(Owner::Runtime, code))
        };
        Self {
            by_deepcopy: below_runtime("deepcopy"),
            by_load_file: below_runtime("load_file"),
            by_module: run.stacks_with_before(
                |code| !is_of(Owner::User, code) && (code.is_of_torch_nn() || code.is_of_torch_optim()),
                |code| is_of(Owner::User, code),
            ),
            restored: run.stacks_with(|code| code.restores()),
        }
    }
}

/// The most gradients of each size that one iteration made.
fn most_gradients(run: &Run<'_>) -> Sizes {
    let iterations = &run.attribution.phases.iterations;
    let iteration = |id: AllocId| iterations.index_at(run.recording.lifetimes.start(id));
    let mut most = Sizes::default();
    for of_one in run.of_category(Category::Gradient).chunk_by(|&a, &b| iteration(a) == iteration(b)) {
        most.raise_to(&Sizes::of(run, of_one.iter().copied()));
    }
    most
}
