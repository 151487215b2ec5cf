//! Any text as the recorder's names of tensors, beside a block that they may be about.

use super::questions;
use oomscope_analysis::{Attribution, TensorLabels, UserRules, module_table, named_tensors};
use oomscope_diagnosis::{DiagnosisRequest, diagnose};
use oomscope_model::Recording;
use oomscope_report::named_text;
use oomscope_snapshot::Builder;
use oomscope_snapshot::json;
use std::sync::Arc;

pub(crate) fn body(bytes: &[u8]) {
    let text = serde_json::to_string(&String::from_utf8_lossy(bytes)).expect("text");
    let file = format!(
        r#"{{"segments": [], "device_traces": [[{{"action": "alloc", "addr": 512, "size": 64, "stream": 0, "frames": [
        {{"filename": "a.py", "line": 5, "name": "forward"}}, {{"filename": "/torch/nn/modules/module.py", "line": 9, "name": "_call_impl"}}]}}]],
        "oomscope": {{"census": {text}}}}}"#
    );
    let mut builder = Builder::default();
    let decoded = json::decode(file.as_bytes(), &mut builder).expect("it is JSON");
    let snapshot = Arc::new(builder.finish(decoded).expect("it is a snapshot"));
    questions::ask(&snapshot);
    for recording in Recording::all(&snapshot) {
        let attribution = Attribution::of(&recording, &UserRules::default());
        let request = DiagnosisRequest::default();
        let diagnosis = diagnose(&recording, &attribution, request).expect("there is a peak");
        assert!(diagnosis.verdict().is_some());
        module_table(&recording, &attribution, recording.end());
        let labels = TensorLabels::of(&recording, &attribution.categories);
        for id in recording.ids() {
            let fits = named_tensors(&recording, id).iter().all(|tensor| tensor.bytes <= recording.size(id));
            assert!(fits, "a tensor is larger than its block");
            let text = named_text(&recording, &attribution.categories, id);
            for said in [text, labels.get(id).map(str::to_owned)].into_iter().flatten() {
                assert!(!said.contains(['\u{1b}', '\u{202e}', '\n']), "{said:?}");
            }
        }
    }
}
