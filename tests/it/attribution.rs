//! Categories, iterations and phases against what the recorded programs said of themselves.

use crate::support;
use oomscope_analysis::{Attribution, Category, Phase, PhaseBasis, UserRules, stack_lines};
use oomscope_model::{AllocId, DeviceId, Moment, Recording, Snapshot, Timeline};
use oomscope_snapshot::load::{Progress, load_from};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Recordings whose dump's phase cannot be told, and why.
const OPEN_PHASES: [(&str, &str); 1] =
    [("pinned_host_only", "plain SGD and a batch are live, no event of the device is there, and no stack")];

/// Recordings whose iterations cannot be numbered, and why.
const OPEN_NUMBERS: [(&str, &str); 5] = [
    ("history_late", "recording began at the third step, and nothing in a file counts steps"),
    ("history_off", "nothing was recorded"),
    ("history_state_only", "only what is live was recorded"),
    ("history_stopped", "what was recorded was dropped"),
    ("pinned_host_only", "no event of the device was recorded"),
];

/// The share of live bytes that must be right in each recording.
const WANTED: f64 = 0.95;

/// Of what is stated of [`OPEN_CATEGORIES`], the share that must be right.
const WANTED_OF_STATED: f64 = 0.97;

/// Recordings of whose bytes part cannot be told, and why.
const OPEN_CATEGORIES: [(&str, &str); 1] =
    [("pinned_host_only", "a batch is live on the device, of which no event and no stack was recorded")];

/// A recording with what is known of it.
struct Labelled {
    name: String,
    snapshot: Arc<Snapshot>,
    truth: Value,
}

fn labelled(path: &Path) -> Option<Labelled> {
    let name = support::stem(path);
    let truth = std::fs::read_to_string(path.with_file_name(format!("{name}.truth.json"))).ok()?;
    let truth: Value = serde_json::from_str(&truth).expect("the truth is JSON");
    truth.get("labels")?.as_array()?;
    let file = std::fs::File::open(path).expect("the recording can be opened");
    let snapshot = load_from(file, "test", &Progress::default()).expect("the recording can be read");
    Some(Labelled { name, snapshot: Arc::new(snapshot), truth })
}

fn recordings() -> Vec<PathBuf> {
    let mut paths = support::pickles_in(&support::root().join("sample_snapshots"), false);
    let shared = support::root().join("../shared/snapshots/rig");
    if shared.is_dir() {
        paths.extend(support::pickles_in(&shared, true));
    } else {
        support::skipped("no recordings in ../shared; only sample_snapshots were judged");
    }
    paths
}

/// Bytes by wanted and given category.
type Confusion = BTreeMap<(String, &'static str), i64>;

/// What is live at the end of a device, with the labels that are right.
fn judge(
    labelled: &Labelled,
    timeline: &Timeline,
    given: impl Fn(AllocId) -> &'static str,
) -> (i64, i64, Confusion) {
    let device = usize::try_from(timeline.device.0).unwrap_or(usize::MAX);
    let (labels, also) = (&labelled.truth["labels"][device], &labelled.truth["labels_also"][device]);
    let (mut right, mut total, mut confusion) = (0, 0, Confusion::new());
    for id in timeline.lifetimes.live_at(Moment(timeline.events.len() as u32)) {
        let allocation = timeline.lifetimes.get(id, &timeline.events);
        let key = format!("0x{:x}", allocation.addr);
        let Some(wanted) = labels[&key].as_str() else { continue };
        let given = given(id);
        let others = also[&key].as_array().is_some_and(|others| others.iter().any(|other| other == given));
        total += allocation.size.0;
        right += if wanted == given || others { allocation.size.0 } else { 0 };
        let wanted = if others { given } else { wanted };
        *confusion.entry((wanted.to_owned(), given)).or_default() += allocation.size.0;
    }
    (right, total, confusion)
}

fn share(right: i64, total: i64) -> f64 {
    if total == 0 { 1.0 } else { right as f64 / total as f64 }
}

/// The heuristic of an earlier tool, for comparison: the first function name that a list knows.
fn by_first_name(recording: &Recording, id: AllocId) -> &'static str {
    const NAMES: [(&str, &str); 9] = [
        ("backward", "gradient"),
        ("optimizer", "optimizer_state"),
        ("step", "optimizer_state"),
        ("all_gather", "comm"),
        ("reduce_scatter", "comm"),
        ("nccl", "comm"),
        ("forward", "activation"),
        ("__init__", "parameter"),
        ("dataloader", "input"),
    ];
    let stack = recording.lifetimes.stack(id, &recording.events);
    for line in stack_lines(recording.snapshot(), stack) {
        let name = line.rsplit(' ').next().unwrap_or_default().to_ascii_lowercase();
        if let Some((_, category)) = NAMES.iter().find(|(known, _)| name.contains(known)) {
            return category;
        }
    }
    "unknown"
}

#[test]
fn live_bytes_are_attributed_as_the_programs_own_objects_say() {
    let (mut report, mut bad) = (String::new(), Vec::new());
    let (mut ours, mut theirs, mut bytes) = (0, 0, 0);
    for labelled in recordings().iter().filter_map(|path| labelled(path)) {
        for recording in Recording::all(&labelled.snapshot).filter(|one| 0 <= one.device.0) {
            let found = Attribution::of(&recording, &UserRules::default());
            let (right, total, confusion) = judge(&labelled, &recording, |id| found.categories.get(id).key());
            let (other, ..) = judge(&labelled, &recording, |id| by_first_name(&recording, id));
            (ours, theirs, bytes) = (ours + right, theirs + other, bytes + total);
            writeln!(
                report,
                "{:22} {:>14} bytes {:6.2} % right, {:6.2} % by first name",
                labelled.name,
                total,
                100.0 * share(right, total),
                100.0 * share(other, total)
            )
            .expect("text takes everything");
            for ((wanted, given), bytes) in confusion.iter().filter(|((wanted, given), _)| wanted != given) {
                writeln!(report, "    {bytes:>14} bytes of {wanted} taken for {given}")
                    .expect("text takes everything");
            }
            let is_open = OPEN_CATEGORIES.iter().any(|(name, _)| *name == labelled.name);
            let unknown: i64 =
                confusion.iter().filter(|((_, given), _)| *given == "unknown").map(|(_, b)| b).sum();
            let is_bad = if is_open {
                share(right, total - unknown) < WANTED_OF_STATED
            } else {
                share(right, total) < WANTED
            };
            if is_bad {
                bad.push(labelled.name.clone());
            }
        }
    }
    println!(
        "{report}all: {:.2} %, by first name {:.2} %",
        100.0 * share(ours, bytes),
        100.0 * share(theirs, bytes)
    );
    assert!(bad.is_empty(), "below {WANTED}: {bad:?}\n{report}");
    assert!(theirs < ours, "an earlier heuristic does better");
}

#[test]
fn the_dump_lies_in_the_phase_and_iteration_that_the_program_was_in() {
    let (mut report, mut bad, mut starts, mut found_starts) = (String::new(), Vec::new(), 0, 0);
    let (mut devices, mut told, mut numbered) = (0, 0, 0);
    for labelled in recordings().iter().filter_map(|path| labelled(path)) {
        for recording in Recording::all(&labelled.snapshot).filter(|one| 0 <= one.device.0) {
            let phases = Attribution::of(&recording, &UserRules::default()).phases;
            let end = Moment(recording.events.len() as u32);
            let moment = recording.ooms.last().map_or(end, |oom| Moment::after(oom.event));
            let (phase, number) = (phases.phase_at(moment), phases.iteration_at(moment));
            let wanted_phase = labelled.truth["phase_at_dump"].as_str();
            let wanted_number = labelled.truth["iteration_at_dump"].as_u64();
            let device = recording.device.0 as usize;
            let seen: Vec<u64> = labelled.truth["iterations"][device]
                .as_array()
                .map(|starts| starts.iter().filter_map(Value::as_u64).collect())
                .unwrap_or_default();
            let list = &phases.iterations.list;
            let hits = seen.iter().filter(|&&s| list.iter().any(|i| u64::from(i.start.0) == s)).count();
            (starts, found_starts) = (starts + seen.len(), found_starts + hits);
            writeln!(
                report,
                "{:22} phase {} ({}) by {}, iteration {number:?} ({wanted_number:?}), {hits} of {} starts",
                labelled.name,
                phase.key(),
                wanted_phase.unwrap_or("not stated"),
                phases.basis_at(moment).map_or("nothing", PhaseBasis::key),
                seen.len()
            )
            .expect("text takes everything");
            let is_open = |list: &[(&str, &str)]| list.iter().any(|(name, _)| *name == labelled.name);
            let phase_is_right = match wanted_phase {
                Some(_) if phase == Phase::Unknown => is_open(&OPEN_PHASES),
                Some(wanted) => wanted == phase.key() && !is_open(&OPEN_PHASES),
                None => true,
            };
            let number_is_right = match wanted_number {
                Some(_) if number.is_none() => is_open(&OPEN_NUMBERS),
                Some(wanted) => number.map(u64::from) == Some(wanted) && !is_open(&OPEN_NUMBERS),
                None => true,
            };
            if !phase_is_right || !number_is_right {
                bad.push(labelled.name.clone());
            }
            if let Some(wanted) = wanted_phase {
                devices += 1;
                told += usize::from(wanted == phase.key());
                numbered += usize::from(number.map(u64::from) == wanted_number);
            }
        }
    }
    println!("{report}{told} of {devices} dumps lie in the right phase, {numbered} in the right iteration");
    println!("{found_starts} of {starts} iteration starts are exact");
    assert!(bad.is_empty(), "{bad:?}\n{report}");
}

#[test]
fn frames_of_the_interpreter_do_not_split_a_forward() {
    let path = support::root().join("../shared/snapshots/rig/cpp_stacks.pickle");
    if !path.is_file() {
        support::skipped("no recording with C++ frames in ../shared");
        return;
    }
    let labelled = labelled(&path).expect("the recording has labels");
    let recording = Recording::main(&labelled.snapshot).expect("the recording has a device");
    let phases = Attribution::of(&recording, &UserRules::default()).phases;
    let found: Vec<Phase> = phases.phases.iter().map(|start| start.phase).collect();
    assert!(found.contains(&Phase::Forward), "{found:?}");
    assert!(!found.contains(&Phase::Eval), "{found:?}");
}

#[test]
fn rules_come_before_everything_else() {
    let path = support::sample("kv_cache_oom.pickle");
    let labelled = labelled(&path).expect("the sample has labels");
    let recording = Recording::main(&labelled.snapshot).expect("the sample has a device");
    let rules =
        UserRules::parse("[[rule]]\ncategory = 'comm'\nfile = 'generate\\.py$'\nfunction = '^append$'\n");
    let rules = rules.expect("these are rules");
    let end = Moment(recording.events.len() as u32);
    let total = |rules: &UserRules, wanted: Category| {
        let found = Attribution::of(&recording, rules).categories.bytes_at(&recording, end);
        found.iter().find(|row| row.category == wanted).map_or(0, |row| row.bytes.0)
    };
    assert_eq!(total(&UserRules::default(), Category::Comm), 0);
    assert_eq!(total(&rules, Category::Comm), total(&UserRules::default(), Category::KvCache));
    assert_ne!(total(&rules, Category::Comm), 0);
}

#[test]
fn memory_of_the_host_does_not_tell_what_the_device_was_doing() {
    let labelled = labelled(&support::sample("pinned_host.pickle")).expect("the sample has labels");
    let host =
        Recording::of_device(&labelled.snapshot, DeviceId::HOST).expect("the host's memory was recorded");
    let phases = Attribution::of(&host, &UserRules::default()).phases;
    let position = phases.position_at(Moment(host.events.len() as u32));
    assert_eq!((position.phase, position.basis, position.iteration), (Phase::Unknown, None, None));
    let device = Recording::main(&labelled.snapshot).expect("the sample has a device");
    let phases = Attribution::of(&device, &UserRules::default()).phases;
    assert_eq!(phases.phase_at(Moment(device.events.len() as u32)), Phase::Optimizer);
}
