//! Source files of two programs: the same program may lie in another folder on another machine.

use oomscope_units as units;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// The most pairs of files with one name that are weighed against each other. More than a thousand files of a name, such as
/// `__init__.py`, on both sides match only where their whole paths are equal.
const MAX_PAIRS: usize = 1 << 20;

/// For each file of the first program that of the second: with the same path, or else with the same name and most folders in
/// common, from the innermost on.
pub(super) fn match_files<'a>(a: &BTreeSet<&'a str>, b: &BTreeSet<&'a str>) -> BTreeMap<&'a str, &'a str> {
    let mut found: BTreeMap<&str, &str> = a.intersection(b).map(|&file| (file, file)).collect();
    let mut same_name: BTreeMap<&str, [Vec<&str>; 2]> = BTreeMap::new();
    for (side, files) in [(a, b), (b, a)].into_iter().enumerate() {
        for file in files.0.difference(files.1) {
            same_name.entry(units::basename(file)).or_default()[side].push(file);
        }
    }
    for [from, to] in same_name.values() {
        if MAX_PAIRS < from.len().saturating_mul(to.len()) {
            continue;
        }
        let mut pairs: Vec<(Reverse<usize>, &str, &str)> =
            from.iter().flat_map(|a| to.iter().map(|b| (Reverse(common_end(a, b)), *a, *b))).collect();
        pairs.sort_unstable();
        let mut taken: BTreeSet<&str> = BTreeSet::new();
        for (_, a, b) in pairs {
            if !found.contains_key(a) && taken.insert(b) {
                found.insert(a, b);
            }
        }
    }
    found
}

/// How many parts at the end of two paths are equal.
fn common_end(a: &str, b: &str) -> usize {
    let parts = |path| str::rsplit(path, ['/', '\\']);
    parts(a).zip(parts(b)).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matched(a: &[&'static str], b: &[&'static str]) -> Vec<(&'static str, &'static str)> {
        let set = |files: &[&'static str]| files.iter().copied().collect();
        match_files(&set(a), &set(b)).into_iter().collect()
    }

    #[test]
    fn a_program_is_known_in_another_folder() {
        assert_eq!(
            matched(
                &["/home/me/run/train.py", "C:\\me\\nn\\model.py"],
                &["/job/train.py", "/me/nn/model.py"]
            ),
            [("/home/me/run/train.py", "/job/train.py"), ("C:\\me\\nn\\model.py", "/me/nn/model.py")]
        );
        // The folders tell which of two is meant, and each is taken once.
        assert_eq!(
            matched(&["/a/enc/model.py", "/a/dec/model.py"], &["/b/dec/model.py", "/b/enc/model.py"]),
            [("/a/dec/model.py", "/b/dec/model.py"), ("/a/enc/model.py", "/b/enc/model.py")]
        );
        assert_eq!(matched(&["/a/x.py", "/b/x.py"], &["/a/x.py"]), [("/a/x.py", "/a/x.py")]);
    }
}
