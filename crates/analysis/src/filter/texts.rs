//! Texts are looked for once per frame and stack, not once per allocation or event.

use crate::stacks::site::{best_place, site_rank};
use crate::{frame_line, site_frame};
use oomscope_model::{Context, Frame, FrameId, Snapshot, StackId, StrId};
use rayon::prelude::*;
use std::borrow::Cow;

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
    let frames = (0..snapshot.frames.len() as u32).map(|id| snapshot.frames.get(FrameId(id)));
    let has_needle = strings_with(snapshot, frames.flat_map(|frame| [frame.file, frame.name]), needles);
    // A needle that is in neither text alone may be in both: then it has no more of each than its own length.
    let longest = needles.iter().map(|needle| needle.chars().count()).max().unwrap_or_default();
    let is_hit = by_frame(snapshot, |id| {
        let Frame { file, line, name, .. } = snapshot.frames.get(id);
        let is_between = || {
            let (file, name) = (
                last(snapshot.strings.whole_bytes(file), longest),
                first(snapshot.strings.name_bytes(name), longest),
            );
            !file.is_empty() && has_any(&format!("{file}:{line} {name}"), needles)
        };
        has_needle[file.0 as usize] || has_needle[name.0 as usize] || is_between()
    });
    by_stack(snapshot, |frames| frames.iter().any(|frame| is_hit[frame.index()]))
}

/// By string, whether it is one of these and has any of the needles. Thousands of frames and events may share a text of
/// megabytes, which is read once.
fn strings_with(snapshot: &Snapshot, texts: impl Iterator<Item = StrId>, needles: &[String]) -> Vec<bool> {
    let mut is_looked_at = vec![false; snapshot.strings.len()];
    texts.for_each(|text| is_looked_at[text.index()] = true);
    let strings = is_looked_at.into_par_iter().enumerate();
    strings.map(|(id, is_in)| is_in && has_any(&snapshot.strings.whole(StrId(id as u32)), needles)).collect()
}

/// The most bytes of a character.
const CHAR_BYTES: usize = 4;

/// As many characters of a text's start, or a few more.
fn first(text: &[u8], chars: usize) -> Cow<'_, str> {
    String::from_utf8_lossy(&text[..text.len().min(CHAR_BYTES * (chars + 1))])
}

/// As many characters of a text's end, or a few more.
fn last(text: &[u8], chars: usize) -> Cow<'_, str> {
    String::from_utf8_lossy(&text[text.len().saturating_sub(CHAR_BYTES * (chars + 1))..])
}

/// By stack, whether its site reads like one of the needles; see
/// [`site_label`](crate::site_label).
pub(super) fn sites_with(snapshot: &Snapshot, needles: &[String]) -> Vec<bool> {
    let names = by_frame(snapshot, |id| {
        let frame = site_frame(snapshot, id);
        (site_rank(&frame), has_any(&frame_line(&frame), needles))
    });
    let is_nameless_hit = has_any(&crate::site_label(snapshot, StackId::EMPTY), needles);
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

/// By context of a device's events, whether one of its texts has any of the needles.
pub(super) fn contexts_with<const N: usize>(
    snapshot: &Snapshot,
    contexts: &[Context],
    texts: impl Fn(&Context) -> [Option<StrId>; N],
    needles: &[String],
) -> Vec<bool> {
    let has_needle = strings_with(snapshot, contexts.iter().flat_map(&texts).flatten(), needles);
    let has_any = |context| texts(context).into_iter().flatten().any(|text| has_needle[text.index()]);
    contexts.iter().map(has_any).collect()
}

/// The metadata of an event.
pub(super) fn metadata(context: &Context) -> [Option<StrId>; 3] {
    [context.user_metadata, context.internal_metadata, context.compile_context]
}
