//! What is in use by category, and against the number of parameters.

use crate::analysis::Category;
use crate::diagnosis::{Context, Finding, Severity};
use crate::model::Allocation;
use crate::units;

pub(super) fn find(context: &Context<'_>) -> Vec<Finding> {
    let total = context.live_bytes();
    let Some((first, bytes)) = context.largest_category() else { return Vec::new() };
    let share = Context::share(bytes, total) * 100.0;
    let title = format!("Most in use: {} with {} ({share:.0} %)", first.label(), units::bytes(bytes));
    let mut finding = Finding::new("breakdown", Severity::Info, title);
    for category in Category::ALL {
        let bytes = context.bytes_of(category);
        if bytes != 0 {
            finding.evidence.bytes(key(category), category.label(), bytes);
        }
    }
    against_parameters(context, &mut finding, total);
    finding.limit("Categories are derived from stacks, lifetimes and sizes where the program does not label its tensors; what does not tell is unknown.");
    vec![finding]
}

/// Parameters, gradients and optimizer state are multiples of the parameters; the rest is not.
fn against_parameters(context: &Context<'_>, finding: &mut Finding, total: i64) {
    let parameters = context.bytes_of(Category::Parameter);
    if parameters <= 0 {
        return;
    }
    let states = context.bytes_of(Category::OptimizerState);
    if 0 < states {
        let times = states as f64 / parameters as f64;
        finding.explain(format!("Optimizer state is {times:.1} times the parameters."));
    }
    if parameters.saturating_add(parameters / 10) < gradients_of_this_backward(context) {
        finding.explain("There are more gradients than parameters: most are on their way through the graph.");
    }
    let rest = units::bytes(total.saturating_sub(context.fixed_bytes()));
    finding.explain(format!("{rest} depend on the batch, or on what the program keeps."));
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

fn key(category: Category) -> &'static str {
    match category {
        Category::Parameter => "parameter_bytes",
        Category::Gradient => "gradient_bytes",
        Category::OptimizerState => "optimizer_state_bytes",
        Category::Activation => "activation_bytes",
        Category::Input => "input_bytes",
        Category::Temporary => "temporary_bytes",
        Category::Comm => "comm_bytes",
        Category::KvCache => "kv_cache_bytes",
        Category::GraphPool => "graph_pool_bytes",
        Category::Other => "other_bytes",
        Category::Unknown => "unknown_bytes",
    }
}
