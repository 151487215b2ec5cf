//! Live memory of both sides by stack, in the terms of the second side.

use super::lines::{CodeLine, match_lines};
use super::side::Side;
use crate::{CallTree, FrameKey, FrameNames, NodeIx, site_frame};
use foldhash::HashMap;
use oomscope_model::{Snapshot, StackId};
use std::collections::BTreeMap;

/// The most frames of a stack. Deeper stacks are mostly runaway recursion, and would make a picture of unlimited height.
const MAX_FRAMES: usize = 256;

/// The remark behind a frame that only the first side has, where another frame of the second side reads alike.
const OF_FIRST: &str = " (A)";

/// The memory of one stack on both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StackPair {
    /// Its frames of the program and of packages, outermost first, each by its name on the second side if that has it.
    pub frames: Vec<String>,
    /// Live bytes on either side.
    pub bytes: [i128; 2],
}

/// The live memory of both sides as one tree of frames. Frames of torch and of compiled code are left out; a stack without
/// others keeps the one that names it.
#[derive(Debug)]
pub struct StackChanges {
    /// The frames of both sides. Those of the second side keep their keys in its own names.
    pub names: FrameNames,
    /// The stacks of both sides, callers first.
    pub tree: CallTree,
    /// The live bytes of either side, by node with everything below it.
    pub bytes: [Vec<i128>; 2],
    /// The bytes of the side that has more of a stack, by node with everything below it.
    pub larger: Vec<i128>,
    /// The live bytes of either side whose stacks end at a node.
    own: [Vec<i128>; 2],
    /// The stack with most live bytes of the second side, by node with everything below it.
    heaviest: Vec<Option<(i128, StackId)>>,
    /// The node of each stack of the second side that has live bytes, by ascending stacks.
    nodes: Vec<(StackId, NodeIx)>,
}

/// Compare the live memory of both sides by stack.
pub fn compare_stacks(a: &Side<'_>, b: &Side<'_>) -> StackChanges {
    let [in_a, in_b] = [a, b].map(|side| side.recording.snapshot());
    let (names_a, mut names) = (FrameNames::new(in_a), FrameNames::new(in_b));
    let known = keys_of_first([in_a, in_b], &names_a, &mut names);
    let stacks = [by_stack(a), by_stack(b)];
    let of_a = stacks[0].keys().map(|&stack| path(in_a, &names_a, stack));
    let of_a = of_a.map(|path| path.into_iter().map(|key| known[key.index()]).collect());
    let of_b = stacks[1].keys().map(|&stack| path(in_b, &names, stack));
    let paths: Vec<Vec<FrameKey>> = of_a.chain(of_b).collect();
    let tree = CallTree::of_paths(&paths, &names);
    let mut own = [0, 1].map(|_| vec![0i128; tree.len()]);
    let mut heaviest = vec![None; tree.len()];
    let mut nodes = Vec::with_capacity(stacks[1].len());
    let (bytes_a, bytes_b) = (stacks[0].values().map(|&bytes| (bytes, None)), &stacks[1]);
    let bytes_b = bytes_b.iter().map(|(&stack, &bytes)| (bytes, Some(stack)));
    for (at, (bytes, stack)) in (0..).map(StackId).zip(bytes_a.chain(bytes_b)) {
        let node = tree.leaf_of(at).unwrap_or(NodeIx::ROOT);
        let sum = &mut own[usize::from(stack.is_some())][node.index()];
        *sum = sum.saturating_add(bytes);
        let heaviest = &mut heaviest[node.index()];
        *heaviest = heavier(*heaviest, stack.map(|stack| (bytes, stack)));
        nodes.extend(stack.map(|stack| (stack, node)));
    }
    for node in (1..tree.len()).rev() {
        let parent = tree.parent(NodeIx(node as u32)).unwrap_or(NodeIx::ROOT).index();
        heaviest[parent] = heavier(heaviest[parent], heaviest[node]);
    }
    let larger = own[0].iter().zip(&own[1]).map(|(&a, &b)| a.max(b).max(0)).collect();
    let (bytes, larger) = (own.clone().map(|own| tree.summed_up(own)), tree.summed_up(larger));
    StackChanges { names, tree, bytes, larger, own, heaviest, nodes }
}

/// The stack that weighs more; of equal ones, the first.
fn heavier(a: Option<(i128, StackId)>, b: Option<(i128, StackId)>) -> Option<(i128, StackId)> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if a.0 < b.0 { b } else { a }),
        (a, b) => a.or(b),
    }
}

impl StackChanges {
    /// Every stack with its bytes, callers first.
    pub fn pairs(&self) -> impl Iterator<Item = StackPair> + '_ {
        let nodes = (0..self.tree.len() as u32).map(NodeIx);
        nodes.filter_map(|node| {
            let bytes = [0, 1].map(|side: usize| self.own[side][node.index()]);
            let path = self.tree.path(node);
            let frames = path[1..].iter().map(|&node| self.names.get(self.tree.frame(node)).label.clone());
            (bytes != [0; 2]).then(|| StackPair { frames: frames.collect(), bytes })
        })
    }

    /// The live bytes of either side in or below a node.
    pub fn bytes_of(&self, node: NodeIx) -> [i128; 2] {
        [0, 1].map(|side: usize| self.bytes[side].get(node.index()).copied().unwrap_or(0))
    }

    /// The change below a node as a part of its [`larger`](Self::larger) bytes: 1 where only the second side has memory, −1
    /// where only the first has.
    pub fn part(&self, node: NodeIx) -> f32 {
        let [a, b] = self.bytes_of(node);
        let larger = self.larger.get(node.index()).copied().unwrap_or(0);
        if larger <= 0 { 0.0 } else { (b.saturating_sub(a) as f64 / larger as f64).clamp(-1.0, 1.0) as f32 }
    }

    /// The node at which a stack of the second side ends; `None` if it has no live bytes.
    pub fn node_of(&self, stack: StackId) -> Option<NodeIx> {
        let at = self.nodes.binary_search_by_key(&stack, |&(stack, _)| stack).ok()?;
        self.nodes.get(at).map(|&(_, node)| node)
    }

    /// The stack with most live bytes of the second side below a node.
    pub fn heaviest(&self, node: NodeIx) -> Option<StackId> {
        self.heaviest.get(node.index()).copied().flatten().map(|(_, stack)| stack)
    }
}

fn by_stack(side: &Side<'_>) -> BTreeMap<StackId, i128> {
    let mut sums: BTreeMap<StackId, i128> = BTreeMap::new();
    for id in side.recording.lifetimes.live_at(side.moment) {
        let sum = sums.entry(side.recording.stack(id)).or_default();
        *sum = sum.saturating_add(i128::from(side.recording.size(id)));
    }
    sums
}

/// The frames of a stack, outermost first.
fn path(snapshot: &Snapshot, names: &FrameNames, stack: StackId) -> Vec<FrameKey> {
    let outermost_first = snapshot.stacks.frames(stack).iter().rev().map(|&frame| names.key(frame));
    let kept: Vec<FrameKey> =
        outermost_first.filter(|&key| !names.get(key).is_internal).take(MAX_FRAMES).collect();
    if kept.is_empty() { vec![names.site(snapshot, stack)] } else { kept }
}

/// The keys of the first file's frames among the names of the second, which get those that it lacks.
fn keys_of_first(snapshots: [&Snapshot; 2], first: &FrameNames, names: &mut FrameNames) -> Vec<FrameKey> {
    if std::ptr::eq(snapshots[0], snapshots[1]) {
        return (0..first.all().len() as u32).map(FrameKey).collect();
    }
    let same = same_frames(snapshots, [first, names]);
    let mut by_label: HashMap<String, FrameKey> = HashMap::default();
    for (key, name) in (0..).map(FrameKey).zip(names.all()) {
        by_label.entry(name.label.clone()).or_insert(key);
    }
    let keys = (0..).map(FrameKey).zip(first.all()).map(|(key, name)| {
        let alike = by_label.get(&name.label).copied();
        // Lines are matched above; other frames are the same if they read alike.
        let found = same.get(&key).copied().or(alike.filter(|_| name.is_internal));
        let remark = if alike.is_some() { OF_FIRST } else { "" };
        found.unwrap_or_else(|| names.add_foreign(name, remark))
    });
    keys.collect()
}

/// The frames of the first file that the second has as well, matched across edits.
fn same_frames(snapshots: [&Snapshot; 2], names: [&FrameNames; 2]) -> HashMap<FrameKey, FrameKey> {
    let lines = [0, 1].map(|side| own_lines(snapshots[side], names[side]));
    let [codes_a, codes_b] =
        [0, 1].map(|side: usize| lines[side].iter().map(|(_, line)| line.clone()).collect::<Vec<CodeLine>>());
    let pairs = match_lines(&codes_a, &codes_b);
    let pairs = lines[0].iter().zip(pairs);
    pairs.filter_map(|((key, _), same)| Some((*key, lines[1].get(same?)?.0))).collect()
}

fn own_lines(snapshot: &Snapshot, names: &FrameNames) -> Vec<(FrameKey, CodeLine)> {
    let own = (0..).map(FrameKey).zip(names.all()).filter(|(_, name)| !name.is_internal);
    own.filter_map(|(key, name)| {
        let frame = site_frame(snapshot, name.frame?);
        let line = CodeLine { file: frame.file, function: frame.name, line: frame.line, calls: Vec::new() };
        Some((key, line))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Attribution;
    use oomscope_fixtures::first;
    use oomscope_fixtures::stacks::Recording;
    use oomscope_model::Moment;

    /// A program whose stacks have live bytes each.
    fn program(stacks: &[(&[&str], i64)]) -> oomscope_model::Recording {
        let mut recording = Recording::default();
        for ((frames, size), slot) in stacks.iter().zip(0..) {
            let stack = recording.stack(frames);
            recording.alloc(slot, *size, stack, None);
        }
        first(recording.finish())
    }

    fn changes(a: &oomscope_model::Recording, b: &oomscope_model::Recording) -> StackChanges {
        let none = Attribution::default();
        let [a, b] = [a, b].map(|recording| {
            let moment = Moment(recording.moments() as u32 - 1);
            Side { recording, attribution: &none, moment }
        });
        compare_stacks(&a, &b)
    }

    fn outline(changes: &StackChanges) -> Vec<String> {
        let nodes = (1..changes.tree.len() as u32).map(NodeIx);
        let line = |node| {
            let indent = "  ".repeat(changes.tree.path(node).len() - 2);
            let label = &changes.names.get(changes.tree.frame(node)).label;
            let [a, b] = changes.bytes_of(node);
            format!("{indent}{label} {a} {b} {} {}", changes.larger[node.index()], changes.part(node))
        };
        nodes.map(line).collect()
    }

    #[test]
    fn a_frame_is_as_wide_as_the_larger_sides_of_its_stacks() {
        let a = program(&[(&["m.py:3 f", "t.py:1 main"], 100), (&["m.py:9 g", "t.py:1 main"], 300)]);
        let b = program(&[(&["m.py:4 f", "t.py:1 main"], 400), (&["n.py:7 h", "t.py:1 main"], 100)]);
        let found = changes(&a, &b);
        let expected = [
            "t.py:1 main 400 500 800 0.125",
            "  m.py:4 f 100 400 400 0.75",
            "  n.py:7 h 0 100 100 1",
            "  m.py:9 g 300 0 300 -1",
        ];
        assert_eq!(outline(&found), expected);
        assert_eq!(found.bytes_of(NodeIx::ROOT), [400, 500]);
        assert_eq!(
            found.pairs().map(|pair| pair.bytes).collect::<Vec<_>>(),
            [[100, 400], [0, 100], [300, 0]]
        );
        // The stack with most in B, also of the frames above it; none where B has nothing.
        assert_eq!(found.heaviest(NodeIx(1)), found.heaviest(NodeIx(2)));
        assert_eq!(found.heaviest(NodeIx(4)), None);
        assert_eq!(found.heaviest(NodeIx(2)).and_then(|stack| found.node_of(stack)), Some(NodeIx(2)));
        assert_eq!(found.node_of(StackId(99)), None);
    }

    #[test]
    fn another_frame_that_reads_alike_is_kept_apart() {
        let a = program(&[(&["/a/m.py:3 f"], 100), (&["/b/m.py:3 f"], 70)]);
        let b = program(&[(&["/a/m.py:3 f"], 50)]);
        let found = changes(&a, &b);
        let pairs: Vec<StackPair> = found.pairs().collect();
        let pair = |frame: &str, bytes| StackPair { frames: vec![frame.to_owned()], bytes };
        assert_eq!(pairs, [pair("m.py:3 f", [100, 50]), pair("m.py:3 f (A)", [70, 0])]);
    }

    #[test]
    fn a_file_beside_itself_has_no_change() {
        let a = program(&[(&["m.py:3 f", "t.py:1 main"], 100), (&[], 30)]);
        let found = changes(&a, &a);
        assert!((0..found.tree.len() as u32).all(|node| found.part(NodeIx(node)) == 0.0));
        assert_eq!((found.bytes_of(NodeIx::ROOT), found.larger[0]), ([130, 130], 130));
        assert!(changes(&program(&[]), &program(&[])).tree.is_empty());
    }
}
