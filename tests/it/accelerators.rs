//! Words follow the file: what is CUDA's is said of recordings of CUDA only.

use crate::reports::document;
use crate::support::{pickles_in, root, sample};
use oomscope_model::{Accelerator, CONF_VARIABLES, Recording, Snapshot};
use oomscope_report::{TextDetail, TextStyle, report_text};
use oomscope_simulator::Settings;
use oomscope_snapshot::load::{Input, Progress, load};
use std::path::Path;
use std::sync::Arc;

const OF_CUDA: [&str; 6] = ["nvidia-smi", "torch.cuda", "cudaMalloc", "NCCL", "cuDNN", "CUDA graph"];

fn loaded(path: &Path) -> Snapshot {
    load(&Input::File(path.to_owned()), &Progress::default()).expect("the sample loads")
}

/// The recording as another build of torch would have named its settings.
fn renamed(mut snapshot: Snapshot, variable: &str) -> Snapshot {
    for setting in &mut snapshot.settings {
        if CONF_VARIABLES.contains(&setting.name.as_str()) {
            variable.clone_into(&mut setting.name);
        }
    }
    snapshot
}

fn report(snapshot: &Arc<Snapshot>) -> String {
    let mut text = Vec::new();
    let document = document(&Recording::all(snapshot).next().expect("a device"), 3, false);
    report_text(&mut text, &document, TextDetail::Verbose, TextStyle::default())
        .expect("memory can be written to");
    String::from_utf8(text).expect("text")
}

#[test]
fn advice_names_the_programs_of_the_accelerator() {
    let mut of_cuda = 0;
    for path in pickles_in(&root().join("sample_snapshots"), false) {
        let snapshot = Arc::new(loaded(&path));
        if snapshot.timelines.is_empty() || snapshot.accelerator() != Accelerator::Cuda {
            continue;
        }
        of_cuda += usize::from(OF_CUDA.iter().any(|word| report(&snapshot).contains(word)));
        let snapshot = Arc::new(renamed(loaded(&path), "PYTORCH_NPU_ALLOC_CONF"));
        if snapshot.accelerator() != Accelerator::Npu {
            continue;
        }
        let text = report(&snapshot);
        // Names of the file's own C++ frames stay as they are.
        let said = text.lines().filter(|line| !line.contains("::"));
        let wrong: Vec<&str> = said.filter(|line| OF_CUDA.iter().any(|word| line.contains(word))).collect();
        assert!(wrong.is_empty(), "{path:?}: {wrong:?}");
    }
    assert!(5 < of_cuda, "samples have such words otherwise: {of_cuda}");
}

#[test]
fn the_variable_is_called_as_in_the_file() {
    for variable in CONF_VARIABLES {
        let snapshot = Arc::new(renamed(loaded(&sample("frag_oom.pickle")), variable));
        assert_eq!(snapshot.conf_variable(), variable);
        assert_eq!(Settings::recorded(&snapshot).variable, variable);
        assert!(report(&snapshot).contains(&format!("{variable}=")), "{variable}");
    }
}
