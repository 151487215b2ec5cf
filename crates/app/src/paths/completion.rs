//! Which entries of a folder a text may mean, and how far it can be completed.

use super::folder::{Entry, EntryKind};
use std::path::MAIN_SEPARATOR;

/// The entries that a text may mean, best first: that name, names that start with it, names that contain it. Letters may
/// be large or small. Names that start with a dot are found by a text that does, too.
pub(super) fn matching(entries: &[Entry], leaf: &str, is_wanted: impl Fn(&Entry) -> bool) -> Vec<usize> {
    let sought = leaf.to_lowercase();
    let rank = |entry: &Entry| {
        let name = entry.name.to_lowercase();
        match () {
            () if entry.name == leaf => Some(0),
            () if name.starts_with(&sought) => Some(1),
            () if name.contains(&sought) => Some(2),
            () => None,
        }
    };
    let is_shown = |entry: &Entry| {
        (is_wanted(entry) && (leaf.starts_with('.') || !entry.name.starts_with('.'))) || entry.name == leaf
    };
    let mut found: Vec<(u8, usize)> = entries
        .iter()
        .enumerate()
        .filter(|(_, entry)| is_shown(entry))
        .filter_map(|(at, entry)| Some((rank(entry)?, at)))
        .collect();
    found.sort_unstable();
    found.into_iter().map(|(_, at)| at).collect()
}

/// The text that completes a name: as far as all names that start with it agree. `None` if that adds nothing.
pub(super) fn completed(entries: &[Entry], found: &[usize], leaf: &str) -> Option<String> {
    let all = || found.iter().filter_map(|&at| entries.get(at)).filter(|entry| entry.is_exact);
    let starts = |entry: &&Entry| entry.name.to_lowercase().starts_with(&leaf.to_lowercase());
    let mut starting = all().filter(starts).peekable();
    let Some(first) = starting.next() else {
        // The only one that contains it is meant.
        let mut containing = all();
        return containing.next().filter(|_| containing.next().is_none()).map(whole);
    };
    if starting.peek().is_none() {
        return Some(whole(first)).filter(|name| name != leaf);
    }
    let mut common = first.name.as_str();
    for entry in starting {
        common = shared_start(common, &entry.name);
    }
    (leaf.len() < common.len()).then(|| common.to_owned())
}

/// A name as it is written: behind that of a folder, another one may follow.
pub(super) fn whole(entry: &Entry) -> String {
    match entry.kind {
        EntryKind::Folder => format!("{}{MAIN_SEPARATOR}", entry.name),
        EntryKind::Snapshot | EntryKind::Other => entry.name.clone(),
    }
}

fn shared_start<'a>(a: &'a str, b: &str) -> &'a str {
    let same = a.char_indices().zip(b.chars()).find(|((_, a), b)| a != b);
    let end = same.map_or(a.len().min(b.len()), |((at, _), _)| at);
    &a[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(names: &[&str]) -> Vec<Entry> {
        let entry = |name: &&str| {
            let plain = name.trim_end_matches('/');
            let kind = match () {
                () if plain != *name => EntryKind::Folder,
                () if name.ends_with("pickle") => EntryKind::Snapshot,
                () => EntryKind::Other,
            };
            Entry {
                name: plain.to_owned(),
                is_exact: true,
                path: plain.into(),
                kind,
                size_bytes: None,
                modified: None,
            }
        };
        names.iter().map(entry).collect()
    }

    fn names(all: &[&str], leaf: &str) -> Vec<String> {
        let all = entries(all);
        let found = matching(&all, leaf, |entry| entry.kind != EntryKind::Other);
        found.into_iter().map(|at| all[at].name.clone()).collect()
    }

    fn tab(all: &[&str], leaf: &str) -> Option<String> {
        let all = entries(all);
        let found = matching(&all, leaf, |entry| entry.kind != EntryKind::Other);
        completed(&all, &found, leaf)
    }

    #[test]
    fn the_name_itself_comes_first_then_starts_then_parts() {
        let all = ["my_run.pickle", "Run2.pickle", "run/", "run", "a.pickle", ".run.pickle", "run.txt"];
        assert_eq!(names(&all, "run"), ["run", "run", "Run2.pickle", "my_run.pickle"]);
        assert_eq!(names(&all, ".r"), [".run.pickle"]);
        assert_eq!(names(&all, "run.txt"), ["run.txt"], "the whole name is that of any file");
        assert_eq!(names(&["b.pickle", "a.pickle", ".c.pickle", "d.txt"], ""), ["b.pickle", "a.pickle"]);
    }

    #[test]
    fn tab_writes_as_far_as_all_names_agree() {
        let all = ["step_10.pickle", "step_12.pickle", "other/"];
        assert_eq!(tab(&all, "s").as_deref(), Some("step_1"));
        assert_eq!(tab(&all, "step_1"), None);
        assert_eq!(tab(&all, "step_12").as_deref(), Some("step_12.pickle"));
        assert_eq!(tab(&all, "step_12.pickle"), None);
        assert_eq!(tab(&all, "o"), Some(format!("other{MAIN_SEPARATOR}")));
        assert_eq!(tab(&all, "ther"), Some(format!("other{MAIN_SEPARATOR}")), "the only one with it");
        assert_eq!(tab(&all, "_1"), None, "two have it");
        assert_eq!(tab(&all, "x"), None);
        assert_eq!(tab(&["äb.pickle", "äc.pickle"], "").as_deref(), Some("ä"));
        assert_eq!(tab(&["Case.pickle", "case2.pickle"], "c"), None);
    }
}
