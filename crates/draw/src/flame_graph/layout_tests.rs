//! Flame graphs: layout against what the tree weighs.

use super::*;
use oomscope_analysis::{FrameNames, TreeOptions};
use oomscope_fixtures::stacks::allocated_with;
use oomscope_model::{Snapshot, StackId};
use proptest::prelude::*;

const WIDE: FlameView =
    FlameView { zoom: NodeIx::ROOT, width_px: 100.0, max_rows: 50, order: FlameOrder::ByWeight };

fn tree(snapshot: &Snapshot) -> (CallTree, FrameNames) {
    let names = FrameNames::new(snapshot);
    (CallTree::build(snapshot, &names, TreeOptions::default()), names)
}

/// `row label x0..x1`, or the number of merged ones.
fn read(layout: &FlameLayout, tree: &CallTree, names: &FrameNames) -> Vec<String> {
    let line = |rect: &FlameRect| {
        let what = match rect.item {
            FlameItem::Single(NodeIx::ROOT) => "all".to_owned(),
            FlameItem::Single(node) => names.get(tree.frame(node)).function().to_owned(),
            FlameItem::Merged { count, .. } => format!("+{count}"),
        };
        format!("{} {what} {:.1}..{:.1}", rect.row, rect.x[0], rect.x[1])
    };
    layout.rects().iter().map(line).collect()
}

#[test]
fn children_are_sorted_by_weight_and_start_at_their_parents_left() {
    let snapshot = allocated_with(&[
        &["a.py:2 small", "a.py:1 left"],
        &["a.py:3 large", "a.py:1 left"],
        &["a.py:1 left"],
        &["b.py:1 right"],
    ]);
    let (tree, names) = tree(&snapshot);
    let weights = tree.inclusive([(StackId(1), 10), (StackId(2), 40), (StackId(3), 20), (StackId(4), 30)]);
    let layout = flame_layout(&tree, &weights, &WIDE);
    assert_eq!(
        read(&layout, &tree, &names),
        [
            "0 all 0.0..100.0",
            "1 left 0.0..70.0",
            "1 right 70.0..100.0",
            "2 large 0.0..40.0",
            "2 small 40.0..50.0"
        ]
    );
    let by_name = flame_layout(&tree, &weights, &FlameView { order: FlameOrder::ByName, ..WIDE });
    assert_eq!(read(&by_name, &tree, &names)[3..], ["2 small 0.0..10.0", "2 large 10.0..50.0"]);
    let left = layout.at(1, 69.9).and_then(FlameRect::node).expect("a node is there");
    let zoomed = flame_layout(&tree, &weights, &FlameView { zoom: left, ..WIDE });
    assert_eq!(read(&zoomed, &tree, &names)[..2], ["0 left 0.0..100.0", "1 large 0.0..57.1"]);
    assert_eq!(layout.at(2, 60.0), None);
    assert_eq!(layout.at(3, 1.0), None);
    assert_eq!(layout.rect_of(left).map(|rect| rect.weight), Some(70));
}

#[test]
fn neighbours_that_are_thinner_than_a_pixel_are_merged() {
    let names: Vec<String> = (0..50).map(|i| format!("a.py:{i} thin")).collect();
    let mut stacks: Vec<Vec<&str>> = names.iter().map(|name| vec![name.as_str()]).collect();
    stacks.push(vec!["b.py:1 wide"]);
    let stacks: Vec<&[&str]> = stacks.iter().map(Vec::as_slice).collect();
    let snapshot = allocated_with(&stacks);
    let (tree, names) = tree(&snapshot);
    let thin = (1..=50).map(|stack| (StackId(stack), 1));
    let weights = tree.inclusive(thin.chain([(StackId(51), 950)]));
    let layout = flame_layout(&tree, &weights, &WIDE);
    assert_eq!(read(&layout, &tree, &names)[1..], ["1 wide 0.0..95.0", "1 +50 95.0..100.0"]);
    assert_eq!(layout.rects()[2].weight, 50);
}

#[test]
fn there_is_nothing_without_weight_or_width() {
    let snapshot = allocated_with(&[&["a.py:1 f"]]);
    let (tree, _) = tree(&snapshot);
    for (weight, width_px) in [(0, 100.0), (-5, 100.0), (5, 0.0), (5, f32::NAN), (5, f32::INFINITY)] {
        let weights = tree.inclusive([(StackId(1), weight)]);
        let layout = flame_layout(&tree, &weights, &FlameView { width_px, ..WIDE });
        assert_eq!((layout.rows(), layout.at(0, 0.0)), (0, None));
        assert!(layout.in_rows(0..9).is_empty());
    }
}

#[test]
fn rows_end_where_they_are_cut() {
    let frames: Vec<String> = (0..900).map(|i| format!("deep.py:{i} f")).collect();
    let frames: Vec<&str> = frames.iter().map(String::as_str).collect();
    let snapshot = allocated_with(&[&frames]);
    let (tree, _) = tree(&snapshot);
    let weights = tree.inclusive([(StackId(1), i128::from(i64::MAX))]);
    let layout = flame_layout(&tree, &weights, &WIDE);
    assert_eq!((layout.rows(), layout.is_cut), (50, true));
    let whole = flame_layout(&tree, &weights, &FlameView { max_rows: 2_000, ..WIDE });
    assert_eq!((whole.rows(), whole.is_cut), (901, false));
    assert_eq!(whole.in_rows(899..5_000).len(), 2);
}

proptest! {
    #[test]
    fn widths_of_children_and_of_the_parent_itself_fill_the_parent(
        stacks in proptest::collection::vec(
            (proptest::collection::vec(0u8..5, 1..6), -20i128..2_000), 1..60),
        width_px in 1.0f32..2_000.0,
    ) {
        let texts: Vec<Vec<String>> = stacks.iter()
            .map(|(frames, _)| frames.iter().map(|code| format!("own.py:{code} f")).collect())
            .collect();
        let texts: Vec<Vec<&str>> =
            texts.iter().map(|texts| texts.iter().map(String::as_str).collect()).collect();
        let slices: Vec<&[&str]> = texts.iter().map(Vec::as_slice).collect();
        let snapshot = allocated_with(&slices);
        let (tree, _) = tree(&snapshot);
        let ids = (1..snapshot.stacks.len() as u32).map(StackId);
        let is_negative = stacks.iter().any(|&(_, weight)| weight < 0);
        let weights = tree.inclusive(ids.zip(stacks.iter().map(|&(_, weight)| weight)));
        let layout = flame_layout(&tree, &weights, &FlameView { width_px, ..WIDE });
        for rect in layout.rects() {
            prop_assert!(0.0 <= rect.x[0] && rect.x[0] <= rect.x[1] && rect.x[1] <= width_px);
            let Some(node) = rect.node() else { continue };
            let below: Vec<&FlameRect> = layout.in_rows(rect.row + 1..rect.row + 2).iter()
                .filter(|below| match below.item {
                    FlameItem::Single(child) => tree.parent(child) == Some(node),
                    FlameItem::Merged { parent, .. } => parent == node,
                })
                .collect();
            let children: i128 = below.iter().map(|below| below.weight).sum();
            prop_assert!(children <= rect.weight);
            prop_assert!(below.windows(2).all(|pair| (pair[0].x[1] - pair[1].x[0]).abs() < 0.01));
            prop_assert!(below.iter().all(|below| rect.x[0] - 0.01 <= below.x[0] && below.x[1] <= rect.x[1] + 0.01));
            if !is_negative {
                let own = weights[node.index()] - tree.children(node).map(|child| weights[child.index()]).sum::<i128>();
                prop_assert_eq!(children + own, rect.weight);
                let width: f32 = below.iter().map(|below| below.width_px()).sum();
                let expected = rect.width_px() * (children as f32 / rect.weight as f32);
                prop_assert!((width - expected).abs() < 0.05);
            }
        }
        for pair in layout.rects().windows(2).filter(|pair| pair[0].row == pair[1].row) {
            prop_assert!(pair[0].x[1] <= pair[1].x[0] + 0.01);
        }
    }
}
