//! Flame graphs as SVG: the golden picture, escaping, and what is too small.

use super::*;
use oomscope_analysis::TreeOptions;
use oomscope_fixtures::stacks::allocated_with;
use oomscope_model::{Snapshot, StackId};

fn svg(snapshot: &Snapshot, weights: &[(StackId, i128)], unit: WeightUnit) -> String {
    let names = FrameNames::new(snapshot);
    let tree = CallTree::build(snapshot, &names, TreeOptions::default());
    let flame = FlameSvg {
        tree: &tree,
        names: &names,
        weights: &tree.inclusive(weights.iter().copied()),
        unit,
        title: "Live bytes <at the peak>",
        subtitle: "run.pickle · device 0 · after event 7",
        color: &|key| [key.0 as u8, 100, 200],
    };
    let mut out = Vec::new();
    flame_svg(&mut out, &flame).expect("memory can be written to");
    String::from_utf8(out).expect("the picture is text")
}

/// The picture without its script, a line per element.
fn readable(svg: &str) -> String {
    let (before, script) = svg.split_once("<script").expect("there is a script");
    let (_, after) = script.split_once("</script>").expect("the script ends");
    format!("{before}{after}\n").replace("><", ">\n<")
}

fn titles(svg: &str) -> Vec<&str> {
    let titles = svg.split("<title>").skip(1);
    titles.map(|rest| rest.split("</title>").next().unwrap_or_default()).collect()
}

#[test]
fn the_picture_is_the_golden_one() {
    let snapshot = allocated_with(&[
        &["/torch/nn.py:1 linear", "model.py:30 attention", "train.py:5 main"],
        &["model.py:31 mlp<T>", "train.py:5 main"],
        &["train.py:5 main"],
        &[],
    ]);
    let weights = [(StackId(1), 600), (StackId(2), 250), (StackId(3), 100), (StackId(0), 50)];
    let svg = svg(&snapshot, &weights, WeightUnit::Bytes);
    assert_eq!(svg, self::svg(&snapshot, &weights, WeightUnit::Bytes));
    let golden = include_str!("../../../tests/data/flame.svg");
    let found = readable(&svg);
    assert!(found == golden, "tests/data/flame.svg should be:\n{found}");
}

fn svg_of(stacks: &[&[&str]], weights: &[i128], unit: WeightUnit) -> String {
    let ids = (1..).map(StackId);
    svg(&allocated_with(stacks), &ids.zip(weights.iter().copied()).collect::<Vec<_>>(), unit)
}

#[test]
fn labels_from_the_file_are_text_and_nothing_else() {
    let stacks: [&[&str]; 4] = [
        &["a.py:1 7", "a.py:2 x;y"],
        &["a.py:3 </title><script>alert(1)</script>", "# b.py:1 f"],
        &["a.py:1 7"],
        &["a (b).py:1 g", "a.py:1 7"],
    ];
    let svg = svg_of(&stacks, &[1000, 200, 30, 4], WeightUnit::Bytes);
    let found = titles(&svg);
    assert!(!svg.contains("<script>alert"));
    for title in [
        "all (1,234 bytes, 100%)",
        "a.py:2 x,y (1,000 bytes, 81.04%)",
        "a.py:1\u{a0}7 (1,000 bytes, 81.04%)",
        "a.py:1\u{a0}7 (34 bytes, 2.76%)",
        "a (b).py:1 g (4 bytes, 0.32%)",
    ] {
        assert_eq!(found.iter().filter(|found| **found == title).count(), 1, "{title} in {found:?}");
    }
    assert_eq!(plain("# b.py:1 f"), "#\u{a0}b.py:1\u{a0}f");
    assert_eq!(plain(&"x".repeat(500)).chars().count(), MAX_LABEL + 1);
    assert_eq!(plain("  "), "(no name)");
}

#[test]
fn what_is_too_small_to_see_stays_with_its_caller() {
    let thin: Vec<String> = (0..3_000).map(|i| format!("thin.py:{i} f")).collect();
    let thin: Vec<[&str; 2]> = thin.iter().map(|name| [name.as_str(), "train.py:5 main"]).collect();
    let mut stacks: Vec<&[&str]> = thin.iter().map(<[&str; 2]>::as_slice).collect();
    stacks.push(&["wide.py:1 f"]);
    let mut weights = vec![1; stacks.len()];
    weights[3_000] = 1_000_000;
    let svg = svg_of(&stacks, &weights, WeightUnit::Bytes);
    let found = titles(&svg);
    assert_eq!(found.len(), 3);
    assert!(found.contains(&"train.py:5 main (3,000 bytes, 0.30%)"));
}

#[test]
fn large_weights_get_a_larger_unit_and_none_a_sentence() {
    let hour = 3_600_000_000 * (80 << 30);
    let svg = svg_of(&[&["a.py:1 f"]], &[hour], WeightUnit::ByteMicros);
    assert!(titles(&svg).contains(&"a.py:1 f (309,237,645,312,000 byte·s, 100.00%)"));
    let most = svg_of(&[&["a.py:1 f"]], &[i128::MAX], WeightUnit::ByteMicros);
    assert!(most.contains("TiB·Ms"));
    let nothing = svg_of(&[&["a.py:1 f"]], &[0], WeightUnit::Bytes);
    assert!(nothing.contains("nothing was allocated"));
}

#[test]
fn deep_stacks_end_where_the_picture_does() {
    let frames: Vec<String> = (0..900).map(|i| format!("deep.py:{i} f")).collect();
    let frames: Vec<&str> = frames.iter().map(String::as_str).collect();
    let svg = svg_of(&[&frames], &[7], WeightUnit::Bytes);
    assert_eq!(titles(&svg).len(), 1 + MAX_ROWS);
}
