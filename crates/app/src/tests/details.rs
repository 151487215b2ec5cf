//! Details of a selection in the real application.

use super::{device, harness, open, snapshot_pickle};
use crate::device::Selection;
use egui_kittest::kittest::Queryable as _;
use oomscope_model::AllocId;
use serde_pickle::{DeOptions, HashableValue, SerOptions, Value};

/// The recording by hand, with the file of its frames.
pub(super) fn with_source() -> Vec<u8> {
    let mut snapshot =
        serde_pickle::value_from_slice(&snapshot_pickle(), DeOptions::new()).expect("a pickle");
    let Value::Dict(entries) = &mut snapshot else { panic!("a snapshot is a dict") };
    let mut code = "\n".repeat(54);
    code.push_str("        weights = torch.softmax(scores, dim=-1)\n");
    let text = |text: &str| HashableValue::String(text.to_owned());
    let files = [(text("/home/me/train.py"), Value::String(code))];
    entries.insert(text("source_code"), Value::Dict(files.into_iter().collect()));
    serde_pickle::value_to_vec(&snapshot, SerOptions::new()).expect("plain values can be pickled")
}

#[test]
fn a_frame_has_its_line_of_code_where_the_recording_came_with_its_files() {
    for (bytes, is_known) in [(snapshot_pickle(), false), (with_source(), true)] {
        let mut harness = harness();
        let _folder = open(&mut harness, &bytes);
        device(&mut harness).at.select(Selection::Allocation(AllocId(0)));
        harness.run_steps(4);
        assert!(0 < harness.query_all_by_label_contains("train.py:55 attention").count());
        let code = harness.query_by_label("weights = torch.softmax(scores, dim=-1)");
        assert_eq!(code.is_some(), is_known);
    }
}
