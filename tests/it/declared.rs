//! What the user, the program or the recording declares can lose to nothing that oomscope finds itself: in every
//! sample, whatever rules hold there.

use crate::support::{load_bytes, pickles_in, root, run, sample, skipped};
use oomscope_analysis::{Attribution, Category, RuleId, UserRules};
use oomscope_model::{AllocId, DeviceId, Recording, Snapshot, StackId, Timeline};
use oomscope_snapshot::load::{Input, Progress, load};
use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

/// Categories that can be declared.
fn categories() -> Vec<Category> {
    Category::ALL.into_iter().filter(|&category| category != Category::Unknown).collect()
}

/// The samples, each with two categories: over all samples, every category has its turn, and what is easily taken
/// for something else has it always.
fn cases() -> Vec<(PathBuf, [Category; 2])> {
    let all = categories();
    let files = pickles_in(&root().join("sample_snapshots"), true).into_iter();
    let plain = files.filter(|path| path.extension().is_some_and(|extension| extension == "pickle"));
    plain.enumerate().map(|(n, path)| (path, [Category::Input, all[n % all.len()]])).collect()
}

/// Assert that everything that was declared is what it was declared to be.
fn holds(
    snapshot: &Arc<Snapshot>,
    rules: &UserRules,
    category: Category,
    rule: RuleId,
    is_declared: impl Fn(&Timeline, AllocId) -> bool,
) -> usize {
    let mut count = 0;
    for recording in Recording::all(snapshot) {
        let found = Attribution::of(&recording, rules).categories;
        for id in recording.ids().filter(|&id| is_declared(&recording, id)) {
            assert_eq!((found.get(id), found.rule(id)), (category, rule), "{id:?} of {}", recording.device);
            count += 1;
        }
    }
    count
}

/// Functions of the program's own code, some of all that the recording has.
fn own_functions(snapshot: &Snapshot) -> BTreeSet<String> {
    const AT_MOST: usize = 12;
    let stacks = (0..snapshot.stacks.len() as u32).map(StackId);
    let frames = stacks.flat_map(|stack| snapshot.stacks.frames(stack)).map(|&id| snapshot.frames.get(id));
    let text = |id| snapshot.strings.whole(id).into_owned();
    let own = frames.filter(|frame| {
        let file = text(frame.file);
        Path::new(&file).extension().is_some_and(|extension| extension == "py")
            && !file.contains("/torch/")
            && !file.contains("/lib/python")
    });
    let names: BTreeSet<String> = own.map(|frame| text(frame.name)).collect();
    let plain = names.into_iter().filter(|name| name.chars().all(|c| c.is_alphanumeric() || c == '_'));
    plain.take(AT_MOST).collect()
}

#[test]
fn a_rule_of_the_user_loses_to_nothing() {
    let mut count = 0;
    for (path, categories) in cases() {
        let snapshot = Arc::new(load(&Input::File(path), &Progress::default()).expect("the sample loads"));
        for function in own_functions(&snapshot) {
            let calls: HashSet<StackId> = (0..snapshot.stacks.len() as u32)
                .map(StackId)
                .filter(|&stack| {
                    let names = snapshot.stacks.frames(stack).iter().map(|&id| snapshot.frames.get(id).name);
                    names.into_iter().any(|name| snapshot.strings.whole(name) == function)
                })
                .collect();
            for category in categories {
                let text = format!("[[rule]]\ncategory = '{}'\nfunction = '^{function}$'\n", category.key());
                let rules = UserRules::parse(&text).expect("these are rules");
                let is_declared =
                    |timeline: &Timeline, id| calls.contains(&timeline.lifetimes.stack(id, &timeline.events));
                count += holds(&snapshot, &rules, category, RuleId::UserRule, is_declared);
            }
        }
    }
    assert!(10_000 < count, "{count} allocations are few");
}

/// A sample with an entry added to each of its events. `None`, visibly, without Python, which picklers share
/// objects like.
fn with_entry(path: &Path, key: &str, value: &str) -> Option<Arc<Snapshot>> {
    const SCRIPT: &str = "import pickle, sys
path, key, value = sys.argv[1:]
snapshot = pickle.load(open(path, 'rb'))
for trace in snapshot['device_traces']:
    for event in trace:
        event[key] = value
sys.stdout.buffer.write(pickle.dumps(snapshot))";
    let python = Command::new("python3").args(["-c", SCRIPT]).arg(path).args([key, value]).output();
    let Ok(output) = python else {
        skipped("labels of samples: there is no python3");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(load_bytes(&output.stdout).expect("it is a snapshot"))
}

/// Events of the host are in lists of their own, which get no entry.
fn has_event(timeline: &Timeline, id: AllocId) -> bool {
    timeline.device != DeviceId::HOST && timeline.lifetimes.start(id).event().is_some()
}

#[test]
fn metadata_of_the_program_loses_to_nothing() {
    let mut count = 0;
    for (path, categories) in cases() {
        for category in categories {
            let label = format!("category={}", category.key());
            let Some(snapshot) = with_entry(&path, "user_metadata", &label) else { return };
            count += holds(&snapshot, &UserRules::default(), category, RuleId::Metadata, has_event);
        }
    }
    assert!(10_000 < count, "{count} allocations are few");
}

#[test]
fn a_recorded_category_loses_to_nothing_but_a_rule() {
    for (path, categories) in cases() {
        for category in categories {
            let Some(snapshot) = with_entry(&path, "category", category.key()) else { return };
            holds(&snapshot, &UserRules::default(), category, RuleId::Recorded, has_event);
        }
    }
    let Some(snapshot) = with_entry(&sample("streams.pickle"), "category", "gradient") else { return };
    let rules = UserRules::parse("[[rule]]\ncategory = 'comm'\nstack = '.'\n").expect("these are rules");
    let has_stack = |timeline: &Timeline, id| {
        has_event(timeline, id) && timeline.lifetimes.stack(id, &timeline.events) != StackId::EMPTY
    };
    assert!(0 < holds(&snapshot, &rules, Category::Comm, RuleId::UserRule, has_stack));
}

#[test]
fn rules_that_lie_beside_a_recording_are_offered_and_not_applied() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run.pickle");
    std::fs::copy(sample("kv_cache_oom.pickle"), &file).expect("the sample can be copied");
    let rules = folder.path().join("oomscope-rules.toml");
    std::fs::write(&rules, "[[rule]]\ncategory = 'comm'\nstack = '.'\n").expect("it can be written");
    let [file, rules] = [&file, &rules].map(|path| path.to_string_lossy().into_owned());
    let offered = run(["stats", &file]);
    assert!(offered.status.success());
    let errors = String::from_utf8_lossy(&offered.stderr).into_owned();
    assert_eq!(errors, format!("oomscope: {rules} is not used; --rules {rules} uses it\n"));
    assert!(!String::from_utf8_lossy(&offered.stdout).contains("communication"));
    let applied = run(["stats", &file, "--rules", &rules]);
    assert_eq!(String::from_utf8_lossy(&applied.stderr), "");
    assert!(String::from_utf8_lossy(&applied.stdout).contains("communication"));
}
