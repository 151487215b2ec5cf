//! What pictures mark of a verdict: the blocks that it is about, and what is said of them.

use crate::support::{pickles_in, root, run, sample, stem};
use oomscope_analysis::{Attribution, UserRules};
use oomscope_diagnosis::{DiagnosisRequest, FindingId, Value, diagnose};
use oomscope_model::{Bytes, Recording};
use oomscope_snapshot::load::{Input, Progress, load};
use std::collections::HashSet;
use std::sync::Arc;

/// Verdicts that are about a request or about free memory: there are no blocks to mark.
const WITHOUT_BLOCKS: [FindingId; 8] = [
    FindingId::SingleRequest,
    FindingId::OutsidePytorch,
    FindingId::PendingFree,
    FindingId::KeptFree,
    FindingId::OtherPool,
    FindingId::OtherStream,
    FindingId::Nothing,
    // Its label counts blocks, and the bytes are those of the holes.
    FindingId::Fragmentation,
];

#[test]
fn what_a_mark_says_is_the_sum_of_its_blocks_and_of_its_steps() {
    let mut marked = 0;
    for path in pickles_in(&root().join("sample_snapshots"), false) {
        let snapshot = Arc::new(load(&Input::File(path.clone()), &Progress::default()).expect("a sample"));
        let Some(recording) = Recording::main(&snapshot) else { continue };
        let attribution = Attribution::of(&recording, &UserRules::default());
        let request = DiagnosisRequest::default();
        let found = diagnose(&recording, &attribution, request).expect("the moment exists");
        let (verdict, name) = (found.verdict().expect("a verdict"), stem(&path));
        if WITHOUT_BLOCKS.contains(&verdict.id) {
            continue;
        }
        let mark = verdict.mark.as_ref().unwrap_or_else(|| panic!("{name} has a mark"));
        let about = &verdict.evidence.about;
        let live: HashSet<_> = recording.lifetimes.live_at(found.at.moment).collect();
        assert!(!about.is_empty() && about.iter().all(|id| live.contains(id)), "{name}");
        let bytes = about.iter().map(|&id| recording.size(id)).sum::<Bytes>();
        let said = mark.label.figures().first().map(|figure| figure.value());
        assert_eq!(said, Some(Value::Bytes(bytes)), "{name}: {}", mark.label);
        assert!(mark.label.text().len() < 60, "{}", mark.label);
        let of_steps = mark.steps.iter().filter_map(|step| match step.label.figures().first()?.value() {
            Value::Bytes(bytes) => Some(bytes),
            _ => None,
        });
        let recorded = about.iter().filter(|&&id| recording.lifetimes.origin(id).event().is_some());
        let recorded = recorded.map(|&id| recording.size(id)).sum::<Bytes>();
        if !mark.steps.is_empty() {
            assert_eq!(of_steps.sum::<Bytes>(), recorded, "{name}");
        }
        marked += 1;
    }
    assert!(20 < marked, "{marked}");
}

#[test]
fn pictures_mark_it_unless_they_are_to_be_plain() {
    let render = |name: &str, args: &[&str]| {
        let output = run([&["render", &sample(name).to_string_lossy(), "-o", "-"], args].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    for view in ["timeline", "segments", "segment-timeline", "stacks"] {
        let args = ["--size", "700x400", "--view", view];
        let plain = [&args[..], &["--plain"]].concat();
        let name = "leak_eval_losses.pickle";
        assert!(render(name, &args) != render(name, &plain), "{view} marks what is kept");
        // A filter says what fades; there is nothing to mark where nothing failed.
        let filtered = [&args[..], &["--filter", "size>1MB"]].concat();
        let both = [&filtered[..], &["--plain"]].concat();
        let is_same = render(name, &filtered) == render(name, &both);
        assert!(is_same || view == "timeline", "{view}: the timeline has the curve of the fix");
        assert!(render("annotated.pickle", &args) == render("annotated.pickle", &plain), "{view}");
    }
}
