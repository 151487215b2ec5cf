//! Names of tensors that the recorder wrote: categories, filters, explanations and the verdict take them from the program.

use crate::support::{json, root, stdout};
use serde_json::Value;
use std::path::PathBuf;

/// A validation that keeps its losses with their graphs, recorded with names.
fn recorded() -> PathBuf {
    root().join("tests/data/named_losses.pickle.gz")
}

fn live(more: &[&str]) -> Vec<Value> {
    let file = recorded();
    let args = ["live", file.to_str().expect("text"), "--format", "json", "--top", "1000"];
    let found = json(args.into_iter().chain(more.iter().copied()));
    found.as_array().expect("a list").clone()
}

fn bytes(blocks: &[Value]) -> u64 {
    blocks.iter().map(|block| block["size"].as_u64().expect("a number")).sum()
}

#[test]
fn what_a_program_names_is_declared_and_is_what_it_is() {
    let blocks = live(&[]);
    let mut roles = std::collections::BTreeMap::new();
    for block in &blocks {
        for tensor in block["named"].as_array().expect("a list") {
            if let Some(role) = tensor["role"].as_str() {
                *roles.entry(role.to_owned()).or_insert(0) += 1;
            }
            let category = match tensor["role"].as_str() {
                Some("parameter") => "parameter",
                Some("optimizer_state") => "optimizer_state",
                _ => continue,
            };
            assert_eq!((&block["category"], &block["rule"]), (&category.into(), &"named".into()), "{block}");
            assert_eq!(block["basis"], "declared");
        }
    }
    // Four layers with weight and bias, and two states for each.
    assert_eq!((roles["parameter"], roles["optimizer_state"]), (8, 16), "{roles:?}");
    let is_named = |block: &&Value| !block["named"].as_array().expect("a list").is_empty();
    let named: Vec<Value> = blocks.iter().filter(is_named).cloned().collect();
    let (known, all) = (bytes(&named), bytes(&blocks));
    assert!(all * 99 <= known * 100, "{known} of {all} bytes have a name, a graph or a variable");
}

#[test]
fn names_types_shapes_and_holders_are_found_by_filters() {
    assert_eq!(live(&["--filter", "name:exp_avg_sq"]).len(), 8);
    assert_eq!(live(&["--filter", "name:2.0.weight -name:exp"]).len(), 1);
    assert_eq!(live(&["--filter", "category:parameter shape:1024x1024 dtype:float32"]).len(), 4);
    let held = live(&["--filter", "holder:losses"]);
    assert_eq!(bytes(&held), bytes(&live(&["--filter", "holder:\"losses in validate (validate.py:9)\""])));
    assert!(500 << 20 < bytes(&held));
}

#[test]
fn the_verdict_says_which_variable_holds_what_is_kept() {
    let file = recorded();
    let report = stdout(["report".as_ref(), file.as_os_str()]);
    let held = bytes(&live(&["--filter", "holder:losses"])) >> 20;
    let words = report.split_whitespace().collect::<Vec<_>>().join(" ");
    let start = "losses in validate (validate.py:9) holds ";
    let said = words.split_once(start).unwrap_or_else(|| panic!("{report}")).1;
    let said: u64 = said.split_once(" MiB of 600 MiB, ").expect("an amount").0.parse().expect("a number");
    // Who does so is what to change.
    assert!(report.contains("losses.append(value.detach())"), "{report}");
    // Who held it earlier was not written.
    let earlier = stdout(["report".as_ref(), file.as_os_str(), "--at".as_ref(), "800".as_ref()]);
    assert!(earlier.contains("critical") || earlier.contains("leak"), "{earlier}");
    assert!(!earlier.contains("losses in validate"), "{earlier}");
    // What the last call holds is not kept of earlier ones.
    assert!(said <= held && held < said + 8, "{said} {held}");
}

#[test]
fn an_allocation_is_explained_with_its_tensor() {
    let block = &live(&["--filter", "name:exp_avg"])[0];
    let (file, addr) = (recorded(), block["addr"].as_str().expect("text").to_owned());
    let explained = stdout(["explain".as_ref(), file.as_os_str(), addr.as_ref()]);
    let line = explained.lines().find(|line| line.trim_start().starts_with("tensor")).expect("a line");
    assert!(line.contains(", optimizer state of AdamW, float32 [1024, 1024]"), "{line}");
}

#[test]
fn a_part_keeps_names_where_it_reaches_the_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let part = folder.path().join("part.pickle");
    let cut = |more: &[&str]| {
        let file = recorded();
        let args = ["cut".as_ref(), file.as_os_str(), "-o".as_ref(), part.as_os_str()];
        stdout(args.into_iter().chain(more.iter().map(AsRef::as_ref)));
        let live = ["live", part.to_str().expect("text"), "--format", "json", "--top", "1000"];
        json(live).as_array().expect("a list").clone()
    };
    let said = |blocks: &[Value]| -> Vec<Value> {
        blocks.iter().map(|block| serde_json::json!([block["addr"], block["named"], block["rule"]])).collect()
    };
    let whole = said(&live(&[]));
    assert_eq!(said(&cut(&[])), whole);
    assert_eq!(cut(&["--filter", "holder:losses"]).len(), live(&["--filter", "holder:losses"]).len());
    assert!(cut(&["--range", "0..800"]).iter().all(|block| block["named"] == serde_json::json!([])));
    let hidden = serde_json::to_string(&said(&cut(&["--redact"]))).expect("JSON");
    assert!(
        hidden.contains("losses") && hidden.contains("/validate.py") && !hidden.contains("/workspace/train/")
    );
}

#[test]
fn tables_for_other_programs_have_names() {
    let file = recorded();
    let args = ["export", file.to_str().expect("text"), "--format", "jsonl", "--table", "allocations"];
    let rows: Vec<Value> =
        stdout(args).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let weight = rows.iter().find(|row| row["tensor"] == "0.0.weight").expect("the first layer's");
    assert_eq!((&weight["dtype"], &weight["shape"]), (&"float32".into(), &"1024x1024".into()));
    let held = rows.iter().filter(|row| row["holder"] == "losses in validate (validate.py:9)").count();
    assert_eq!(held, live(&["--filter", "holder:losses"]).len());
    assert!(rows.iter().all(|row| row["is_live_at_end"] == true || row["tensor"].is_null()));
}
