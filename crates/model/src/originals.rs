//! The program's own lines in place of what stands for them in a recorded stack: code that `torch.compile` generated, and texts.

use super::{FrameId, StackId, StackTable, StrId};
use foldhash::HashMap;
use std::sync::Arc;

/// The most frames that all stacks may have beyond the recorded ones: 1 MiB. Real stacks have some ten more than were recorded;
/// texts that are made for it would give each of them thousands.
const MAX_MORE_FRAMES: usize = 1 << 18;

/// The lines that a recorded frame stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OriginalLines {
    /// As frames, innermost first.
    pub frames: Arc<[FrameId]>,
    /// Whether the frame is a text. A stack of texts begins with the outermost, and has lines of code between them.
    pub is_text: bool,
    /// What generated code calls there.
    pub target: Option<StrId>,
}

/// Stacks as they were recorded, where those of the snapshot show the program's own lines.
#[derive(Debug)]
pub struct Originals {
    /// By the same ids.
    recorded: StackTable,
    /// By stack, the first that shows the same and calls the same.
    first: Vec<StackId>,
    lines: HashMap<FrameId, OriginalLines>,
}

impl Originals {
    /// Put lines in place of the frames that stand for them. Returns what was recorded, and how many stacks show it because
    /// there is no room for more.
    pub fn put_into(stacks: &mut StackTable, lines: HashMap<FrameId, OriginalLines>) -> (Self, u64) {
        let mut originals = Self { recorded: std::mem::take(stacks), first: vec![StackId::EMPTY], lines };
        let (mut different, mut first_of) = (StackTable::default(), vec![StackId::EMPTY]);
        let (mut room, mut left_out) = (MAX_MORE_FRAMES, 0);
        for id in (1..originals.recorded.len() as u32).map(StackId) {
            let recorded = originals.recorded.frames(id);
            let more = originals.length(recorded).saturating_sub(recorded.len());
            let mut shown = Vec::new();
            match room.checked_sub(more) {
                Some(left) => {
                    room = left;
                    shown.extend(originals.lines_of(recorded).map(|(line, _)| line));
                }
                None => left_out += 1,
            }
            let shown = if shown.is_empty() { recorded } else { &shown };
            stacks.push(shown);
            let different = different.intern(&originals.with_targets(recorded, shown));
            first_of.extend((first_of.len() <= different.index()).then_some(id));
            originals.first.push(first_of[different.index()]);
        }
        (originals, left_out)
    }

    /// The stacks as they were recorded, by the ids of those that show lines.
    pub fn recorded(&self) -> &StackTable {
        &self.recorded
    }

    /// What a stack shows, with what its generated code calls in place of frames: several operations have one line.
    fn with_targets(&self, recorded: &[FrameId], shown: &[FrameId]) -> Vec<FrameId> {
        let targets = recorded.iter().filter_map(|id| self.lines.get(id)?.target);
        targets
            .map(|target| FrameId(target.0))
            .chain([FrameId(u32::MAX)])
            .chain(shown.iter().copied())
            .collect()
    }

    /// The first stack that shows the same as one, and calls the same.
    pub(super) fn first(&self, stack: StackId) -> StackId {
        self.first.get(stack.index()).copied().unwrap_or(stack)
    }

    /// The lines that a recorded stack stands for. The innermost of those that one frame stands for comes with that frame.
    pub(super) fn lines_of<'s>(
        &'s self,
        recorded: &'s [FrameId],
    ) -> impl Iterator<Item = (FrameId, Option<FrameId>)> + 's {
        let is_text = recorded.iter().any(|id| self.lines.get(id).is_some_and(|lines| lines.is_text));
        (0..recorded.len()).flat_map(move |at| {
            let id = &recorded[if is_text { recorded.len() - 1 - at } else { at }];
            let lines = self.lines.get(id);
            let as_recorded = if is_text { &[] } else { std::slice::from_ref(id) };
            let shown = lines.map_or(as_recorded, |lines| &lines.frames);
            let stands_for = lines.map(|_| *id);
            shown.iter().enumerate().map(move |(at, &line)| (line, stands_for.filter(|_| at == 0)))
        })
    }

    /// Number of frames that a recorded stack shows at most.
    fn length(&self, recorded: &[FrameId]) -> usize {
        let shown = |id: &FrameId| self.lines.get(id).map_or(1, |lines| lines.frames.len());
        recorded.iter().map(shown).fold(0, usize::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GENERATED: FrameId = FrameId(0);
    const TEXTS: [FrameId; 3] = [FrameId(1), FrameId(2), FrameId(3)];

    /// What a stack of generated code, one of texts and one of neither show.
    fn shown(of_generated: &[FrameId]) -> (StackTable, Originals, u64) {
        let mut stacks = StackTable::default();
        for stack in [&[FrameId(8), GENERATED, FrameId(9)][..], &TEXTS, &[FrameId(9)]] {
            stacks.intern(stack);
        }
        let lines =
            |frames: &[FrameId], is_text| OriginalLines { frames: frames.into(), is_text, target: None };
        // The second text is a line of code.
        let texts = [(TEXTS[0], lines(&[FrameId(4)], true)), (TEXTS[2], lines(&[FrameId(5)], true))];
        let all = texts.into_iter().chain([(GENERATED, lines(of_generated, false))]);
        let (originals, left_out) = Originals::put_into(&mut stacks, all.collect());
        (stacks, originals, left_out)
    }

    #[test]
    fn lines_take_the_place_of_what_stands_for_them() {
        let (stacks, originals, left_out) = shown(&[6, 7].map(FrameId));
        assert_eq!(stacks.frames(StackId(1)), [8, 6, 7, 9].map(FrameId));
        assert_eq!(stacks.frames(StackId(2)), [5, 4].map(FrameId));
        assert_eq!(stacks.frames(StackId(3)), [FrameId(9)]);
        assert_eq!((stacks.len(), left_out), (4, 0));
        let first: Vec<u32> = (0..4).map(|id| originals.first(StackId(id)).0).collect();
        assert_eq!(first, [0, 1, 2, 3]);
        assert_eq!(originals.recorded().frames(StackId(1)), [FrameId(8), GENERATED, FrameId(9)]);
        let stand_for: Vec<Option<FrameId>> =
            originals.lines_of(originals.recorded().frames(StackId(1))).map(|(_, from)| from).collect();
        assert_eq!(stand_for, [None, Some(GENERATED), None, None]);
    }

    #[test]
    fn stacks_that_show_the_same_are_known_by_the_first() {
        let mut stacks = StackTable::default();
        for frame in 1..=3 {
            stacks.intern(&[FrameId(frame)]);
        }
        let lines = |frame: u32, target: u32| {
            let frames = [FrameId(9)].into();
            (FrameId(frame), OriginalLines { frames, is_text: false, target: Some(StrId(target)) })
        };
        let (originals, _) =
            Originals::put_into(&mut stacks, [lines(1, 7), lines(2, 7), lines(3, 8)].into_iter().collect());
        let first: Vec<u32> = (0..4).map(|id| originals.first(StackId(id)).0).collect();
        assert_eq!(first, [0, 1, 1, 3]);
    }

    #[test]
    fn a_stack_without_room_stays_as_it_was_recorded() {
        let (stacks, _, left_out) = shown(&vec![FrameId(6); MAX_MORE_FRAMES + 2]);
        assert_eq!((stacks.frames(StackId(1)), left_out), (&[FrameId(8), GENERATED, FrameId(9)][..], 1));
        assert_eq!(stacks.frames(StackId(2)), [5, 4].map(FrameId));
    }
}
