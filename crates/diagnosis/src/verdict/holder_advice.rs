//! What to change about a variable that holds what nothing needs, in the program's own names.

use crate::finding::{Advice, Finding};
use crate::sentence::{Sentence, name, say};
use oomscope_analysis::HeldBy;

/// What a variable keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    /// Tensors.
    Tensors,
    /// Mostly what graphs have saved, for backward passes that may still come.
    Graphs,
    /// Mostly what graphs have saved, and no backward pass is to come for them.
    FinishedGraphs,
}

/// Advise first what lets go of what a variable holds.
pub(super) fn advise(verdict: &mut Finding, holder: &HeldBy, kept: Kept) {
    let change = change(holder, kept != Kept::Tensors);
    let (text, code) = change.map_or_else(|| (let_go(holder), None), |(text, code)| (text, Some(code)));
    let text = if kept == Kept::Graphs {
        say!("Unless a backward pass is still to come: {}", text.in_a_sentence())
    } else {
        text
    };
    let remedy = verdict.advice.first().and_then(|first| first.remedy);
    verdict.advice.insert(0, Advice { text, code, remedy });
}

fn let_go(holder: &HeldBy) -> Sentence {
    let way = name(&holder.variable);
    say!("Let go of what {} holds once it is over, or keep its tensors on the CPU.", way)
}

/// The change in words and code; `None` where a part of the way has no name, or what is held cannot be changed in place.
fn change(holder: &HeldBy, is_graph: bool) -> Option<(Sentence, String)> {
    let way = &holder.part;
    // Of a function that waits or a closure: `task → … → `seen` in collect`.
    let inner = way.rsplit_once('`').and_then(|(before, _)| Some(before.rsplit_once('`')?.1));
    let named = inner.unwrap_or(way);
    if named.contains('…') {
        return None;
    }
    if way.contains(" → its traceback") {
        let error = way.split(" → ").next().unwrap_or(way);
        let says = "Let go of the exception: its traceback keeps all variables of the functions that it came through.";
        return Some((says.into(), written("VAR = str(VAR)", error)));
    }
    if let Some(function) = way.strip_suffix(" (lru_cache)") {
        let short = function.rsplit('.').next().unwrap_or(function);
        return Some((
            say!("Limit what {} keeps of its results:", name(function)),
            written("@functools.lru_cache(maxsize=2)   # of VAR; VAR.cache_clear() empties it", short),
        ));
    }
    // One of several entries of a dictionary stands for all.
    let key = named.strip_prefix(holder.variable.as_str()).filter(|key| key.starts_with('['));
    let variable = match key.and_then(|key| key.split_once(']')) {
        Some((_, rest)) => [holder.variable.as_str(), "[name]", rest].concat(),
        None => named.to_owned(),
    };
    // The tensors themselves, not objects that have them.
    let is_plain = holder.entry.matches('[').count() == 1 && holder.entry.ends_with(']');
    let entry = if is_plain { None } else { Some(say!(" (in {})", name(&holder.entry))) };
    let of = name(&variable);
    let queue = variable.strip_suffix(".queue");
    if holder.collection.is_none() && holder.entry.is_empty() && is_graph {
        return Some((say!("Cut the graph of what {} has:", of), written("VAR = VAR.detach()", &variable)));
    }
    let (says, code) = match holder.collection.as_deref()? {
        "deque" if queue.is_some() => {
            let queue = queue.unwrap_or_default();
            return Some((
                say!("Limit how many wait in {}:", name(queue)),
                written("VAR = queue.Queue(maxsize=2)", queue),
            ));
        }
        "list" | "deque" if is_plain && is_graph => (
            say!("Keep what {} collects without its graph:", of),
            "VAR.append(value.detach())   # value.item() for a number",
        ),
        "list" | "deque" if is_plain => (
            say!("Keep what {} collects on the CPU, or less of it:", of),
            "VAR.append(value.detach().cpu())   # .to(device) where it is read",
        ),
        "dict" if is_plain => (
            say!("Keep what {} collects on the CPU, or take it out when it is over:", of),
            "VAR[key] = value.detach().cpu()   # or VAR.pop(key)",
        ),
        "list" => (
            say!("Take out of {} what is over, or put its tensors{} on the CPU:", of, entry),
            "del VAR[:-10]   # the last few alone",
        ),
        "deque" => (
            say!("Limit what {} keeps, or put its tensors{} on the CPU:", of, entry),
            "VAR = collections.deque(maxlen=10)",
        ),
        "dict" => (
            say!("Take out of {} what is over, or put its tensors{} on the CPU:", of, entry),
            "VAR.pop(key)   # once it is over",
        ),
        _ => return None,
    };
    Some((says, written(code, &variable)))
}

/// Code with the name of a variable.
fn written(code: &str, variable: &str) -> String {
    code.replace("VAR", variable)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(variable: &str, part: &str, entry: &str, collection: &str, is_graph: bool) -> Option<String> {
        let [variable, part, entry] = [variable, part, entry].map(str::to_owned);
        let collection = (!collection.is_empty()).then(|| collection.to_owned());
        let holder = HeldBy { variable, part, place: String::new(), entry, collection };
        change(&holder, is_graph).map(|(_, code)| code)
    }

    #[test]
    fn the_change_is_written_with_the_variable() {
        for (variable, entry, collection, is_graph, expected) in [
            ("losses", "[3]", "list", true, "losses.append(value.detach())"),
            ("self.history", "[3]", "list", false, "self.history.append(value.detach().cpu())"),
            ("task → … → `seen` in collect", "[3]", "list", true, "seen.append(value.detach())"),
            ("cb → `seen` of on_end", "[\"a\"]", "dict", false, "seen[key] = value.detach().cpu()"),
            ("inbox.queue", "[0][1]", "deque", false, "inbox = queue.Queue(maxsize=2)"),
            ("error → its traceback → `x` in f", "", "", false, "error = str(error)"),
            ("Bias.table (lru_cache)", "[…]", "", false, "@functools.lru_cache(maxsize=2)   # of table"),
            ("self.hidden", "", "", true, "self.hidden = self.hidden.detach()"),
            // Objects that have the tensors.
            ("self.storage", "[0].obs", "deque", false, "self.storage = collections.deque(maxlen=10)"),
            ("jobs", "[0].args[1]", "list", true, "del jobs[:-10]"),
            ("sessions", "[…][3][1]", "dict", false, "sessions.pop(key)"),
        ] {
            let code = code(variable, variable, entry, collection, is_graph);
            assert!(code.as_ref().is_some_and(|code| code.starts_with(expected)), "{variable}: {code:?}");
        }
        let of_all = code("seen", "seen[\"act0\"]", "[3]", "list", true);
        assert_eq!(
            of_all.as_deref(),
            Some("seen[name].append(value.detach())   # value.item() for a number")
        );
    }

    #[test]
    fn what_has_no_name_or_cannot_be_changed_has_no_code() {
        assert_eq!(code("_tls → …", "_tls → …", "[3]", "list", true), None);
        assert_eq!(code("log", "log", "[0][1]", "tuple", false), None);
        assert_eq!(code("state", "state", "", "", false), None);
    }
}
