//! The failed request in words: who asked, what there was, and why nothing could serve it.

use crate::case::{Case, Shortage, largest_by_repetition};
use crate::cause::Pieces;
use crate::figure;
use crate::finding::Finding;
use crate::sentence::{Sentence, name, say};
use crate::words::Words;
use oomscope_model::{Action, Bytes, EventIx, StackId};
use oomscope_program::numbers::{MANY, SEVERAL};
use std::collections::{BTreeMap, BTreeSet};

/// Code that records so that an OOM can be explained, also one that the program catches.
const RECORD_ON_OOM: &str = "\
torch.cuda.memory._record_memory_history(max_entries=1_000_000)
def dump(device, alloc, device_alloc, device_free):
    torch.cuda.memory._dump_snapshot(\"oom.pickle\")
torch._C._cuda_attach_out_of_memory_observer(dump)";

/// The same where the name of the function that attaches an observer is not known.
const RECORD_AT_EXCEPTION: &str = "\
torch.cuda.memory._record_memory_history(max_entries=1_000_000)
try:
    train()
except torch.OutOfMemoryError:
    torch.cuda.memory._dump_snapshot(\"oom.pickle\")
    raise";

/// Code that records so that an OOM can be explained.
pub(super) fn record_on_oom(words: Words) -> String {
    if words.module == "torch.cuda" { RECORD_ON_OOM.to_owned() } else { words.code(RECORD_AT_EXCEPTION) }
}

/// A program that goes on for more events than this after the OOM has handled it, which is worth saying.
const HANDLED_EVENTS: usize = 1000;

/// Explain the request, the memory that there was, and why neither a hole nor the device could serve it.
pub(super) fn explain(finding: &mut Finding, case: &Case<'_>, shortage: &Shortage) {
    let event = figure::event(shortage.oom.event);
    let requested = figure::bytes(shortage.oom.requested);
    let asked = case.code.lines(request_stack(case, shortage));
    let by = asked.first().map(|&key| say!(" by {}", name(case.code.label(key))));
    finding.explain(say!("The request{} for {} failed ({}).", by, requested, event));
    finding.explain(say!(
        "PyTorch had reserved {}: {} in use{} and {} free in {}. {}",
        figure::bytes(shortage.reserved_bytes),
        figure::bytes(shortage.active_bytes).of(shortage.reserved_bytes),
        with_rounding(case, shortage),
        figure::bytes(shortage.hole_bytes).of(shortage.reserved_bytes),
        figure::counted(case.state.total.holes, "hole"),
        largest_hole(shortage)
    ));
    finding.explain(device(shortage));
    if case.recording.ooms.len() > 1 {
        let n = figure::count(case.recording.ooms.len());
        finding.explain(say!("The recording has {} failed requests; this is about {}.", n, event));
    }
    let after = case.recording.events.len() - shortage.oom.event.index() - 1;
    if HANDLED_EVENTS < after {
        let after = figure::count(after);
        finding.explain(say!("The program went on for {} more events.", after));
    }
}

/// Words behind the bytes in use, if these read differently from the requested bytes.
pub(super) fn with_rounding(case: &Case<'_>, shortage: &Shortage) -> &'static str {
    let requested = case.recording.active.at(case.moment);
    let [requested, active] = [requested, shortage.active_bytes].map(|bytes| figure::bytes(bytes).text());
    if requested == active { "" } else { " with rounding" }
}

fn largest_hole(shortage: &Shortage) -> Sentence {
    let fit = &shortage.fit;
    if fit.holes == 0 {
        "None of the holes is for this request.".into()
    } else if !fit.with_room.is_empty() {
        say!(
            "The largest that this request could use has {}, which is enough.",
            figure::bytes(fit.largest_bytes).of(shortage.hole_bytes)
        )
    } else if figure::bytes(fit.largest_bytes).text() == figure::bytes(shortage.oom.requested).text() {
        "The largest that this request could use is just too small.".into()
    } else {
        say!(
            "The largest that this request could use has {}.",
            figure::bytes(fit.largest_bytes).of(shortage.hole_bytes)
        )
    }
}

fn device(shortage: &Shortage) -> Sentence {
    let needed = figure::bytes(shortage.needed_bytes);
    let what = if shortage.maps_pages { "new pages" } else { "a new segment" };
    match (shortage.free_bytes(), shortage.missing_bytes()) {
        (Some(free), _) if shortage.is_refused_by_limit() => say!(
            "The device had {} free, more than the {} needed: a limit refused them (per_process_memory_fraction, set_per_process_memory_fraction, or the driver).",
            figure::bytes(free),
            needed
        ),
        (Some(free), Some(missing)) => say!(
            "The device had {} free, {} less than the {} needed for {}.",
            figure::bytes(free),
            figure::bytes(missing).of(shortage.needed_bytes),
            needed,
            what
        ),
        _ => say!("{} were needed for {}.", needed, what),
    }
}

/// The stack of the request or, if that shows no code as in a backward pass, the stack of the forward operation.
pub(super) fn request_stack(case: &Case<'_>, shortage: &Shortage) -> StackId {
    let event = case.recording.events.get(shortage.oom.event);
    let is_known = |stack: StackId| !case.code.lines(stack).is_empty();
    if !is_known(event.stack) && is_known(event.forward_stack) { event.forward_stack } else { event.stack }
}

/// A sentence about the sizes that the line requested before, if they differ.
pub(super) fn earlier_sizes(case: &Case<'_>, shortage: &Shortage) -> Option<Sentence> {
    let timeline = case.recording.timeline();
    let stack = request_stack(case, shortage);
    if stack == StackId::EMPTY {
        return None;
    }
    let earlier = (0..shortage.oom.event.0).map(EventIx);
    let same = earlier
        .filter(|&ix| timeline.events.action(ix) == Action::Alloc && timeline.events.stack(ix) == stack);
    let sizes: BTreeSet<Bytes> = same.map(|ix| timeline.events.size(ix)).collect();
    let (smallest, largest) = (sizes.first()?, sizes.last()?);
    let what = if case.code.lines(stack).is_empty() { "code" } else { "line" };
    (SEVERAL <= sizes.len()).then(|| {
        say!("Before, the same {} asked for {} different sizes, from {} to {}: what one leaves free does not fit the next.", what, figure::count(sizes.len()), figure::bytes(*smallest), figure::bytes(*largest))
    })
}

/// By how much the failed request extends a tensor, and how often in a row: the same code has asked for the same amount more in
/// each of the last calls or iterations, and the tensor before is still there while the new one is made.
pub(super) fn extension(case: &Case<'_>, shortage: &Shortage) -> Option<(Bytes, usize)> {
    let (more, times) = growth(case, shortage)?;
    // Sizes grow for other reasons, too.
    let old = shortage.oom.requested - more;
    let stack = case.recording.events.stack(shortage.oom.event);
    case.live.iter().any(|a| a.stack == stack && a.size == old).then_some((more, times))
}

/// Say that the failed request extends a tensor, if it does.
pub(super) fn explain_extension(finding: &mut Finding, case: &Case<'_>, shortage: &Shortage) {
    let Some((more, times)) = extension(case, shortage) else { return };
    finding.explain(say!("The request grows: the same code asked for {} more in each of the last {} {}, as when a tensor is extended, or a list is put together, every time. The old tensor and the new one are there at once.", figure::bytes(more), figure::count(times), case.repetitions.noun([shortage.oom.event].into_iter()).plural()));
    finding.advise_code(
        "Limit how far it grows, allocate it once at its final size and write into it (of a cache of keys and values: a static cache), or collect the pieces on the CPU:",
        "result[start:start + len(piece)] = piece  # into a tensor of the final size\nparts.append(piece.cpu())                 # or: torch.cat(parts) once, at the end",
    );
}

/// By how much, and how often in a row, the largest allocation of the request's stack in a repetition has grown.
fn growth(case: &Case<'_>, shortage: &Shortage) -> Option<(Bytes, usize)> {
    let timeline = case.recording.timeline();
    let stack = timeline.events.stack(shortage.oom.event);
    let current = case.repetitions.index_of(shortage.oom.event)?;
    if stack == StackId::EMPTY {
        return None;
    }
    let made = largest_by_repetition(case, |one| one == stack).remove(&stack).unwrap_or_default();
    let mut sizes: BTreeMap<usize, Bytes> =
        made.into_iter().map(|(index, id)| (index, timeline.size(id))).collect();
    let now = sizes.entry(current).or_insert(shortage.oom.requested);
    *now = shortage.oom.requested.max(*now);
    let sizes: Vec<Bytes> = sizes.into_values().rev().collect();
    let mut rises = sizes.windows(2).map(|pair| pair[0] - pair[1]);
    let more = rises.next().filter(|&more| 0 < more)?;
    let times = 1 + rises.take_while(|&rise| rise == more).count();
    (MANY <= times).then_some((more, times))
}

/// Explain that the request was to put pieces together or, where no stack shows it, what to do if it was.
pub(super) fn explain_pieces(finding: &mut Finding, case: &Case<'_>, pieces: Pieces) {
    let lines = case.code.lines(pieces.row.stack);
    let by = lines.first().map(|&key| say!(" that {} made", name(case.code.label(key))));
    let blocks = figure::counted(pieces.row.count, "block");
    if pieces.is_seen {
        finding.explain(say!(
            "The request is to put the {}{} into one tensor: all of it is needed twice.",
            blocks,
            by
        ));
        finding.advise("Allocate the result once and write each piece into it, put pieces together on the CPU, or use them one by one.");
    } else {
        finding.advise(say!("If the line puts the {}{} into one tensor (torch.cat, torch.stack), which are exactly as large, all of it is needed twice: allocate the result once and write each piece into it, put pieces together on the CPU, or use them one by one.", blocks, by));
    }
}
