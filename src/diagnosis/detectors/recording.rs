//! What the recording cannot show, and how to record it.

use crate::diagnosis::{Context, Finding, Severity};
use crate::model::{Action, Anchor, Moment};
use crate::units;

const RECORD: &str = "torch.cuda.memory._record_memory_history(max_entries=1_000_000)";
const RECORD_ALL: &str = "torch.cuda.memory._record_memory_history(max_entries=1_000_000, stacks=\"all\")";

/// A part of what is live that is worth a word, as a share.
const MIN_SHARE: f64 = 0.05;

/// What is missing, and the call that would have it.
struct Gap {
    title: &'static str,
    text: String,
    fix: Option<(&'static str, &'static str)>,
}

pub(super) fn find(context: &Context<'_>) -> Vec<Finding> {
    let gaps: Vec<Gap> = [damage, no_history, late, no_stacks, no_own_code, no_frees]
        .iter()
        .filter_map(|look| look(context))
        .collect();
    let Some(first) = gaps.first() else { return Vec::new() };
    let mut finding = Finding::new(
        "recording-limits",
        Severity::Info,
        format!("What the recording cannot show: {}", first.title),
    );
    if 1 < gaps.len() {
        let titles: Vec<&str> = gaps.iter().map(|gap| gap.title).collect();
        finding.title = format!("What the recording cannot show: {}", titles.join(", "));
    }
    let timeline = context.timeline;
    finding.evidence.count("events", "events", timeline.events.len());
    let before = timeline.active.at(Moment::START);
    if before != 0 {
        finding.evidence.bytes("active_before_bytes", "in use before the first event", before);
    }
    for gap in gaps {
        finding.explain(gap.text);
        if let Some((text, code)) = gap.fix
            && !finding.advice.iter().any(|known| known.code.as_deref() == Some(code))
        {
            finding.advise_code(text, code);
        }
    }
    vec![finding]
}

fn damage(context: &Context<'_>) -> Option<Gap> {
    let damage = context.snapshot.damage.as_ref()?;
    let mut text = format!(
        "The file is damaged at byte {}; only what is whole before it was read.",
        units::count(damage.offset)
    );
    if context.timeline.anchor == Anchor::TraceOnly {
        text.push_str(" Its end state is missing, so memory from before the recording is unknown.");
    }
    Some(Gap { title: "the rest of a damaged file", text, fix: None })
}

fn no_history(context: &Context<'_>) -> Option<Gap> {
    if context.has_history() || context.timeline.segments.segments.is_empty() {
        return None;
    }
    Some(Gap {
        title: "what came before the dump",
        text: "No allocations or frees were recorded: the history was off, or kept with enabled=\"state\"."
            .to_owned(),
        fix: Some(("Record from the start of the program, before the model is built:", RECORD)),
    })
}

fn late(context: &Context<'_>) -> Option<Gap> {
    let timeline = context.timeline;
    let before = timeline.active.at(Moment::START);
    let peak = timeline.active.peak().1;
    if !context.has_history() || Context::share(before, peak) < MIN_SHARE {
        return None;
    }
    Some(Gap {
        title: "the beginning",
        text: format!(
            "{} in {} blocks were in use before the first event. Either recording started late, or the oldest events were dropped because max_entries was reached ({} events are here).",
            units::bytes(before),
            units::count(timeline.initial_live_blocks as u64),
            units::count(timeline.events.len() as u64)
        ),
        fix: Some(("Record from the start of the program, with room for all events:", RECORD)),
    })
}

fn no_stacks(context: &Context<'_>) -> Option<Gap> {
    let bytes = context.live.iter().filter(|a| a.stack == crate::model::StackId::EMPTY);
    let bytes = bytes.fold(0i64, |sum, a| sum.saturating_add(a.size));
    let total = context.live.iter().fold(0i64, |sum, a| sum.saturating_add(a.size));
    if Context::share(bytes, total) < MIN_SHARE {
        return None;
    }
    let share = Context::share(bytes, total) * 100.0;
    Some(Gap {
        title: "who allocated some of it",
        text: format!(
            "{} ({share:.0} %) of what is in use have no stack: they are older than the recording, stacks were off, or a thread without Python code allocated them, as the backward pass does.",
            units::bytes(bytes)
        ),
        fix: Some(("Record C++ frames, which show the operator of a backward allocation:", RECORD_ALL)),
    })
}

fn no_own_code(context: &Context<'_>) -> Option<Gap> {
    let has_frames = !context.snapshot.frames.is_empty();
    let own = context.live.iter().any(|a| !context.code.lines(a.stack).is_empty());
    if !has_frames || own || context.live.is_empty() {
        return None;
    }
    Some(Gap {
        title: "Python lines",
        text: "No stack of what is in use has a line of Python outside of torch.".to_owned(),
        fix: Some(("Record Python and C++ frames:", RECORD_ALL)),
    })
}

fn no_frees(context: &Context<'_>) -> Option<Gap> {
    let events = &context.timeline.events;
    let has = |wanted: Action| events.indices().any(|ix| events.action(ix) == wanted);
    let frees_without_request = has(Action::FreeCompleted) && !has(Action::FreeRequested);
    let grows_without_segments = has(Action::Alloc)
        && !has(Action::SegmentAlloc)
        && !has(Action::SegmentMap)
        && 1 < context.timeline.reserved.steps().len();
    if !context.has_history() || (!frees_without_request && !grows_without_segments) {
        return None;
    }
    let what = if frees_without_request { "free_requested" } else { "segment_alloc" };
    Some(Gap {
        title: "some kinds of events",
        text: format!(
            "There is no {what} event: skip_actions left it out, or an old version of PyTorch wrote the file."
        ),
        fix: Some(("Record without skip_actions:", RECORD)),
    })
}
