//! The call tree against plain sums.

use super::*;
use oomscope_fixtures::stacks::{Recording, allocated_with};
use proptest::prelude::*;
use std::collections::BTreeMap;

const BOTH: [Direction; 2] = [Direction::CallersFirst, Direction::CalleesFirst];

fn options(direction: Direction) -> TreeOptions {
    TreeOptions { direction, folds_internal: false }
}

/// The tree as indented lines with the number of each node's stacks.
fn outline(snapshot: &Snapshot, options: TreeOptions) -> Vec<String> {
    let names = FrameNames::new(snapshot);
    let tree = CallTree::build(snapshot, &names, options);
    let ones = (0..snapshot.stacks.len() as u32).map(StackId).filter(|&stack| tree.leaf_of(stack).is_some());
    let sums = tree.inclusive(ones.map(|stack| (stack, 1)));
    (1..tree.len() as u32)
        .map(NodeIx)
        .map(|node| {
            let indent = "  ".repeat(tree.path(node).len() - 2);
            format!("{indent}{} {}", names.get(tree.frame(node)).label, sums[node.index()])
        })
        .collect()
}

const STACKS: [&[&str]; 4] = [
    &["/torch/nn.py:1 linear", "model.py:30 attention", "/torch/nn.py:9 call", "train.py:5 main"],
    &["/torch/nn.py:2 relu", "model.py:31 mlp", "/torch/nn.py:9 call", "train.py:5 main"],
    &["model.py:31 mlp", "/torch/nn.py:9 call", "train.py:5 main"],
    &["engine.cpp:7 run", "thread.cpp:8 start"],
];

#[test]
fn what_stacks_share_is_there_once() {
    let snapshot = allocated_with(&STACKS);
    assert_eq!(
        outline(&snapshot, options(Direction::CallersFirst)),
        [
            "thread.cpp:8 start 1",
            "  engine.cpp:7 run 1",
            "train.py:5 main 3",
            "  nn.py:9 call 3",
            "    model.py:30 attention 1",
            "      nn.py:1 linear 1",
            "    model.py:31 mlp 2",
            "      nn.py:2 relu 1",
        ]
    );
    assert_eq!(
        outline(&snapshot, options(Direction::CalleesFirst))[..4],
        ["engine.cpp:7 run 1", "  thread.cpp:8 start 1", "model.py:31 mlp 1", "  nn.py:9 call 1"]
    );
}

#[test]
fn without_internal_frames_every_leaf_is_the_site() {
    let snapshot = allocated_with(&STACKS);
    let folded = |direction| TreeOptions { direction, folds_internal: true };
    assert_eq!(
        outline(&snapshot, folded(Direction::CallersFirst)),
        ["engine.cpp:7 run 1", "train.py:5 main 3", "  model.py:30 attention 1", "  model.py:31 mlp 2"]
    );
    let names = FrameNames::new(&snapshot);
    let tree = CallTree::build(&snapshot, &names, folded(Direction::CallersFirst));
    for stack in (1..snapshot.stacks.len() as u32).map(StackId) {
        let leaf = tree.leaf_of(stack).expect("every stack is used");
        assert_eq!(tree.frame(leaf), names.site(&snapshot, stack));
    }
}

#[test]
fn stacks_that_allocate_nothing_are_not_in_the_tree() {
    let mut recording = Recording::default();
    let used = recording.stack(&["a.py:1 f"]);
    let unused = recording.stack(&["b.py:1 f"]);
    recording.alloc(0, 10, used, None);
    recording.alloc(1, 20, StackId::EMPTY, None);
    let snapshot = recording.finish();
    let names = FrameNames::new(&snapshot);
    let tree = CallTree::build(&snapshot, &names, TreeOptions::default());
    assert_eq!(tree.leaf_of(unused), None);
    let nowhere = tree.leaf_of(StackId::EMPTY).expect("the empty stack is used");
    assert_eq!(tree.frame(nowhere), names.no_stack());
    assert_eq!(tree.len(), 3);
}

#[test]
fn deep_and_too_many_stacks_are_cut_and_keep_their_weight() {
    let mut recording = Recording::default();
    let deep: Vec<String> = (0..50).map(|i| format!("deep.py:{i} f")).collect();
    let deep: Vec<&str> = deep.iter().map(String::as_str).collect();
    let shallow = recording.stack(&["a.py:1 f", "a.py:2 g"]);
    let deep = recording.stack(&deep);
    let snapshot = recording.finish();
    let names = FrameNames::new(&snapshot);
    for direction in BOTH {
        let mut paths = Paths::new([10, 100, 100]);
        paths.add(&snapshot, &names, options(direction), shallow);
        paths.add(&snapshot, &names, options(direction), deep);
        let tree = paths.into_tree(options(direction), &names, snapshot.stacks.len());
        assert_eq!(tree.len(), 1 + 2 + 10 + 1);
        let rest = tree.leaf_of(deep).expect("it is in the tree");
        assert_eq!((tree.path(rest).len(), tree.others(rest)), (1 + 10 + 1, Some(1)));
        assert_eq!(tree.cut(), Cut { deep_stacks: 1, left_out_stacks: 0 });
    }
    let mut paths = Paths::new([10, 5, 100]);
    paths.add(&snapshot, &names, TreeOptions::default(), shallow);
    paths.add(&snapshot, &names, TreeOptions::default(), deep);
    let tree = paths.into_tree(TreeOptions::default(), &names, snapshot.stacks.len());
    assert_eq!(tree.cut(), Cut { deep_stacks: 0, left_out_stacks: 1 });
    assert_eq!(tree.leaf_of(deep), Some(NodeIx::ROOT));
    assert_eq!(tree.inclusive([(shallow, 3), (deep, 4)])[0], 7);
}

#[test]
fn what_a_tree_has_no_room_for_is_one_node_below_each_branch() {
    // Ten stacks that differ at their outermost frame, and five that share it.
    let texts: Vec<Vec<String>> = (0..15)
        .map(|i: i32| {
            let outermost = format!("main.py:{} main", i.min(10));
            let inner = (0..20).map(|depth| format!("model.py:{depth} f{}", if depth == 0 { i } else { 0 }));
            inner.chain([outermost]).collect()
        })
        .collect();
    let texts: Vec<Vec<&str>> =
        texts.iter().map(|stack| stack.iter().map(String::as_str).collect()).collect();
    let stacks: Vec<&[&str]> = texts.iter().map(Vec::as_slice).collect();
    let snapshot = allocated_with(&stacks);
    let names = FrameNames::new(&snapshot);
    let options = options(Direction::CallersFirst);
    let tree = |max_nodes| {
        let mut paths = Paths::new([100, 10_000, max_nodes]);
        allocation_stacks(&snapshot).for_each(|stack| paths.add(&snapshot, &names, options, stack));
        paths.into_tree(options, &names, snapshot.stacks.len())
    };
    let weights = || (1..=15).map(|stack| (StackId(stack), i128::from(stack)));
    for max_nodes in [0, 11, 30, 60, 100, 235, 1000] {
        let tree = tree(max_nodes);
        assert!(tree.len() <= max_nodes.max(1) + 1, "{} nodes", tree.len());
        let sums = tree.inclusive(weights());
        assert_eq!(sums[0], 120);
        let others = (0..tree.len() as u32).map(NodeIx).filter_map(|node| tree.others(node));
        assert_eq!(others.sum::<u32>() as usize, tree.cut().deep_stacks);
        if max_nodes == 30 {
            assert_eq!((tree.len(), tree.cut().deep_stacks), (1 + 11 + 11, 15));
            let shared =
                tree.children(NodeIx::ROOT).find(|&node| sums[node.index()] == 65).expect("it is shared");
            let rest = tree.children(shared).next().expect("it goes on");
            assert_eq!(tree.label(&names, rest), "other frames of 5 stacks");
        }
    }
    assert_eq!(tree(1000).cut(), Cut::default());
}

#[test]
fn recursion_is_counted_once_by_a_search() {
    let snapshot = allocated_with(&[&["a.py:1 f", "b.py:1 g", "a.py:1 f"], &["b.py:1 g"]]);
    let names = FrameNames::new(&snapshot);
    let tree = CallTree::build(&snapshot, &names, TreeOptions::default());
    let sums = tree.inclusive([(StackId(1), 5), (StackId(2), 11)]);
    assert_eq!(tree.weight_of(&names.search("a.py"), &sums), 5);
    assert_eq!(tree.weight_of(&names.search("b.py"), &sums), 16);
    assert_eq!(tree.weight_of(&names.search("c.py"), &sums), 0);
}

#[test]
fn a_path_of_frames_skips_what_is_not_there() {
    let snapshot = allocated_with(&STACKS);
    let names = FrameNames::new(&snapshot);
    let tree = CallTree::build(&snapshot, &names, TreeOptions::default());
    let leaf = tree.leaf_of(StackId(1)).expect("the first stack is used");
    let path: Vec<FrameKey> = tree.path(leaf)[1..].iter().map(|&node| tree.frame(node)).collect();
    assert_eq!(tree.find(path.iter().copied()), leaf);
    assert_eq!(tree.find([path[0], path[0]]), tree.path(leaf)[1]);
    let own = TreeOptions { folds_internal: true, ..TreeOptions::default() };
    let own = CallTree::build(&snapshot, &names, own);
    assert_eq!(Some(own.find(path)), own.leaf_of(StackId(1)));
}

fn frame_text(code: u8) -> String {
    if code.is_multiple_of(3) { format!("/torch/t.py:{code} f") } else { format!("own.py:{code} f") }
}

proptest! {
    #[test]
    fn sums_are_those_of_a_naive_tree(
        stacks in proptest::collection::vec((proptest::collection::vec(0u8..6, 0..7), -50i64..1000), 1..40),
        folds_internal in any::<bool>(),
    ) {
        let mut recording = Recording::default();
        let mut weights: BTreeMap<StackId, i128> = BTreeMap::new();
        for (slot, (frames, weight)) in (0..).zip(&stacks) {
            let texts: Vec<String> = frames.iter().map(|&code| frame_text(code)).collect();
            let stack = recording.stack(&texts.iter().map(String::as_str).collect::<Vec<_>>());
            recording.alloc(slot, 1, stack, None);
            *weights.entry(stack).or_default() += i128::from(*weight);
        }
        let snapshot = recording.finish();
        let names = FrameNames::new(&snapshot);
        let total: i128 = weights.values().sum();
        for direction in BOTH {
            let options = TreeOptions { direction, folds_internal };
            let tree = CallTree::build(&snapshot, &names, options);
            let sums = tree.inclusive(weights.iter().map(|(&stack, &weight)| (stack, weight)));
            prop_assert_eq!(sums[0], total);

            // By path, without a tree.
            let mut naive: BTreeMap<Vec<FrameKey>, i128> = BTreeMap::new();
            for (&stack, &weight) in &weights {
                let path = naive_path(&snapshot, &names, options, stack);
                for end in 0..=path.len() {
                    *naive.entry(path[..end].to_vec()).or_default() += weight;
                }
            }
            prop_assert_eq!(naive.len(), tree.len());
            for node in (0..tree.len() as u32).map(NodeIx) {
                let path: Vec<FrameKey> = tree.path(node)[1..].iter().map(|&node| tree.frame(node)).collect();
                prop_assert_eq!(naive.get(&path), Some(&sums[node.index()]));
                prop_assert_eq!(tree.find(path), node);
                let children: Vec<NodeIx> = tree.children(node).collect();
                prop_assert!(children.iter().all(|&child| tree.parent(child) == Some(node)));
                prop_assert!(children.is_sorted_by_key(|&child| tree.frame(child)));
            }
        }
    }
}

fn naive_path(
    snapshot: &Snapshot,
    names: &FrameNames,
    options: TreeOptions,
    stack: StackId,
) -> Vec<FrameKey> {
    let all: Vec<FrameKey> = snapshot.stacks.frames(stack).iter().map(|&frame| names.key(frame)).collect();
    let mut path = all;
    if options.folds_internal {
        path.retain(|&key| !names.get(key).is_internal);
    }
    if path.is_empty() {
        path = vec![names.site(snapshot, stack)];
    } else if options.direction == Direction::CallersFirst {
        path.reverse();
    }
    path
}
