//! Memory as a tree of the user's own lines: which call led to it, and from where.

use super::CodeSites;
use crate::finding::{CodeRow, CodeTree, Role, StackBytes};
use foldhash::HashSet;
use oomscope_analysis::FrameKey;
use oomscope_model::Bytes;
use oomscope_program::share::{SAME, TRACE};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Branches of a tree, about at most: as many as fit on a screen with the statement above them.
const MAX_ROWS: usize = 11;

/// Lines of a path, at most. A path of a program is far shorter; one of thousands would be a recursion through generated
/// code, or a file that wants to exhaust the call stack of its reader.
const MAX_LINES: usize = 100;

/// A line with everything below it that may get a row.
#[derive(Debug)]
struct Node {
    bytes: Bytes,
    count: usize,
    children: BTreeMap<Line, Self>,
}

/// A line of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Line {
    Own(FrameKey),
    /// The innermost line of a package that the own line above it called.
    Package(FrameKey),
    /// Stacks without a line that can be named.
    None,
}

/// A stack, and what of its path is below a node.
type Below<'a> = (&'a StackBytes, &'a [Line]);

impl Node {
    /// A node without those below it.
    fn bare(stacks: &[Below<'_>]) -> Self {
        let bytes = stacks.iter().map(|(row, _)| row.bytes).sum::<Bytes>();
        Self { bytes, count: stacks.iter().map(|(row, _)| row.count).sum(), children: BTreeMap::new() }
    }

    /// A node with those below it. What is below a branch that is a trace of `all` bytes gets no row, and no nodes: thousands of
    /// long stacks may differ in their outermost line.
    fn of(stacks: &[Below<'_>], all: Bytes) -> Self {
        let mut node = Self::bare(stacks);
        let mut branches: BTreeMap<Line, Vec<Below<'_>>> = BTreeMap::new();
        for &(row, path) in stacks {
            if let Some((line, rest)) = path.split_first() {
                branches.entry(*line).or_default().push((row, rest));
            }
        }
        for (line, stacks) in branches {
            let bare = Self::bare(&stacks);
            let has_rows = TRACE.is_reached(bare.bytes, all) || node.is_nearly(bare.bytes);
            node.children.insert(line, if has_rows { Self::of(&stacks, all) } else { bare });
        }
        node
    }

    /// Whether a child of so many bytes has all but a few.
    fn is_nearly(&self, bytes: Bytes) -> bool {
        SAME.is_reached(bytes, self.bytes)
    }

    /// The children, most bytes first.
    fn sorted(&self) -> Vec<(Line, &Self)> {
        let mut children: Vec<(Line, &Self)> =
            self.children.iter().map(|(&line, node)| (line, node)).collect();
        children.sort_by_key(|(line, node)| (Reverse(node.bytes), *line));
        children
    }

    /// Collect the bytes of all branches below, without the lines that are joined with the one above them.
    fn branch_sizes(&self, sizes: &mut Vec<Bytes>) {
        for child in self.children.values() {
            sizes.push(child.bytes);
            let mut node = child;
            while let Some((_, only)) = node.only_child() {
                node = only;
            }
            node.branch_sizes(sizes);
        }
    }

    /// The only child that matters, if there is just one: it has all bytes but a few.
    fn only_child(&self) -> Option<(Line, &Self)> {
        let first = self.sorted().into_iter().next()?;
        self.is_nearly(first.1.bytes).then_some(first)
    }
}

/// The own lines that led to the memory of some stacks. Lines that all of it has in common are in one row.
pub(crate) fn own_tree(
    code: &CodeSites<'_>,
    title: &'static str,
    role: Role,
    stacks: &[StackBytes],
) -> CodeTree {
    let all_bytes = stacks.iter().map(|row| row.bytes).sum::<Bytes>();
    let paths: Vec<Vec<Line>> = stacks.iter().map(|row| path(code, row)).collect();
    let below: Vec<Below<'_>> = stacks.iter().zip(paths.iter().map(Vec::as_slice)).collect();
    let root = Node::of(&below, all_bytes);
    let mut branches = Vec::new();
    root.branch_sizes(&mut branches);
    branches.sort_unstable_by_key(|&bytes| Reverse(bytes));
    // A branch is never larger than the one that it is in, so the largest ones make a tree.
    let smallest = branches.get(MAX_ROWS - 1).copied().unwrap_or_default();
    let mut rows = Vec::new();
    Writer { code, role, smallest, all_bytes, rows: &mut rows }.branches(&root, 0);
    CodeTree { title, bytes: root.bytes, rows }
}

/// The own lines of a stack from the outermost one, then the package line that the innermost one called.
fn path(code: &CodeSites<'_>, row: &StackBytes) -> Vec<Line> {
    let mut own = code.own_path(row.stack);
    own.reverse();
    // Recursion would make a branch for each depth.
    let mut seen = HashSet::default();
    own.retain(|&line| seen.insert(line));
    // The ends tell most: where the program was, and the line that asked for the memory.
    if MAX_LINES < own.len() {
        own.drain(MAX_LINES / 2..own.len() - MAX_LINES / 2);
    }
    let mut path: Vec<Line> = own.into_iter().map(Line::Own).collect();
    let lines = code.lines(row.stack);
    match (path.is_empty(), &lines[..]) {
        (false, [_, package]) | (true, [package]) => path.push(Line::Package(*package)),
        (true, _) => path.push(Line::None),
        (false, _) => {}
    }
    path
}

/// Bytes of several branches.
fn sum(branches: &[(Line, &Node)]) -> Bytes {
    branches.iter().map(|(_, child)| child.bytes).sum::<Bytes>()
}

struct Writer<'a> {
    code: &'a CodeSites<'a>,
    role: Role,
    /// The bytes of the smallest branch that gets a row of its own.
    smallest: Bytes,
    all_bytes: Bytes,
    rows: &'a mut Vec<CodeRow>,
}

impl Writer<'_> {
    fn has_row(&self, bytes: Bytes) -> bool {
        self.smallest <= bytes && TRACE.is_reached(bytes, self.all_bytes)
    }

    /// Write the children of a node; small ones together.
    fn branches(&mut self, node: &Node, depth: usize) {
        let (large, small): (Vec<_>, Vec<_>) =
            node.sorted().into_iter().partition(|(_, child)| self.has_row(child.bytes));
        for (line, child) in large {
            self.branch(line, child, depth);
        }
        let bytes = sum(&small);
        // One line that is left out is no "other lines" that would be worth a row.
        if !self.has_row(bytes) || small.len() < 2 {
            return;
        }
        // What has no line is none of the other lines.
        let (own, none): (Vec<_>, Vec<_>) = small.into_iter().partition(|(line, _)| *line != Line::None);
        if let [(line, child)] = own[..] {
            self.branch(line, child, depth);
        } else if !own.is_empty() {
            let count = own.iter().map(|(_, child)| child.count).sum();
            let (lines, bytes) = (Vec::new(), sum(&own));
            self.rows.push(CodeRow { depth, lines, is_package: false, is_rest: true, bytes, count });
        }
        for (line, child) in none {
            self.branch(line, child, depth);
        }
    }

    /// Write a line, joined with those below it that have nearly all of its bytes.
    fn branch(&mut self, line: Line, node: &Node, depth: usize) {
        let (mut lines, mut node, mut is_package) = (Vec::new(), node, false);
        let mut next = Some(line);
        while let Some(line) = next {
            match line {
                Line::Own(key) => lines.push(self.code.site(key, node.bytes, node.count, self.role)),
                Line::Package(key) => {
                    lines.push(self.code.site(key, node.bytes, node.count, self.role));
                    is_package = true;
                }
                Line::None => {}
            }
            next = None;
            if let Some((below, child)) = node.only_child() {
                (next, node) = (Some(below), child);
            }
        }
        let (bytes, count) = (node.bytes, node.count);
        self.rows.push(CodeRow { depth, lines, is_package, is_rest: false, bytes, count });
        self.branches(node, depth + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::by_stack;
    use oomscope_fixtures::stacks::Recording;

    /// The rows as text: depth, lines, bytes.
    fn rows(tree: &CodeTree) -> Vec<(usize, String, i64)> {
        let text = |row: &CodeRow| row.lines.iter().map(|site| site.place()).collect::<Vec<_>>().join(" > ");
        tree.rows.iter().map(|row| (row.depth, text(row), row.bytes.0)).collect()
    }

    #[test]
    fn lines_in_common_are_one_row_and_packages_stand_below_the_line_that_called_them() {
        let mut recording = Recording::default();
        let a = recording.stack(&["/x/torch/nn.py:1 linear", "model.py:3 forward", "train.py:9 main"]);
        let b = recording.stack(&["/x/torch/nn.py:1 linear", "model.py:4 forward", "train.py:9 main"]);
        let package = recording.stack(&[
            "/x/torch/nn.py:1 linear",
            "/x/site-packages/lib/llama.py:7 attend",
            "/x/site-packages/lib/llama.py:8 forward",
            "model.py:4 forward",
            "train.py:9 main",
        ]);
        let snapshot = recording.finish();
        let code = CodeSites::new(&snapshot);
        let stacks = by_stack([(a, 600), (b, 100), (package, 300)]);
        let tree = own_tree(&code, "In use", Role::Live, &stacks);
        let found = rows(&tree);
        let expected =
            [(0, "train.py:9", 1000), (1, "model.py:3", 600), (1, "model.py:4", 400), (2, "llama.py:7", 300)];
        let found: Vec<_> =
            found.iter().map(|(depth, text, bytes)| (*depth, text.as_str(), *bytes)).collect();
        assert_eq!(found, expected);
        assert!(tree.rows[3].is_package && !tree.rows[2].is_package);
    }

    #[test]
    fn the_recorder_that_runs_a_program_is_no_line_of_it() {
        let mut recording = Recording::default();
        let stack = recording.stack(&[
            "/me/data.py:3 load",
            "/me/python/oomscope/_recording.py:121 steps",
            "/me/train.py:9 <module>",
            "/me/python/oomscope/_programs.py:39 run_script",
            "/me/python/oomscope/_run.py:85 run",
            "/me/python/oomscope/__main__.py:13 main",
            "/me/python/oomscope/__main__.py:24 <module>",
            "<frozen runpy>:88 _run_code",
        ]);
        let snapshot = recording.finish();
        let code = CodeSites::new(&snapshot);
        let tree = own_tree(&code, "In use", Role::Live, &by_stack([(stack, 5)]));
        assert_eq!(rows(&tree), [(0, "train.py:9 > data.py:3".to_owned(), 5)]);
        assert_eq!(code.outermost_function(stack), Some("<module>"));
    }

    #[test]
    fn a_path_of_very_many_lines_keeps_its_ends() {
        let mut recording = Recording::default();
        let frames: Vec<String> = (0..50_000).map(|line| format!("own.py:{line} f{line}")).collect();
        let frames: Vec<&str> = frames.iter().map(String::as_str).collect();
        let deep = recording.stack(&frames);
        let snapshot = recording.finish();
        let tree = own_tree(&CodeSites::new(&snapshot), "In use", Role::Live, &by_stack([(deep, 5)]));
        let found = rows(&tree);
        let (depth, text, bytes) = &found[0];
        assert_eq!((found.len(), *depth, *bytes), (1, 0, 5));
        assert!(text.starts_with("own.py:49999 > own.py:49998") && text.ends_with("own.py:1 > own.py:0"));
        assert_eq!(text.matches('>').count(), MAX_LINES - 1);
    }

    #[test]
    fn memory_without_own_code_is_a_row_without_lines() {
        let mut recording = Recording::default();
        let none = recording.stack(&["??:0 torch::autograd::Engine::thread_main"]);
        let snapshot = recording.finish();
        let tree = own_tree(&CodeSites::new(&snapshot), "In use", Role::Live, &by_stack([(none, 5)]));
        assert_eq!(rows(&tree), [(0, String::new(), 5)]);
        assert!(!tree.rows[0].is_rest);
    }

    #[test]
    fn many_small_lines_are_other_lines_and_not_memory_without_any() {
        let mut recording = Recording::default();
        let lines: Vec<String> = (0..60).map(|line| format!("own.py:{line} layer{line}")).collect();
        let stacks: Vec<_> = lines.iter().map(|line| recording.stack(&[line.as_str()])).collect();
        let none = recording.stack(&["??:0 torch::autograd::Engine::thread_main"]);
        let snapshot = recording.finish();
        let code = CodeSites::new(&snapshot);
        let equal = || stacks.iter().map(|&stack| (stack, 100));
        let tree = own_tree(&code, "In use", Role::Live, &by_stack(equal()));
        assert_eq!(rows(&tree), [(0, String::new(), 6000)]);
        assert!(tree.rows[0].is_rest, "each has a line of its own");
        let with_little = own_tree(&code, "In use", Role::Live, &by_stack(equal().chain([(none, 60)])));
        assert_eq!(rows(&with_little), [(0, String::new(), 6000), (0, String::new(), 60)]);
        assert_eq!(with_little.rows.iter().map(|row| row.is_rest).collect::<Vec<_>>(), [true, false]);
        let with_much = own_tree(&code, "In use", Role::Live, &by_stack(equal().chain([(none, 6000)])));
        let is_rest: Vec<bool> = with_much.rows.iter().map(|row| row.is_rest).collect();
        assert_eq!(is_rest, [false, true]);
    }
}
