//! Texts are looked for once per frame and stack, not once per allocation or event.

use crate::analysis::stacks::site::{best_place, site_rank};
use crate::analysis::{frame_line, site_frame};
use crate::model::{Context, FrameId, Snapshot, StackId, StrId};
use rayon::prelude::*;

/// The note on a query for texts of stacks where there are none.
pub(super) const NO_STACKS: &str = "no stacks were recorded";

/// Whether any stack was recorded; the empty one always is there.
pub(super) fn has_stacks(snapshot: &Snapshot) -> bool {
    1 < snapshot.stacks.len()
}

/// Whether a text has any of the needles, which are in lower case.
pub(super) fn has_any(text: &str, needles: &[String]) -> bool {
    let text = text.to_lowercase();
    needles.iter().any(|needle| text.contains(needle.as_str()))
}

/// By stack, whether any frame reads like one of the needles: `file:line function`.
pub(super) fn stacks_with(snapshot: &Snapshot, needles: &[String]) -> Vec<bool> {
    let is_hit = by_frame(snapshot, |id| {
        let frame = snapshot.frames.get(id);
        let (file, name) = (snapshot.strings.get(frame.file), snapshot.strings.get(frame.name));
        if file.is_empty() {
            has_any(&name, needles)
        } else {
            has_any(&format!("{file}:{} {name}", frame.line), needles)
        }
    });
    by_stack(snapshot, |frames| frames.iter().any(|frame| is_hit[frame.index()]))
}

/// By stack, whether its site reads like one of the needles; see
/// [`site_label`](crate::analysis::site_label).
pub(super) fn sites_with(snapshot: &Snapshot, needles: &[String]) -> Vec<bool> {
    let names = by_frame(snapshot, |id| {
        let frame = site_frame(snapshot, id);
        (site_rank(&frame), has_any(&frame_line(&frame), needles))
    });
    let is_nameless_hit = has_any(&crate::analysis::site_label(snapshot, StackId::EMPTY), needles);
    by_stack(snapshot, |frames| {
        let place = best_place(frames.iter().map(|frame| names[frame.index()].0));
        place.map_or(is_nameless_hit, |at| names[frames[at].index()].1)
    })
}

pub(super) fn by_frame<T: Send>(snapshot: &Snapshot, of: impl Fn(FrameId) -> T + Send + Sync) -> Vec<T> {
    (0..snapshot.frames.len() as u32).into_par_iter().map(|id| of(FrameId(id))).collect()
}

fn by_stack(snapshot: &Snapshot, of: impl Fn(&[FrameId]) -> bool + Send + Sync) -> Vec<bool> {
    let stacks = (0..snapshot.stacks.len() as u32).into_par_iter();
    stacks.map(|id| of(snapshot.stacks.frames(StackId(id)))).collect()
}

/// Whether any metadata of an event has one of the needles.
pub(super) fn metadata_has(snapshot: &Snapshot, context: &Context, needles: &[String]) -> bool {
    let all = [context.user_metadata, context.internal_metadata, context.compile_context];
    all.into_iter().any(|text| has(snapshot, text, needles))
}

/// Whether a text that may be missing has one of the needles.
pub(super) fn has(snapshot: &Snapshot, text: Option<StrId>, needles: &[String]) -> bool {
    text.is_some_and(|id| has_any(&snapshot.strings.get(id), needles))
}
