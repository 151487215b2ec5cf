//! Lines of code of two programs, matched across edits.

use super::files::match_files;
use super::numbers::pair_lines;
use std::collections::{BTreeMap, BTreeSet};

/// A line of code that allocates.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct CodeLine {
    /// Its file, as it was recorded; empty for compiled code, and without a stack.
    pub file: String,
    /// The function that it lies in.
    pub function: String,
    /// Its number; 0 if it has none.
    pub line: i64,
    /// The functions that it was seen to call, ascending; empty if none is known.
    pub calls: Vec<String>,
}

/// For each line of the first program the same line of the second: it lies in the same function of the same file, calls a
/// function that both call, and moved about as far as its neighbours.
pub fn match_lines(a: &[CodeLine], b: &[CodeLine]) -> Vec<Option<usize>> {
    let same_file = match_files(&files(a), &files(b));
    let of_b = by_function(b, Some);
    let mut found = vec![None; a.len()];
    for (function, from) in by_function(a, |file| same_file.get(file).copied()) {
        let Some(to) = of_b.get(&function) else { continue };
        let numbers =
            |lines: &[CodeLine], of: &[usize]| -> Vec<i64> { of.iter().map(|&i| lines[i].line).collect() };
        let fits = |i: usize, j: usize| calls_alike(&a[from[i]], &b[to[j]]);
        for (i, j) in pair_lines(&numbers(a, &from), &numbers(b, to), fits) {
            found[from[i]] = Some(to[j]);
        }
    }
    found
}

fn files(lines: &[CodeLine]) -> BTreeSet<&str> {
    lines.iter().map(|line| line.file.as_str()).collect()
}

/// The lines of each function, by file and name, ascending. Files get the names that `file_of` has for them.
fn by_function<'a>(
    lines: &'a [CodeLine],
    file_of: impl Fn(&'a str) -> Option<&'a str>,
) -> BTreeMap<(&'a str, &'a str), Vec<usize>> {
    let mut found: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    for (i, line) in lines.iter().enumerate() {
        if let Some(file) = file_of(&line.file) {
            found.entry((file, &line.function)).or_default().push(i);
        }
    }
    for of in found.values_mut() {
        of.sort_by_key(|&i| lines[i].line);
    }
    found
}

/// Whether two lines may be the same by what they call.
fn calls_alike(a: &CodeLine, b: &CodeLine) -> bool {
    debug_assert!(b.calls.is_sorted(), "calls ascend");
    a.calls.is_empty() || b.calls.is_empty() || a.calls.iter().any(|call| b.calls.binary_search(call).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> CodeLine {
        let (place, calls) = text.split_once(" > ").unwrap_or((text, ""));
        let (file, rest) = place.split_once(':').expect("a file");
        let (line, function) = rest.split_once(' ').expect("a function");
        CodeLine {
            file: file.to_owned(),
            function: function.to_owned(),
            line: line.parse().expect("a number"),
            calls: calls.split_whitespace().map(str::to_owned).collect(),
        }
    }

    fn matched(a: &[&str], b: &[&str]) -> Vec<Option<usize>> {
        let lines = |texts: &[&str]| texts.iter().map(|text| line(text)).collect::<Vec<_>>();
        match_lines(&lines(a), &lines(b))
    }

    #[test]
    fn a_line_is_known_by_its_file_its_function_and_its_place() {
        let a = ["/a/train.py:10 main", "/a/train.py:55 attention", "/a/model.py:55 attention"];
        let b = ["/b/train.py:57 attention", "/b/train.py:10 main", "/b/other.py:55 attention"];
        assert_eq!(matched(&a, &b), [Some(1), Some(0), None]);
    }

    #[test]
    fn a_line_that_calls_something_else_is_another_line() {
        let a = ["m.py:10 f > linear", "m.py:11 f > softmax"];
        // A line before the first was added, and calls a dropout.
        let b = ["m.py:10 f > dropout", "m.py:11 f > linear", "m.py:12 f > softmax"];
        assert_eq!(matched(&a, &b), [Some(1), Some(2)]);
        // Without the functions, the numbers alone decide.
        assert_eq!(matched(&["m.py:10 f", "m.py:11 f"], &b), [Some(0), Some(1)]);
    }
}
