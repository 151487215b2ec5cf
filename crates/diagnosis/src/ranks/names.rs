//! The ranks of files, from their names.

use std::path::{Path, PathBuf};

/// A number that is no rank is mostly a process id or a time, which are far larger than this for each file.
const MAX_PER_FILE: u64 = 16;

/// The rank that each name of a job's files tells; `None` for all where the names tell none.
///
/// A number after the word *rank* is the rank (`rank3_memory.pickle`, `snapshot_oom_rank-3`), unless the word before is
/// *local*. Without the word in any name, it is the first number that is different in every name and small
/// (`memory_snapshot_0_1700000000.pickle`).
pub fn ranks_of(names: &[String]) -> Vec<Option<u32>> {
    let worded: Vec<Option<u32>> = names.iter().map(|name| after_word(name)).collect();
    if worded.iter().any(Option::is_some) {
        return worded;
    }
    by_place(names).unwrap_or(worded)
}

/// The paths of files without the directories that all of them have in common.
pub(super) fn names_of(paths: &[PathBuf]) -> Vec<String> {
    let mut common: Option<&Path> = None;
    for path in paths {
        let parent = path.parent().unwrap_or(Path::new(""));
        common = Some(match common {
            None => parent,
            Some(known) => {
                known.ancestors().find(|folder| parent.starts_with(folder)).unwrap_or(Path::new(""))
            }
        });
    }
    let common = common.unwrap_or(Path::new(""));
    paths.iter().map(|path| path.strip_prefix(common).unwrap_or(path).display().to_string()).collect()
}

/// The number after the last word *rank* that has one.
fn after_word(name: &str) -> Option<u32> {
    let lower = name.to_ascii_lowercase();
    let numbers = lower.match_indices("rank").filter(|&(at, _)| {
        let before = lower[..at].trim_end_matches(['-', '_', '.', ' ']);
        !before.ends_with("local")
    });
    let number = |(at, word): (usize, &str)| {
        let rest = lower[at + word.len()..].strip_prefix(['-', '_', '.', '=', ' ']);
        let rest = rest.unwrap_or(&lower[at + word.len()..]);
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        rest[..digits].parse().ok()
    };
    numbers.filter_map(number).last()
}

/// The first number of the names that can be a rank: it stands at the same place in all of them.
fn by_place(names: &[String]) -> Option<Vec<Option<u32>>> {
    let parsed: Vec<(Vec<&str>, Vec<u64>)> = names.iter().map(|name| parts(name)).collect();
    let (texts, numbers) = parsed.first()?;
    if names.len() < 2 || parsed.iter().any(|(others, _)| others != texts) {
        return None;
    }
    let most = MAX_PER_FILE * names.len() as u64;
    let is_rank = |place: &usize| {
        let mut values: Vec<u64> = parsed.iter().map(|(_, numbers)| numbers[*place]).collect();
        values.sort_unstable();
        values.windows(2).all(|pair| pair[0] < pair[1]) && values.iter().all(|&value| value < most)
    };
    let place = (0..numbers.len()).find(is_rank)?;
    Some(parsed.iter().map(|(_, numbers)| u32::try_from(numbers[place]).ok()).collect())
}

/// The texts of a name around its numbers, and the numbers; those that are too large for a number are the largest.
fn parts(name: &str) -> (Vec<&str>, Vec<u64>) {
    let texts = name.split(|c: char| c.is_ascii_digit()).filter(|text| !text.is_empty()).collect();
    let numbers = name.split(|c: char| !c.is_ascii_digit()).filter(|text| !text.is_empty());
    (texts, numbers.map(|digits| digits.parse().unwrap_or(u64::MAX)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranks(names: &[&str]) -> Vec<Option<u32>> {
        ranks_of(&names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn the_word_rank_tells_it() {
        for name in [
            "rank3.pickle",
            "rank3_memory_snapshot.pickle",
            "snapshot_oom_rank-3.pickle",
            "snapshot_oom_RANK_3.pickle.gz",
            "iteration_10/rank3_memory.pickle",
            "memory-rank=3-of-8.pickle",
            "global_rank3_local_rank1.pickle",
            "ranks_8/rank.3.pickle",
        ] {
            assert_eq!(ranks(&[name]), [Some(3)], "{name}");
        }
        assert_eq!(ranks(&["franklin.pickle", "rank.pickle"]), [None, None]);
    }

    #[test]
    fn without_the_word_it_is_the_small_number_that_is_different_everywhere() {
        let names = ["memory_snapshot_0_1700000003.pickle", "memory_snapshot_1_1700000001.pickle"];
        assert_eq!(ranks(&names), [Some(0), Some(1)]);
        assert_eq!(ranks(&["step10/gpu_7.pkl", "step10/gpu_2.pkl"]), [Some(7), Some(2)]);
        // Process ids, one number for all, names of two kinds, and a single file tell nothing.
        assert_eq!(ranks(&["node_81234.pkl", "node_81235.pkl"]), [None, None]);
        assert_eq!(ranks(&["a_1.pkl", "a_1.pkl"]), [None, None]);
        assert_eq!(ranks(&["a_1.pkl", "b_2.pkl"]), [None, None]);
        assert_eq!(ranks(&["snapshot_4.pkl"]), [None]);
        assert_eq!(ranks(&["x_99999999999999999999999.pkl", "x_1.pkl"]), [None, None]);
        assert_eq!(ranks(&[]), []);
    }

    fn named(paths: &[&str]) -> Vec<String> {
        names_of(&paths.iter().map(PathBuf::from).collect::<Vec<_>>())
    }

    #[test]
    fn names_leave_out_what_all_paths_have_in_common() {
        assert_eq!(
            named(&["/runs/a/rank0.pickle", "/runs/a/rank1.pickle"]),
            ["rank0.pickle", "rank1.pickle"]
        );
        assert_eq!(
            named(&["/runs/rank_0/m.pickle", "/runs/rank_1/m.pickle"]),
            ["rank_0/m.pickle", "rank_1/m.pickle"]
        );
        assert_eq!(named(&["a/rank0.pickle"]), ["rank0.pickle"]);
        assert_eq!(named(&["rank0.pickle", "b/rank1.pickle"]), ["rank0.pickle", "b/rank1.pickle"]);
    }
}
