//! A model that is on the device twice: an average, a reference, a teacher, or weights that were loaded or copied and kept.

use super::place::{places, sum};
use crate::analysis::{Category, FrameKey};
use crate::diagnosis::assessment::Assessment;
use crate::diagnosis::case::Case;
use crate::diagnosis::figure;
use crate::diagnosis::finding::Finding;
use crate::diagnosis::findings::FindingId;
use crate::diagnosis::numbers::SEVERAL;
use crate::diagnosis::sentence::{name, say};
use crate::diagnosis::share::{MOST, MUCH, NEARLY_ALL, WORTH};
use crate::diagnosis::sum::SaturatingSum as _;
use crate::model::{Allocation, DeviceId, StackId};
use foldhash::HashMap;
use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Own lines that are looked at, from where the program starts inwards: one of them calls for each of the copies.
const MAX_DEPTH: usize = 8;

/// The most gradients of each size that one iteration made. They take a pass over all allocations, so they are found once.
type Gradients = BTreeMap<i64, i64>;

/// How a copy was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Made {
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
}

/// Weights that one line led to.
#[derive(Default)]
struct Set<'a> {
    blocks: Vec<&'a Allocation>,
    bytes: i64,
    /// Number of blocks by size.
    sizes: BTreeMap<i64, i64>,
}

impl<'a> Set<'a> {
    fn add(&mut self, a: &'a Allocation) {
        self.blocks.push(a);
        self.bytes = self.bytes.saturating_add(a.size);
        *self.sizes.entry(a.size).or_default() += 1;
    }

    /// Bytes that both sets have in blocks of the same sizes.
    fn shared_bytes(&self, other: &Self) -> i64 {
        let shared = self.sizes.iter().map(|(size, count)| {
            let both = other.sizes.get(size).map_or(0, |other| *count.min(other));
            size.saturating_mul(both)
        });
        shared.saturating_sum()
    }

    fn is_copy_of(&self, other: &Self) -> bool {
        let smaller = self.bytes.min(other.bytes);
        NEARLY_ALL.is_reached(self.shared_bytes(other), smaller)
    }

    /// The stack of the largest block, for how all of it was made.
    fn main_stack(&self) -> Option<StackId> {
        self.blocks.iter().max_by_key(|a| a.size).map(|a| a.stack)
    }

    fn is_deep_copy(&self, case: &Case<'_>) -> bool {
        self.main_stack().is_some_and(|stack| case.code.calls(stack, "deepcopy"))
    }

    fn is_of_like_size(&self, other: &Self) -> bool {
        MUCH.is_reached(self.bytes.min(other.bytes), self.bytes.max(other.bytes))
    }

    fn first(&self) -> Option<&'a Allocation> {
        self.blocks.iter().copied().min_by_key(|a| a.id)
    }
}

pub(super) fn find(assessment: &Assessment<'_>) -> Vec<Finding> {
    let case = assessment.case;
    // Copies that each iteration adds are the verdict, and pinned memory of the host takes no room on the device.
    if assessment.is_leak() || case.timeline.device == DeviceId::HOST {
        return Vec::new();
    }
    let is_weight = |a: &&Allocation| {
        a.stack != StackId::EMPTY
            && matches!(case.category(a.id), Category::Parameter | Category::Other | Category::Unknown)
    };
    let weights: Vec<&Allocation> = case.live.iter().filter(is_weight).collect();
    let paths = paths(case, &weights);
    let gradients = OnceCell::new();
    let copy = (1..=MAX_DEPTH).find_map(|depth| copy_at(case, &weights, &paths, depth, &gradients));
    copy.map(|(copy, made)| described(case, &copy, made)).into_iter().collect()
}

/// The own lines of each stack, outermost first.
fn paths(case: &Case<'_>, weights: &[&Allocation]) -> HashMap<StackId, Vec<FrameKey>> {
    let mut paths: HashMap<StackId, Vec<FrameKey>> = HashMap::default();
    for a in weights {
        paths.entry(a.stack).or_insert_with(|| {
            let mut path = case.code.own_path(a.stack);
            path.reverse();
            path
        });
    }
    paths
}

/// A copy, if the lines at some depth of the calls tell two sets of weights apart.
fn copy_at<'a>(
    case: &Case<'_>,
    weights: &[&'a Allocation],
    paths: &HashMap<StackId, Vec<FrameKey>>,
    depth: usize,
    gradients: &OnceCell<Gradients>,
) -> Option<(Set<'a>, Made)> {
    let mut sets: HashMap<&[FrameKey], Set<'a>> = HashMap::default();
    for a in weights {
        let path = paths.get(&a.stack).map_or(&[][..], |path| &path[..path.len().min(depth)]);
        if !path.is_empty() {
            sets.entry(path).or_default().add(a);
        }
    }
    let mut sets: Vec<Set<'a>> = sets.into_values().collect();
    sets.sort_by_key(|set| (Reverse(set.bytes), set.first().map(|a| a.id)));
    sets.retain(|set| WORTH.is_reached(set.bytes, case.live_bytes()));
    // The one that was made later is the copy, unless only the other looks like one.
    sets.sort_by_key(|set| Reverse(set.first().map(|a| a.id)));
    let of_pair = |at: usize, with: usize| {
        let (set, other) = (sets.get(at)?, sets.get(with)?);
        // Copies of a whole training have the optimizer's state with the weights.
        let is_comparable = set.is_of_like_size(other) || set.is_deep_copy(case);
        if at == with || !is_comparable || !set.is_copy_of(other) {
            return None;
        }
        Some((at, how(case, set, other, gradients)?))
    };
    let pairs = (0..sets.len()).flat_map(|at| (0..sets.len()).map(move |with| (at, with)));
    let found: Vec<(usize, Made)> = pairs.filter_map(|(at, with)| of_pair(at, with)).collect();
    // How a set was made says more than which of two gets gradients.
    let (at, made) = *found.iter().find(|(_, made)| *made != Made::Built).or(found.first())?;
    Some((sets.swap_remove(at), made))
}

/// How a set of weights was made, if that or its use shows that it is a copy.
fn how(case: &Case<'_>, set: &Set<'_>, other: &Set<'_>, gradients: &OnceCell<Gradients>) -> Option<Made> {
    let stack = set.main_stack()?;
    let code = &case.code;
    if set.is_deep_copy(case) {
        let is_module = code.is_made_by_module(stack);
        return Some(if is_module { Made::ModuleCopied } else { Made::Copied });
    }
    if code.is_below(stack, |code| code.restores()) || code.calls(stack, "load_file") {
        return Some(Made::Loaded);
    }
    if !code.is_made_by_module(stack) && code.own_line(stack).is_some() {
        return Some(Made::TensorsCopied).filter(|_| SEVERAL <= set.sizes.len());
    }
    if set.sizes.len() < SEVERAL {
        return None;
    }
    let gradients = gradients.get_or_init(|| most_gradients(case));
    gradients_cover_one(gradients, set, other).then_some(Made::Built)
}

/// Whether one of two sets gets gradients and the other does not: of most bytes, each size has as many gradients as one set
/// has blocks. Gradients on their way through the graph may have the size of some weights, too.
fn gradients_cover_one(made: &Gradients, set: &Set<'_>, other: &Set<'_>) -> bool {
    let is_of_one = |&(&size, &count): &(&i64, &i64)| {
        let both = count.saturating_add(other.sizes.get(&size).copied().unwrap_or(0));
        made.get(&size).is_some_and(|&made| count <= made && made < both)
    };
    let of_one = set.sizes.iter().filter(is_of_one).map(|(size, count)| size.saturating_mul(*count));
    MOST.is_reached(of_one.saturating_sum(), set.bytes)
}

/// The most gradients of each size that one iteration made.
fn most_gradients(case: &Case<'_>) -> Gradients {
    let timeline = case.timeline;
    let mut most: BTreeMap<i64, i64> = BTreeMap::new();
    let mut current: BTreeMap<i64, i64> = BTreeMap::new();
    let mut iteration = None;
    let mut close = |current: &mut BTreeMap<i64, i64>| {
        for (size, count) in std::mem::take(current) {
            let most = most.entry(size).or_default();
            *most = count.max(*most);
        }
    };
    for id in timeline.ids().filter(|&id| case.category(id) == Category::Gradient) {
        let index = case.phases().iterations.index_at(timeline.lifetimes.start(id));
        if index != iteration {
            close(&mut current);
            iteration = index;
        }
        *current.entry(timeline.size(id)).or_default() += 1;
    }
    close(&mut current);
    most
}

fn described(case: &Case<'_>, copy: &Set<'_>, made: Made) -> Finding {
    let bytes = sum(&copy.blocks);
    let held = figure::bytes(bytes).of(case.live_bytes());
    let is_model = matches!(made, Made::ModuleCopied | Made::Built);
    let id = if is_model { FindingId::SecondModel } else { FindingId::SameParametersTwice };
    let title = match made {
        Made::ModuleCopied | Made::Built => {
            say!("A second model with weights of the same sizes takes {}", held)
        }
        Made::Copied => say!("The same parameters are on the device again: copies take {}", held),
        Made::Loaded | Made::TensorsCopied => {
            say!("The same parameters are on the device twice: the copy takes {}", held)
        }
    };
    let mut finding = Finding::new(id, case.severity_of(bytes), title);
    finding.evidence.part("copy_bytes", "weights of the copy", bytes, case.live_bytes());
    finding.evidence.count("copy_allocations", "blocks of the copy", copy.blocks.len());
    places(&mut finding, case, &copy.blocks);
    let line = finding.evidence.sites.first().map(|site| say!(" ({})", name(site.label())));
    explain(&mut finding, made, line);
    advise(&mut finding, made);
    finding.weighs(bytes);
    finding.limit("Found by the sizes of the weights and by how they were made; whether their values are the same is not in a recording.");
    finding
}

fn explain(finding: &mut Finding, made: Made, line: Option<crate::diagnosis::sentence::Sentence>) {
    finding.explain(match made {
        Made::ModuleCopied => say!("copy.deepcopy made it{}: an average, a target, a reference or the best model so far.", line),
        Made::Built => say!("It was built like the first{}, and only one of the two gets gradients: a reference, a target or a teacher.", line),
        Made::Loaded => say!("It was loaded from a file onto the device{}, and the tensors that were loaded are still referenced.", line),
        Made::Copied => say!("copy.deepcopy made it{}: a state dict, perhaps with the optimizer's state, as of the best model so far. deepcopy of tensors on the device takes their memory again; where an older copy is replaced, both are there until the new one is whole.", line),
        Made::TensorsCopied => say!("It was copied tensor by tensor{}: a state dict, the best weights so far, or an average.", line),
    });
}

fn advise(finding: &mut Finding, made: Made) {
    match made {
        Made::ModuleCopied | Made::Built => {
            finding.advise_code(
                "Keep the second model on the CPU, or in half precision if it only computes targets:",
                "ema = copy.deepcopy(model).cpu()\nreference = reference.to(torch.bfloat16).requires_grad_(False)",
            );
            finding.advise("Compute what a fixed model says about the data once, before training, and store it; with LoRA, the model without its adapter is the reference.");
        }
        Made::Loaded => finding.advise_code(
            "Load to the CPU, and let go of what was loaded:",
            "state = torch.load(path, map_location=\"cpu\")\nmodel.load_state_dict(state)\ndel state",
        ),
        Made::TensorsCopied | Made::Copied => finding.advise_code(
            "Keep copies of weights on the CPU:",
            "best = {k: v.detach().cpu().clone() for k, v in model.state_dict().items()}",
        ),
    }
}
