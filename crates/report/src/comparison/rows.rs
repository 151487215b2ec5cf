//! Names of what rows of a comparison are about.

use oomscope_analysis::comparison::{Comparison, LinePair, ModulePairKind, PoolPair, PoolStream};
use oomscope_model::PoolKey;

/// The line as the second side has it, and how it differs on the first.
pub(super) fn line_text(pair: &LinePair) -> String {
    match &pair.labels {
        [Some(a), Some(b)] if a != b => match &pair.lines {
            [Some(line_a), Some(line_b)] if same_name(&line_a.file, &line_b.file) => {
                format!("{b} (A: line {})", line_a.line)
            }
            _ => format!("{b} (A: {a})"),
        },
        _ => pair.label().to_owned(),
    }
}

fn same_name(a: &str, b: &str) -> bool {
    oomscope_units::basename(a) == oomscope_units::basename(b)
}

/// A module with those around it: `GPT › Block › Attention`.
pub(super) fn module_text(found: &Comparison, module: u32) -> String {
    let Some(pair) = found.modules.get(module as usize) else { return String::new() };
    match pair.kind {
        ModulePairKind::Module => {}
        ModulePairKind::Outside => return "outside of modules".to_owned(),
        ModulePairKind::NotKnown => return "module not known".to_owned(),
        ModulePairKind::NotTold => return "categories not told by module".to_owned(),
    }
    let mut names = vec![match &pair.from {
        [_, Some(from)] | [Some(from), None] => format!("{} ({from})", pair.name),
        [None, None] => pair.name.clone(),
    }];
    let mut around = pair.parent;
    while let Some(parent) = around.and_then(|at| found.modules.get(at as usize)) {
        names.push(parent.name.clone());
        around = parent.parent;
    }
    names.reverse();
    names.join(" › ")
}

/// A pool and stream on both sides.
pub(super) fn pool_text(pair: &PoolPair) -> String {
    match pair.keys {
        [Some(a), Some(b)] if pair.is_by_order => {
            format!("{} (A: {}, by order of use)", key_text(b), key_text(a))
        }
        [_, Some(key)] | [Some(key), None] => key_text(key),
        [None, None] => String::new(),
    }
}

fn key_text(key: PoolStream) -> String {
    let pool = match key.pool {
        Some(PoolKey(0, 0)) => "default pool".to_owned(),
        Some(PoolKey(a, b)) => format!("pool {a}.{b}"),
        None => "pool not recorded".to_owned(),
    };
    let stream = key.stream.map_or_else(|| "not recorded".to_owned(), |stream| stream.to_string());
    format!("{pool}, stream {stream}")
}
