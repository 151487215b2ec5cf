//! Recordings of one program as it is and compiled (`torch.compile`, with the original lines of generated code), and with modules
//! that metadata names: what they show is the program's own.

use crate::support::{json, root, stdout};
use oomscope_model::{Snapshot, StackId};
use oomscope_snapshot::load::{Input, Progress, load};
use serde_json::Value;
use std::collections::BTreeSet;

fn data(name: &str) -> String {
    root().join("tests/data").join(name).to_string_lossy().into_owned()
}

fn read(path: &str) -> Snapshot {
    load(&Input::File(path.into()), &Progress::default()).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The modules at the peak of a recording, with their figures.
fn modules(file: &str) -> Vec<Value> {
    let stats = json(["stats", file, "--format", "json"]);
    stats[0]["modules"]["rows"].as_array().expect("rows").clone()
}

#[test]
fn compiled_code_shows_the_lines_of_the_program() {
    let snapshot = read(&data("compiled.pickle.gz"));
    let files = |stack| {
        let frames = snapshot.stacks.frames(stack).iter().map(|&id| snapshot.frames.get(id).file);
        frames.map(|file| snapshot.strings.path(file).into_owned()).collect::<Vec<_>>()
    };
    let stacks = || (0..snapshot.stacks.len() as u32).map(StackId);
    assert!(stacks().flat_map(files).all(|file| !file.starts_with("fx_generated_")));
    let compiled: Vec<StackId> = stacks().filter(|&stack| snapshot.shows_originals(stack)).collect();
    assert!(100 < compiled.len(), "{}", compiled.len());
    assert!(compiled.iter().all(|&stack| files(stack).contains(&"/home/me/blocks.py".to_owned())));
}

#[test]
fn eager_and_compiled_meet_at_the_lines_of_the_program() {
    let [eager, compiled] = ["eager.pickle.gz", "compiled.pickle.gz"].map(data);
    let found = json(["diff", &eager, &compiled, "--format", "json"]);
    let lines = found["lines"].as_array().expect("lines");
    let of_program = lines.iter().filter(|row| row.to_string().contains("blocks.py"));
    let mut paired = 0;
    for row in of_program {
        assert_eq!(row["line_a"], row["line_b"]);
        paired += usize::from(row["is"] == "same");
    }
    assert!(8 < paired, "{paired}");
    let named = |file: &str| -> BTreeSet<String> {
        let own = modules(file).into_iter().filter(|row| row["depth"].as_i64() < Some(2));
        let name = |row: Value| format!("{} {}", row["module"], row["called_at"]);
        own.map(name).filter(|name| name.contains("blocks.py forward")).collect()
    };
    assert_eq!(named(&compiled), named(&eager));
}

#[test]
fn a_cut_has_the_generated_code_that_was_recorded() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = data("compiled.pickle.gz");
    for (options, trace) in
        [(&[][..], "return self.fc"), (&["--redact"], "/blocks.py\", line 45, in forward")]
    {
        let copy = folder.path().join("copy.pickle").to_string_lossy().into_owned();
        stdout([&["cut", &path, "-o", &copy][..], options].concat());
        let bytes = std::fs::read(&copy).expect("the copy can be read");
        let has = |text: &str| bytes.windows(text.len()).any(|part| part == text.as_bytes());
        assert!(has("fx_generated_") && has("fx_original_trace") && has(trace), "{options:?}");
        let [snapshot, again] = [&path, &copy].map(|path| read(path));
        assert_eq!(again.stacks.len(), snapshot.stacks.len());
        std::fs::remove_file(&copy).expect("the copy can be removed");
    }
}

#[test]
fn metadata_names_modules_where_no_stack_does() {
    let rows = modules(&data("named_modules.pickle.gz"));
    let row = |name: &str| rows.iter().find(|row| row["module"] == name).unwrap_or_else(|| panic!("{name}"));
    assert_eq!((&row("blocks.0")["depth"], &row("blocks.0.qkv")["depth"]), (&0.into(), &1.into()));
    // A linear layer from 64 to 192.
    assert_eq!(row("blocks.1.qkv")["own"]["parameter"], 4 * (64 * 192 + 192));
}

#[test]
fn what_compiled_code_keeps_has_a_budget_and_does_not_go_to_the_host() {
    let fixes = |file: &str| {
        let found = json(["fixes", file, "--only", "memory-budget,save-on-cpu", "--format", "json"]);
        let all = found["remedies"].as_array().expect("remedies").iter();
        all.map(|fix| format!("{} {}", fix["id"], fix["basis"])).collect::<Vec<_>>()
    };
    assert_eq!(fixes(&data("compiled.pickle.gz")), ["\"memory-budget\" \"bound\""]);
    assert_eq!(fixes(&data("eager.pickle.gz")), ["\"save-on-cpu\" \"simulated\""]);
}
