//! Limits of the recording, and how to record without them.

use crate::assessment::Assessment;
use crate::case::Case;
use crate::figure;
use crate::finding::{Finding, Severity};
use crate::findings::FindingId;
use crate::sentence::{Sentence, say};
use oomscope_model::{Action, Anchor, Bytes, Moment, StackId};
use oomscope_program::share::WORTH;

const RECORD: &str = "torch.cuda.memory._record_memory_history(max_entries=1_000_000)";
const RECORD_ALL: &str = "torch.cuda.memory._record_memory_history(max_entries=1_000_000, stacks=\"all\")";

/// How to record something that is missing, to be read after "Record", and the code for it.
type Fix = (&'static str, &'static str);

/// Something that the recording does not show, and how to record it.
struct Gap {
    title: &'static str,
    text: Sentence,
    fix: Option<Fix>,
}

pub(super) fn find(assessment: &Assessment<'_>) -> Vec<Finding> {
    let case = assessment.case;
    let gaps: Vec<Gap> =
        [damage, contradictory, no_history, late, no_stacks, no_own_code, no_frees, no_names]
            .iter()
            .filter_map(|look| look(case))
            .collect();
    let Some(first) = gaps.first() else { return Vec::new() };
    let mut finding = Finding::new(
        FindingId::RecordingLimits,
        Severity::Info,
        say!("What the recording cannot show: {}", first.title),
    );
    if 1 < gaps.len() {
        let titles = gaps.iter().map(|gap| gap.title.into());
        finding.title = say!("What the recording cannot show: {}", Sentence::joined(titles, ", "));
    }
    let timeline = case.recording.timeline();
    finding.evidence.count("events", "events", timeline.events.len());
    let before = timeline.active.at(Moment::START);
    if before != 0 {
        finding.evidence.bytes("active_before_bytes", "in use before the first event", before);
    }
    let fixes: Vec<Fix> = gaps.iter().filter_map(|gap| gap.fix).collect();
    for gap in gaps {
        finding.explain(gap.text);
    }
    if !fixes.is_empty() {
        // One call that has all of it.
        let how = fixes.iter().map(|fix| fix.0.into());
        let code = if fixes.iter().any(|fix| fix.1 == RECORD_ALL) { RECORD_ALL } else { RECORD };
        finding.advise_code(say!("Record {}:", Sentence::joined(how, "; ")), case.words.code(code));
    }
    vec![finding]
}

fn no_names(case: &Case<'_>) -> Option<Gap> {
    let missing = case.recording.snapshot().census.missing();
    let text = match (missing.tensors, missing.holders) {
        (true, _) => "The recorder had no time to look at all tensors: some have no name.",
        (false, true) => {
            "The recorder had no time to follow all references: some tensors have no variable that holds them."
        }
        (false, false) => return None,
    };
    Some(Gap { title: "the names of all tensors", text: text.into(), fix: None })
}

fn contradictory(case: &Case<'_>) -> Option<Gap> {
    if !case.is_contradictory() {
        return None;
    }
    let active = figure::bytes(case.recording.active.at(case.moment));
    let reserved = figure::bytes(case.recording.reserved.at(case.moment));
    let outside = &case.state.outside;
    let blocks = figure::counted(outside.blocks, "block");
    let verb = if outside.blocks == 1 { "lies" } else { "lie" };
    Some(Gap {
        title: "where its memory was",
        text: say!(
            "The recording contradicts itself: {} in use against {} reserved, and {} with {} {} outside of all segments. Segment events are missing, or the file was changed; figures of reserved memory and the memory map cannot be trusted.",
            active,
            reserved,
            blocks,
            figure::bytes(outside.active_rounded_bytes()),
            verb
        ),
        fix: None,
    })
}

fn damage(case: &Case<'_>) -> Option<Gap> {
    let damage = case.recording.snapshot().damage.as_ref()?;
    let read = say!(
        "The file is damaged at byte {}; only what is whole before it was read.",
        figure::count(damage.offset)
    );
    let is_cut = case.recording.anchor == Anchor::TraceOnly;
    let end = if is_cut {
        " Its end state is missing, so memory from before the recording is unknown."
    } else {
        ""
    };
    let text = say!("{}{}", read, end);
    Some(Gap { title: "the rest of a damaged file", text, fix: None })
}

fn no_history(case: &Case<'_>) -> Option<Gap> {
    if case.has_history() || case.recording.segments.segments.is_empty() {
        return None;
    }
    Some(Gap {
        title: "what came before the dump",
        text: "No allocations or frees were recorded: the history was off, or kept with enabled=\"state\"."
            .into(),
        fix: Some(("from the start of the program, before the model is built", RECORD)),
    })
}

fn late(case: &Case<'_>) -> Option<Gap> {
    let timeline = case.recording.timeline();
    let before = timeline.active.at(Moment::START);
    if !case.starts_late() {
        return None;
    }
    let entries = say!("max_entries was reached ({} events are here)", figure::count(timeline.events.len()));
    let steps = if was_on_before(case) { case.phases().steps_before } else { 0 };
    let why = match steps {
        0 => say!("Either recording started late, or the oldest events were dropped because {}.", entries),
        1 => say!(
            "The oldest events were dropped because {}: an optimizer stepped before the first of these while memory was recorded.",
            entries
        ),
        steps => say!(
            "The oldest events were dropped because {}: optimizers stepped {} times before the first of these while memory was recorded.",
            entries,
            figure::count(steps)
        ),
    };
    let blocks = figure::counted(timeline.initial_live_blocks, "block");
    Some(Gap {
        title: "the beginning",
        text: say!("{} in {} were in use before the first event. {}", figure::bytes(before), blocks, why),
        fix: Some(("from the start of the program, with room for all events", RECORD)),
    })
}

/// Whether memory of this device was recorded before its first event: an older block has a stack, or no other device was
/// in use when steps were announced.
fn was_on_before(case: &Case<'_>) -> bool {
    let timeline = case.recording.timeline();
    let mut older = timeline.ids().take(timeline.lifetimes.initial_count());
    let mut others =
        case.recording.snapshot().timelines.iter().filter(|other| other.device != timeline.device);
    older.any(|id| timeline.stack(id) != StackId::EMPTY) || others.all(|other| other.events.is_empty())
}

fn no_stacks(case: &Case<'_>) -> Option<Gap> {
    if case.has_history() && case.recording.snapshot().frames.is_empty() {
        return Some(Gap {
            title: "lines of code",
            text: "No event has a stack: history was recorded with context=None or without stacks.".into(),
            fix: Some(("with stacks, as context=\"all\" does (the default)", RECORD)),
        });
    }
    let without = || case.live.iter().filter(|a| a.stack == StackId::EMPTY);
    let bytes = without().map(|a| a.size).sum::<Bytes>();
    let total = case.live_bytes();
    if !WORTH.is_reached(bytes, total) {
        return None;
    }
    let is_recorded = without().any(|a| a.alloc_event().is_some());
    let is_older = without().any(|a| a.alloc_event().is_none());
    let why = match (is_older, is_recorded) {
        (true, false) => "they are older than the recording, or stacks were off",
        (false, _) => {
            "stacks were off, or a thread without Python code allocated them, as the backward pass does"
        }
        (true, true) => {
            "they are older than the recording, stacks were off, or a thread without Python code allocated them, as the backward pass does"
        }
    };
    let fix = ("with C++ frames, which show the operator of a backward allocation", RECORD_ALL);
    Some(Gap {
        title: "who allocated some of it",
        text: say!(
            "{} ({}) of what is in use have no stack: {}.",
            figure::bytes(bytes).of(total),
            figure::share(bytes, total),
            why
        ),
        // More frames do not help where nothing was recorded.
        fix: is_recorded.then_some(fix),
    })
}

fn no_own_code(case: &Case<'_>) -> Option<Gap> {
    let has_frames = !case.recording.snapshot().frames.is_empty();
    let own = case.live.iter().any(|a| !case.code.lines(a.stack).is_empty());
    if !has_frames || own || case.live.is_empty() {
        return None;
    }
    Some(Gap {
        title: "Python lines",
        text: "No stack of what is in use has a line of Python outside of torch.".into(),
        fix: Some(("Python and C++ frames", RECORD_ALL)),
    })
}

fn no_frees(case: &Case<'_>) -> Option<Gap> {
    let events = &case.recording.events;
    let has = |wanted: Action| events.indices().any(|ix| events.action(ix) == wanted);
    let frees_without_request = has(Action::FreeCompleted) && !has(Action::FreeRequested);
    let grows_without_segments = has(Action::Alloc)
        && !has(Action::SegmentAlloc)
        && !has(Action::SegmentMap)
        && 1 < case.recording.reserved.steps().len();
    if !case.has_history() || (!frees_without_request && !grows_without_segments) {
        return None;
    }
    let what = if frees_without_request { "free_requested" } else { "segment_alloc" };
    Some(Gap {
        title: "some kinds of events",
        text: say!(
            "There is no {} event: skip_actions left it out, or an old version of PyTorch wrote the file.",
            what
        ),
        fix: Some(("without skip_actions", RECORD)),
    })
}
