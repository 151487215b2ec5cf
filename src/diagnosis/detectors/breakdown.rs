//! What is in use by category, and against the number of parameters.

use crate::analysis::Category;
use crate::diagnosis::inferred::{MOST_STATE_TIMES, amount};
use crate::diagnosis::{Context, Finding, Severity};
use crate::model::Allocation;
use crate::units;

pub(super) fn find(context: &Context<'_>) -> Vec<Finding> {
    let total = context.live_bytes();
    let Some((first, bytes)) = context.largest_category() else { return Vec::new() };
    let share = Context::share(bytes, total) * 100.0;
    let amount = amount(bytes, context.inferred_bytes_of(first));
    let title = format!("Most in use: {} with {amount} ({share:.0} %)", first.label());
    let mut finding = Finding::new("breakdown", Severity::Info, title);
    for category in Category::ALL {
        let bytes = context.bytes_of(category);
        if bytes != 0 {
            let [all, of_these] = keys(category);
            finding.evidence.bytes(all, category.label(), bytes);
            let inferred = context.inferred_bytes_of(category);
            if inferred != 0 {
                finding.evidence.bytes(of_these, "of these inferred", inferred);
            }
        }
    }
    against_parameters(context, &mut finding, total);
    finding.limit("Categories are derived from stacks, lifetimes and sizes where the program does not label its tensors; what is inferred rests on sizes, numbers, order or places. Where nothing tells, the category is unknown.");
    vec![finding]
}

/// Parameters, gradients and optimizer state are multiples of the parameters; the rest is not.
fn against_parameters(context: &Context<'_>, finding: &mut Finding, total: i64) {
    let parameters = context.bytes_of(Category::Parameter);
    if parameters <= 0 {
        return;
    }
    finding.explain(format!(
        "{} of parameters and buffers are {} numbers of 32 bits, or {} of 16 bits; the recording does not tell which.",
        units::bytes(parameters),
        units::count(parameters / 4),
        units::count(parameters / 2)
    ));
    let states = context.bytes_of(Category::OptimizerState);
    let times = states as f64 / parameters as f64;
    if MOST_STATE_TIMES < times && 0 < context.inferred_bytes_of(Category::OptimizerState) {
        return;
    }
    if 0 < states {
        finding.explain(format!("Optimizer state is {times:.1} times the parameters{}.", kept_as(times)));
    }
    if parameters.saturating_add(parameters / 10) < gradients_of_this_backward(context) {
        finding.explain("There are more gradients than parameters: most are on their way through the graph.");
    }
    finding.explain(rest(context, parameters, states, total));
}

/// What keeps so many times the parameters, if they are all trained.
fn kept_as(times: f64) -> &'static str {
    let is = |wanted: f64| (times - wanted).abs() < wanted / 50.0;
    if is(1.0) {
        ": as much as momentum keeps, if all of them are trained"
    } else if is(2.0) {
        ": as much as Adam keeps, if all of them are trained"
    } else if is(4.0) {
        ": as much as Adam keeps at 32 bits beside parameters of 16"
    } else {
        ""
    }
}

/// What a model in training takes by this formula, and what does not fit it.
fn rest(context: &Context<'_>, parameters: i64, states: i64, total: i64) -> String {
    let fixed = context.fixed_bytes();
    let depends = match total.saturating_sub(fixed) {
        0 => "Nothing else is in use.".to_owned(),
        rest => format!("{} depend on the batch, or on what the program keeps.", units::bytes(rest)),
    };
    if states == 0 && context.bytes_of(Category::Gradient) == 0 {
        return depends;
    }
    let whole = parameters.saturating_mul(2).saturating_add(states);
    let with = if states == 0 { "" } else { " and this state" };
    let in_use = if fixed == whole {
        "all of it is in use".to_owned()
    } else {
        format!("{} of that are in use", units::bytes(fixed))
    };
    format!("With a gradient for each{with}, the model takes {}; {in_use}. {depends}", units::bytes(whole))
}

/// Bytes of gradients that the backward has made which the moment lies in: those of earlier ones are
/// finished, and wait for a step.
fn gradients_of_this_backward(context: &Context<'_>) -> i64 {
    let Some(start) = context.phases().backward_at(context.moment) else { return 0 };
    let is_new = |allocation: &&Allocation| {
        allocation.alloc_event().is_some_and(|event| start <= event)
            && context.category(allocation.id) == Category::Gradient
    };
    context.live.iter().filter(is_new).fold(0, |sum, allocation| sum.saturating_add(allocation.size))
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
