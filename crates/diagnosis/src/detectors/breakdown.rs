//! The live bytes by category, and compared with the parameters.

use super::optimizer::MOST_STATE_TIMES;
use crate::assessment::Assessment;
use crate::case::{Case, Parts};
use crate::figure;
use crate::finding::{Finding, Severity};
use crate::findings::FindingId;
use crate::inferred::amount;
use crate::sentence::{Sentence, say};
use oomscope_analysis::Category;
use oomscope_model::Bytes;
use oomscope_program::share::{NEARLY_ALL, SAME};

pub(super) fn find(assessment: &Assessment<'_>) -> Vec<Finding> {
    let case = assessment.case;
    let total = case.live_bytes();
    let largest = case.by_category().iter().max_by_key(|of| of.bytes).filter(|of| 0 < of.bytes);
    let Some(first) = largest else { return Vec::new() };
    let amount = amount(first.bytes, first.inferred_bytes).of(total);
    let share = figure::share(first.bytes, total);
    let title = say!("Most in use: {} with {} ({})", first.category.label(), amount, share);
    let mut finding = Finding::new(FindingId::Breakdown, Severity::Info, title);
    for of in case.by_category() {
        let [all, of_these] = keys(of.category);
        finding.evidence.part(all, of.category.label(), of.bytes, total);
        if of.inferred_bytes != 0 {
            finding.evidence.part(of_these, "of these inferred", of.inferred_bytes, of.bytes);
        }
    }
    against_parameters(case, &mut finding, total);
    finding.limit("Categories are derived from stacks, lifetimes and sizes where the program does not label its tensors; what is inferred rests on sizes, numbers, order or places. Where nothing tells, the category is unknown.");
    vec![finding]
}

/// How many numbers the parameters are, or of which types the program says that they are.
fn numbers(case: &Case<'_>, parameters: Bytes, total: Bytes) -> Sentence {
    let held = figure::bytes(parameters).of(total);
    let Some(declared) = case.workload.number_types().declared_parameters() else {
        return say!(
            "{} of parameters and buffers are {} numbers of 32 bits, or {} of 16 bits; the recording does not tell which.",
            held,
            figure::count(parameters / 4),
            figure::count(parameters / 2)
        );
    };
    let [wide, half, other] = declared.map(|bytes| figure::bytes(Bytes::of_size(bytes)));
    let kinds = [
        (declared[0], say!("{} of 32 or 64 bits", wide)),
        (declared[1], say!("{} of 16 bits", half)),
        (declared[2], say!("{} of others", other)),
    ];
    let kinds = kinds.into_iter().filter(|(bytes, _)| *bytes != 0).map(|(_, kind)| kind);
    say!(
        "{} are parameters and buffers; as the program says, those at the end of the recording are numbers: {}.",
        held,
        Sentence::joined(kinds, ", ")
    )
}

/// Compare gradients and optimizer state, which are multiples of the parameters, with these.
fn against_parameters(case: &Case<'_>, finding: &mut Finding, total: Bytes) {
    let parameters = case.bytes_of(Category::Parameter);
    if parameters <= 0 {
        return;
    }
    finding.explain(numbers(case, parameters, total));
    let states = case.bytes_of(Category::OptimizerState);
    let times = states.as_f64() / parameters.as_f64();
    if MOST_STATE_TIMES < times && 0 < case.inferred_bytes_of(Category::OptimizerState) {
        return;
    }
    let gradients = gradients_of_this_backward(case);
    if 0 < states {
        finding.explain(say!(
            "Optimizer state is {} times the parameters{}.",
            figure::times(times),
            kept_as(states, parameters)
        ));
    }
    if 0 < gradients && !NEARLY_ALL.is_reached(parameters, gradients) {
        finding.explain("There are more gradients than parameters: most are on their way through the graph.");
    }
    finding.explain(rest(case, parameters, states));
}

/// The optimizer that keeps so many bytes beside parameters, if all of them are trained.
fn kept_as(states: Bytes, parameters: Bytes) -> &'static str {
    let is = |times: i64| {
        let wanted = parameters * times;
        SAME.is_reached(states.min(wanted), states.max(wanted))
    };
    if is(1) {
        ": as much as momentum keeps, if all of them are trained"
    } else if is(2) {
        ": as much as Adam keeps, if all of them are trained"
    } else if is(4) {
        ": as much as Adam keeps at 32 bits beside parameters of 16"
    } else {
        ""
    }
}

/// The bytes that a model in training takes by this formula, and the rest.
fn rest(case: &Case<'_>, parameters: Bytes, states: Bytes) -> Sentence {
    let fixed = case.fixed_bytes();
    let parts = match Parts::of(case).sentence() {
        Some(parts) => say!("{}.", parts),
        None => "Nothing else is in use.".into(),
    };
    if states == 0 && case.bytes_of(Category::Gradient) == 0 {
        return parts;
    }
    let whole = (parameters * 2) + states;
    let with = if states == 0 { "" } else { " and this state" };
    let in_use = if fixed == whole {
        "all of it is in use".into()
    } else {
        say!("{} of that are in use", figure::bytes(fixed).of(whole))
    };
    say!("With a gradient for each{}, the model takes {}; {}. {}", with, figure::bytes(whole), in_use, parts)
}

/// Bytes of the gradients that the backward pass at the moment has made. Those of earlier ones are finished and wait for a
/// step.
fn gradients_of_this_backward(case: &Case<'_>) -> Bytes {
    let Some(start) = case.phases().backward_at(case.moment) else { return Bytes::ZERO };
    let new = case.live_of(Category::Gradient).filter(|a| Some(start) <= a.alloc_event());
    new.map(|a| a.size).sum::<Bytes>()
}

/// The keys of a category's bytes, and of those that are only inferred.
fn keys(category: Category) -> [&'static str; 2] {
    match category {
        Category::Parameter => ["parameter_bytes", "inferred_parameter_bytes"],
        Category::Gradient => ["gradient_bytes", "inferred_gradient_bytes"],
        Category::OptimizerState => ["optimizer_state_bytes", "inferred_optimizer_state_bytes"],
        Category::Activation => ["activation_bytes", "inferred_activation_bytes"],
        Category::Input => ["input_bytes", "inferred_input_bytes"],
        Category::Temporary => ["temporary_bytes", "inferred_temporary_bytes"],
        Category::Comm => ["comm_bytes", "inferred_comm_bytes"],
        Category::KvCache => ["kv_cache_bytes", "inferred_kv_cache_bytes"],
        Category::GraphPool => ["graph_pool_bytes", "inferred_graph_pool_bytes"],
        Category::Other => ["other_bytes", "inferred_other_bytes"],
        Category::Unknown => ["unknown_bytes", "inferred_unknown_bytes"],
    }
}
