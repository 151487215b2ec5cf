//! Live memory of both sides by stack, in the terms of the second side.

use super::lines::{CodeLine, match_lines};
use super::side::Side;
use crate::analysis::{FrameKey, FrameNames, site_frame};
use crate::model::{Snapshot, StackId};
use foldhash::HashMap;
use std::collections::BTreeMap;

/// The most frames of a stack. Deeper stacks are mostly runaway recursion, and would make a picture of unlimited height.
const MAX_FRAMES: usize = 256;

/// The memory of one stack on both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StackPair {
    /// Its frames of the program and of packages, outermost first, each by its name on the second side if that has it.
    pub frames: Vec<String>,
    /// Live bytes on either side.
    pub bytes: [i128; 2],
}

/// The live memory of both sides by stack, in the order of frames. Frames of torch and of compiled code are left out; a stack
/// without others keeps the one that names it.
pub fn compare_stacks(a: &Side<'_>, b: &Side<'_>) -> Vec<StackPair> {
    let (names_a, names_b) = (FrameNames::new(a.snapshot), FrameNames::new(b.snapshot));
    let label = |names: &FrameNames, key: FrameKey| names.get(key).label.clone();
    let same = if std::ptr::eq(a.snapshot, b.snapshot) {
        HashMap::default()
    } else {
        same_frames([a.snapshot, b.snapshot], [&names_a, &names_b])
    };
    let label_a = |key| same.get(&key).map_or_else(|| label(&names_a, key), |&other| label(&names_b, other));
    let mut sums: BTreeMap<Vec<String>, [i128; 2]> = BTreeMap::new();
    for (stack, bytes) in by_stack(a) {
        add(&mut sums, path(a.snapshot, &names_a, stack, label_a), 0, bytes);
    }
    for (stack, bytes) in by_stack(b) {
        add(&mut sums, path(b.snapshot, &names_b, stack, |key| label(&names_b, key)), 1, bytes);
    }
    sums.into_iter().map(|(frames, bytes)| StackPair { frames, bytes }).collect()
}

fn add(sums: &mut BTreeMap<Vec<String>, [i128; 2]>, frames: Vec<String>, side: usize, bytes: i128) {
    let sum = &mut sums.entry(frames).or_default()[side];
    *sum = sum.saturating_add(bytes);
}

fn by_stack(side: &Side<'_>) -> BTreeMap<StackId, i128> {
    let mut sums: BTreeMap<StackId, i128> = BTreeMap::new();
    for id in side.timeline.lifetimes.live_at(side.moment) {
        let sum = sums.entry(side.timeline.stack(id)).or_default();
        *sum = sum.saturating_add(i128::from(side.timeline.size(id)));
    }
    sums
}

/// The frames of a stack by name, outermost first.
fn path(
    snapshot: &Snapshot,
    names: &FrameNames,
    stack: StackId,
    label: impl Fn(FrameKey) -> String,
) -> Vec<String> {
    let outermost_first = snapshot.stacks.frames(stack).iter().rev().map(|&frame| names.key(frame));
    let kept = outermost_first.filter(|&key| !names.get(key).is_internal).take(MAX_FRAMES);
    let frames: Vec<String> = kept.map(&label).collect();
    if frames.is_empty() { vec![label(names.site(snapshot, stack))] } else { frames }
}

/// The frames of the first file that the second has as well, matched across edits.
fn same_frames(snapshots: [&Snapshot; 2], names: [&FrameNames; 2]) -> HashMap<FrameKey, FrameKey> {
    let lines = [0, 1].map(|side| own_lines(snapshots[side], names[side]));
    let [codes_a, codes_b] =
        [0, 1].map(|side: usize| lines[side].iter().map(|(_, line)| line.clone()).collect::<Vec<CodeLine>>());
    let pairs = match_lines(&codes_a, &codes_b);
    let pairs = lines[0].iter().zip(pairs);
    pairs.filter_map(|((key, _), same)| Some((*key, lines[1].get(same?)?.0))).collect()
}

fn own_lines(snapshot: &Snapshot, names: &FrameNames) -> Vec<(FrameKey, CodeLine)> {
    let own = (0..).map(FrameKey).zip(names.all()).filter(|(_, name)| !name.is_internal);
    own.filter_map(|(key, name)| {
        let frame = site_frame(snapshot, name.frame?);
        let line = CodeLine { file: frame.file, function: frame.name, line: frame.line, calls: Vec::new() };
        Some((key, line))
    })
    .collect()
}
