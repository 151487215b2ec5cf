//! Memory by operator: an estimate, which has frames of Python alone, beside a recording with frames of compiled code.

use crate::lay_out::{lay_out, requests};
use crate::pickles::{event, frame, list, pickle, snapshot, with};
use crate::support::{json, stdout};
use serde_json::Value as Json;
use serde_pickle::Value;
use std::path::Path;

const MIB: i64 = 1 << 20;

const TORCH: &str = "/env/lib/python3.11/site-packages/torch";

fn native(name: &str) -> Value {
    frame(&format!("{TORCH}/lib/libtorch_cpu.so"), 0, name)
}

/// A forward pass: a norm, attention, and a sum of the program's own. Each has its size, and its stack with frames of compiled code.
fn forward(attention_bytes: i64) -> [(i64, Vec<Value>); 3] {
    let own = |line| frame("/home/me/model.py", line, "forward");
    let call = |operator: &str| native(&format!("at::_ops::{operator}::call(at::Tensor const&)"));
    let norm = frame(&format!("{TORCH}/nn/functional.py"), 2900, "layer_norm");
    [
        (8 * MIB, vec![call("native_layer_norm"), call("layer_norm"), norm, own(10)]),
        (
            attention_bytes,
            vec![call("_flash_attention_forward"), call("scaled_dot_product_attention"), own(20)],
        ),
        (8 * MIB, vec![call("add_Tensor"), own(30)]),
    ]
}

/// The events of such a pass, with or without frames of compiled code.
fn events(attention_bytes: i64, has_compiled: bool) -> Vec<Value> {
    let is_compiled = |frame: &Value| {
        let Value::Dict(entries) = frame else { panic!("a frame is a dict") };
        entries.values().any(|value| matches!(value, Value::String(text) if text.contains("libtorch_cpu")))
    };
    let row = |(n, (size, frames)): (u64, (i64, Vec<Value>))| {
        let shown = frames.into_iter().filter(|frame| has_compiled || !is_compiled(frame));
        with(&event("alloc", 0x7000_0000_0000 + (n << 40), size), [("frames", list(shown))])
    };
    (0..).zip(forward(attention_bytes)).map(row).collect()
}

fn recording(folder: &Path, name: &str, attention_bytes: i64, has_compiled: bool) -> String {
    let file = folder.join(name);
    let bytes = pickle(&snapshot([], [list(events(attention_bytes, has_compiled))]));
    std::fs::write(&file, bytes).expect("the folder can be written to");
    file.display().to_string()
}

/// The operators of a comparison with their changes in MiB, in the order of their names.
fn operators(a: &str, b: &str) -> Vec<(String, String, i64)> {
    let found = json(["diff", a, b, "--format", "json"]);
    let text = |value: &Json| value.as_str().expect("a text").to_owned();
    let rows = found["operators"].as_array().expect("rows").iter();
    let row = |row: &Json| {
        (text(&row["operator"]), text(&row["named_by"]), row["change"].as_i64().expect("bytes") / MIB)
    };
    let mut rows: Vec<_> = rows.map(row).collect();
    rows.sort();
    rows
}

fn row(operator: &str, named_by: &str, change_mib: i64) -> (String, String, i64) {
    (operator.to_owned(), named_by.to_owned(), change_mib)
}

#[test]
fn an_estimate_has_the_operators_of_a_recording() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (_, estimate) = lay_out(folder.path(), &requests(events(16 * MIB, false), []), &[]);
    let estimate = estimate.display().to_string();
    let recorded = recording(folder.path(), "recorded.pickle", 20 * MIB, true);
    let expected = [
        row("add_Tensor", "operators", 0),
        row("scaled_dot_product_attention", "operators", 4),
        row("torch/nn/functional.py layer_norm", "function", 0),
    ];
    assert_eq!(operators(&estimate, &recorded), expected);
    let found = json(["diff", &estimate, &recorded, "--format", "json"]);
    assert_eq!(
        [&found["a"], &found["b"]].map(|side| side["names_operators"].clone()),
        [false.into(), true.into()] as [Json; 2]
    );
    for format in ["text", "markdown", "html"] {
        let said = stdout(["diff", &estimate, &recorded, "--format", format]);
        let plain = said.replace(['\\', '`'], "").replace("<code>", "").replace("</code>", "");
        assert!(
            plain.contains("By operator") && plain.contains("scaled_dot_product_attention"),
            "{format}: {plain}"
        );
        assert!(plain.contains("itself is named as in B."), "{format}: {plain}");
    }
}

#[test]
fn two_recordings_with_compiled_frames_have_the_names_of_torch() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let [a, b] = [("a.pickle", 16), ("b.pickle", 12)]
        .map(|(name, mib)| recording(folder.path(), name, mib * MIB, true));
    let expected = [
        row("add_Tensor", "operators", 0),
        row("layer_norm", "operators", 0),
        row("scaled_dot_product_attention", "operators", -4),
    ];
    assert_eq!(operators(&a, &b), expected);
}

#[test]
fn python_alone_names_functions_and_says_so() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let [a, b] = [("a.pickle", 16), ("b.pickle", 12)]
        .map(|(name, mib)| recording(folder.path(), name, mib * MIB, false));
    let expected = [
        row("called by the program's own code", "own_code", -4),
        row("torch/nn/functional.py layer_norm", "function", 0),
    ];
    assert_eq!(operators(&a, &b), expected);
    let said = stdout(["diff", &a, &b]);
    assert!(said.contains("as neither side has such frames."), "{said}");
}
