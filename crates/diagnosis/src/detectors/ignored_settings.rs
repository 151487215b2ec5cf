//! Settings of the allocator that were asked for and are not in effect.

use crate::assessment::Assessment;
use crate::case::Case;
use crate::finding::{Finding, Severity};
use crate::findings::FindingId;
use crate::sentence::{Sentence, name, say};
use oomscope_model::{CONF_VARIABLES, SettingValue, Snapshot};
use oomscope_simulator::{Ignored, Settings};

/// The first version of torch that reads `PYTORCH_ALLOC_CONF`.
const FIRST_WITH_NEW_NAME: (u32, u32) = (2, 9);

/// Characters of a version that are shown.
const MAX_VERSION: usize = 32;

pub(super) fn find(assessment: &Assessment<'_>) -> Vec<Finding> {
    let case = assessment.case;
    let ignored = Settings::ignored(case.recording);
    ignored.into_iter().map(|ignored| described(case, ignored)).collect()
}

fn described(case: &Case<'_>, ignored: Ignored) -> Finding {
    let severity = if case.is_oom() { Severity::Warning } else { Severity::Info };
    let title = say!("{} was asked for and is not in effect", ignored.name);
    let mut finding = Finding::new(FindingId::SettingNotInEffect, severity, title);
    finding.because(reason(case.recording.snapshot(), ignored));
    if ignored.name == "expandable_segments" {
        finding.advise("Look in the log for torch's warning \"expandable_segments not supported on this platform\": where it was built without them, the setting changes nothing.");
    } else {
        finding.advise(say!("Set it before torch is imported, and look for a later call of {}.memory._set_allocator_settings, which replaces all settings.", case.words.module));
    }
    finding
}

/// Why, as far as the file shows it.
fn reason(snapshot: &Snapshot, ignored: Ignored) -> Sentence {
    let recorded = version(snapshot);
    let [old, new] = [CONF_VARIABLES[0], CONF_VARIABLES[1]];
    let has = |variable: &str| snapshot.settings.iter().any(|setting| setting.name == variable);
    if let Some((text, version)) = recorded.clone() {
        let reads_new = FIRST_WITH_NEW_NAME <= version;
        if !reads_new && ignored.variable == Some(new) {
            return say!("torch {} reads {} alone; {} is read since 2.9.", name(text), old, new);
        }
        if reads_new && ignored.variable == Some(old) && has(new) {
            return say!("Since torch 2.9, {} counts where both are set; this is {}.", new, name(text));
        }
    }
    if ignored.name == "expandable_segments" && is_windows(snapshot) {
        return "The paths in the stacks are of Windows, where torch has no expandable segments.".into();
    }
    let version = match recorded {
        Some((text, _)) => say!("This is torch {}, but the file does not show its platform", name(text)),
        None => "The file does not state the version of torch or its platform".into(),
    };
    let usual = if ignored.name == "expandable_segments" {
        "they need a build with CUDA's driver API, which Windows and some builds do not have"
    } else {
        "the program may have changed it since, or set it after the first allocation"
    };
    say!("{}, and so not why: {}.", version, usual)
}

/// The version of torch that the recorder noted, as text and as its first two numbers.
fn version(snapshot: &Snapshot) -> Option<(String, (u32, u32))> {
    let noted = snapshot.recorder.iter().find(|setting| setting.name == "torch")?;
    let SettingValue::Text(text) = &noted.value else { return None };
    let mut numbers = text.split('.').map(|part| part.parse::<u32>().ok());
    let version = (numbers.next()??, numbers.next()??);
    Some((text.chars().filter(char::is_ascii_graphic).take(MAX_VERSION).collect(), version))
}

/// Whether paths of frames begin with a drive of Windows.
fn is_windows(snapshot: &Snapshot) -> bool {
    let is_drive = |path: &str| path.as_bytes().get(1..3).is_some_and(|rest| rest == b":\\" || rest == b":/");
    snapshot.frames.all().iter().any(|frame| is_drive(&snapshot.strings.path(frame.file)))
}
