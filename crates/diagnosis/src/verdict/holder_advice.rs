//! What to change about a variable that holds what nothing needs, in the program's own names.

use crate::finding::{Advice, Finding};
use crate::sentence::{Sentence, name, say};
use oomscope_analysis::HeldBy;

/// Advise first what lets go of what a variable holds, through graphs that were saved or as tensors. `is_over` says that no backward pass is to
/// come for them.
pub(super) fn advise(verdict: &mut Finding, holder: &HeldBy, is_graph: bool, is_over: bool) {
    let Some((text, code)) = change(holder, is_graph) else { return };
    let text = if is_graph && !is_over {
        say!("Unless a backward pass is still to come: {}", text.in_a_sentence())
    } else {
        text
    };
    let remedy = verdict.advice.first().and_then(|first| first.remedy);
    verdict.advice.insert(0, Advice { text, code: Some(code), remedy });
}

/// The change in words and code; `None` where a part of the way has no name.
fn change(holder: &HeldBy, is_graph: bool) -> Option<(Sentence, String)> {
    let way = &holder.part;
    // Of a function that waits or a closure: `task → … → `seen` in collect`.
    let inner = way.rsplit_once('`').and_then(|(before, _)| Some(before.rsplit_once('`')?.1));
    let variable = inner.unwrap_or(way);
    if variable.contains('…') {
        return None;
    }
    if way.contains(" → its traceback") {
        let error = way.split(" → ").next().unwrap_or(way);
        return Some((
            say!(
                "Let go of the exception: its traceback keeps all variables of the functions that it came through."
            ),
            written("VAR = str(VAR)   # or del VAR", error),
        ));
    }
    if let Some(function) = way.strip_suffix(" (lru_cache)") {
        let short = function.rsplit('.').next().unwrap_or(function);
        return Some((
            say!("Limit what {} keeps of its results:", name(function)),
            written("@functools.lru_cache(maxsize=2)   # of VAR; VAR.cache_clear() empties it", short),
        ));
    }
    let of = name(variable);
    Some(match holder.collection.as_deref() {
        Some("deque") if variable.ends_with(".queue") => {
            let queue = variable.trim_end_matches(".queue");
            (say!("Limit how many wait in {}:", name(queue)), written("VAR = queue.Queue(maxsize=2)", queue))
        }
        Some("list" | "deque") if is_graph => (
            say!("Keep what {} collects without its graph:", of),
            written("VAR.append(value.detach())   # value.item() for a number", variable),
        ),
        Some("list" | "deque") => (
            say!("Keep what {} collects on the CPU, without a graph, or the last few alone:", of),
            written("VAR.append(value.detach().cpu())   # del VAR[:-10]", variable),
        ),
        Some("dict") => (
            say!("Keep what {} collects on the CPU, without a graph, or empty it when it is over:", of),
            written("VAR[key] = value.detach().cpu()   # VAR.clear()", variable),
        ),
        _ if is_graph => (say!("Cut the graph of what {} has:", of), written("VAR = VAR.detach()", variable)),
        _ => (say!("Let go of what {} has once it is over:", of), written("VAR = None", variable)),
    })
}

/// Code with the name of a variable.
fn written(code: &str, variable: &str) -> String {
    code.replace("VAR", variable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_change_is_written_with_the_variable() {
        let code = |variable: &str, collection: Option<&str>, is_graph| {
            let collection = collection.map(str::to_owned);
            let holder = HeldBy {
                variable: String::new(),
                part: variable.to_owned(),
                place: String::new(),
                collection,
            };
            change(&holder, is_graph).map(|(_, code)| code)
        };
        let list = Some("list");
        for (variable, collection, is_graph, expected) in [
            ("losses", list, true, "losses.append(value.detach())"),
            ("self.history", list, false, "self.history.append(value.detach().cpu())"),
            ("task → … → `seen` in collect", list, false, "seen.append(value.detach().cpu())"),
            ("cb → `seen` of on_end", Some("dict"), false, "seen[key] = value.detach().cpu()"),
            ("inbox.queue", Some("deque"), false, "inbox = queue.Queue(maxsize=2)"),
            ("error → its traceback → `x` in f", None, false, "error = str(error)"),
            ("Bias.table (lru_cache)", None, false, "@functools.lru_cache(maxsize=2)   # of table"),
            ("state", None, true, "state = state.detach()"),
            ("state", None, false, "state = None"),
            ("task → … → `seen` in collect", list, true, "seen.append(value.detach())"),
        ] {
            let code = code(variable, collection, is_graph);
            assert!(code.is_some_and(|code| code.starts_with(expected)), "{variable}");
        }
        assert_eq!(code("_tls → …", list, true), None);
    }
}
