//! What retained memory is, which decides what to do about it.

use super::batches::{Batches, is_below_a_model, trains};
use super::graphs::GraphKind;
use crate::analysis::{Basis, Category, Phase};
use crate::diagnosis::case::Case;
use crate::diagnosis::finding::StackBytes;
use crate::model::{Allocation, Moment};
use foldhash::HashSet;

/// Fewer different sizes may be those of parameters by chance.
const MIN_WEIGHT_SIZES: usize = 3;

/// Memory is copies of the weights if at least one in this many of the parameters' bytes have sizes that recur in it.
const MOST_PART: i64 = 2;

/// Memory is of hooks unless more than one in this many of its bytes come from elsewhere.
const HOOKED_PART: i64 = 10;

/// Models are kept by their graphs if at least one in this many bytes is of activations.
const ACTIVATIONS_PART: i64 = 20;

/// What is kept of models is the state of their optimizers unless more than one in this many bytes is something else.
const OTHER_THAN_STATE_PART: i64 = 4;

/// What retained memory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::diagnosis) enum Kind {
    /// Whole models and the state of optimizers.
    Models,
    /// Whole models, with activations of theirs.
    ModelsInGraphs,
    /// The state of optimizers.
    Optimizers,
    /// Copies of a model's weights.
    Weights,
    /// Batches that stay after their use.
    Inputs,
    /// Batches that wait for their use.
    InputsAhead,
    /// Caches of keys and values whose generation is over.
    KvCaches,
    /// A graph.
    Graph(GraphKind),
    /// What forward hooks made.
    Hooks,
    /// Other results.
    Results,
    /// Results of training that no model made: what is computed from outputs, as losses and metrics are.
    Computed,
}

impl Kind {
    /// The memory in a title, as far as its kind is beyond doubt.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Models => "models",
            Self::ModelsInGraphs => "models and their graphs",
            Self::Optimizers => "optimizer state",
            Self::Weights => "copies of weights",
            Self::InputsAhead => "batches that wait",
            Self::KvCaches => "KV caches",
            Self::Graph(_) => "graphs",
            Self::Hooks => "what hooks stored",
            Self::Inputs | Self::Results | Self::Computed => "tensors",
        }
    }

    pub(super) fn of(
        case: &Case<'_>,
        retained: &[&Allocation],
        stacks: &[StackBytes],
        graph: Option<GraphKind>,
    ) -> Self {
        let all = retained.iter().fold(0i64, |sum, a| sum.saturating_add(a.size));
        let bytes = |is_counted: &dyn Fn(&Allocation) -> bool| {
            let counted = retained.iter().filter(|a| is_counted(a));
            counted.fold(0i64, |sum, a| sum.saturating_add(a.size))
        };
        let is_most =
            |categories: &[Category]| all / 2 <= bytes(&|a| categories.contains(&case.category(a.id)));
        let batches = Batches::among(case, retained);
        let in_batches = retained.iter().filter(|a| batches.contains(case, a)).map(|a| a.size);
        let outside = stacks
            .iter()
            .filter(|row| case.code.own_line(row.stack).is_some() && !is_below_a_model(case, row.stack));
        let hooked = stacks.iter().filter(|row| case.code.is_in_hook(row.stack));
        let by_modules = stacks.iter().filter(|row| case.code.is_made_by_module(row.stack));
        if is_most(&[Category::Parameter, Category::OptimizerState]) {
            let is_model = all / 2 <= by_modules.fold(0i64, |sum, row| sum.saturating_add(row.bytes));
            let state = bytes(&|a| case.category(a.id) == Category::OptimizerState);
            let activations = bytes(&|a| case.category(a.id) == Category::Activation);
            if all - all / OTHER_THAN_STATE_PART <= state {
                Self::Optimizers
            } else if !is_model && !case.goes_by_size() {
                Self::Weights
            } else if all / ACTIVATIONS_PART <= activations {
                Self::ModelsInGraphs
            } else {
                Self::Models
            }
        } else if all / 2 <= bytes(&|a| is_known_cache(case, a)) {
            Self::KvCaches
        } else if all - all / HOOKED_PART < hooked.fold(0i64, |sum, row| sum.saturating_add(row.bytes)) {
            Self::Hooks
        } else if let Some(kind) = graph {
            Self::Graph(kind)
        } else if all / 2 <= in_batches.fold(0i64, i64::saturating_add) {
            if batches.are_ahead(case, retained) { Self::InputsAhead } else { Self::Inputs }
        } else if are_weights(case, retained, all) {
            Self::Weights
        } else if trains(case)
            && bytes(&|a| is_of_evaluation(case, a)) <= all / 2
            && all / 2 < outside.fold(0i64, |sum, row| sum.saturating_add(row.bytes))
        {
            Self::Computed
        } else {
            Self::Results
        }
    }
}

fn is_of_evaluation(case: &Case<'_>, a: &Allocation) -> bool {
    a.alloc_event().is_some_and(|event| case.phases().phase_at(Moment::after(event)) == Phase::Eval)
}

/// Whether an allocation is known to be of a cache of keys and values. What is only inferred to be may be anything that each
/// layer leaves.
fn is_known_cache(case: &Case<'_>, a: &Allocation) -> bool {
    case.category(a.id) == Category::KvCache && case.attribution.categories.basis(a.id) != Basis::Inferred
}

/// Whether most of some allocations have the sizes of parameters, of most of the model.
fn are_weights(case: &Case<'_>, retained: &[&Allocation], all: i64) -> bool {
    let parameters = || case.live.iter().filter(|a| case.category(a.id) == Category::Parameter);
    let sizes: HashSet<i64> = parameters().map(|a| a.size).collect();
    let same = || retained.iter().filter(|a| sizes.contains(&a.size));
    let copied: HashSet<i64> = same().map(|a| a.size).collect();
    let sum = |bytes: i64, size: i64| bytes.saturating_add(size);
    let covered = parameters().map(|a| a.size).filter(|size| copied.contains(size)).fold(0, sum);
    MIN_WEIGHT_SIZES.min(sizes.len()) <= copied.len()
        && !copied.is_empty()
        && all / 2 <= same().map(|a| a.size).fold(0, sum)
        && case.bytes_of(Category::Parameter) / MOST_PART <= covered
}
