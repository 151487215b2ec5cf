//! The names of a file's frames, each different one once, in the order of their text.

use super::native_frame::{NativeRank, is_in_library, is_library, short_name};
use super::site::{NO_STACK, Owner, SiteRank, best_place, frame_line, is_internal, site_rank};
use super::site_frame::SiteFrame;
use crate::printable;
use foldhash::{HashMap, HashSet};
use oomscope_model::{Frame, FrameId, Snapshot, StackId, StrId};
use oomscope_units as units;
use rayon::prelude::*;

/// A frame with a name of its own, as an index into [`FrameNames`]. Keys are in the order of file name,
/// line and function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct FrameKey(pub u32);

impl FrameKey {
    /// The key as an array index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The name of frames for which there is no room.
const OTHERS: &str = "other frames";

/// The name of a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameName {
    /// The whole name: `train.py:55 attention`, with control characters replaced.
    pub label: String,
    /// The byte of the label at which the function starts.
    function_at: usize,
    /// True if it belongs to torch, the interpreter or a C++ library rather than to the user.
    pub is_internal: bool,
    /// Its rank among the frames that may name a stack.
    rank: SiteRank,
    /// One of the frames with this name; `None` for the absence of a stack, and for frames of another file.
    pub frame: Option<FrameId>,
}

impl FrameName {
    /// The function alone.
    pub fn function(&self) -> &str {
        self.label.get(self.function_at..).unwrap_or_default()
    }

    /// The owner of its code.
    pub fn owner(&self) -> Owner {
        match self.rank {
            SiteRank::User => Owner::User,
            SiteRank::Package => Owner::Package,
            SiteRank::Torch | SiteRank::Native(_) => Owner::Runtime,
        }
    }

    /// Whether it is compiled code, which has no lines that a reader could look up.
    pub(crate) fn is_native(&self) -> bool {
        matches!(self.rank, SiteRank::Native(_))
    }

    /// Whether it is code of torch, of the interpreter, or compiled code.
    pub(crate) fn is_runtime(&self) -> bool {
        matches!(self.rank, SiteRank::Torch | SiteRank::Native(_))
    }

    /// The part of the name that is left in little room. For the user's own code it is the file and the line,
    /// since half of the functions there are called `forward`; else the function.
    pub fn short(&self) -> &str {
        let place = self.label.get(..self.function_at).unwrap_or_default().trim_end();
        if self.is_internal || place.is_empty() { self.function() } else { place }
    }
}

/// The names of a file's frames. Frames that differ in FX fields alone have one name.
#[derive(Debug, Clone, Default)]
pub struct FrameNames {
    /// By key.
    names: Vec<FrameName>,
    /// The name of the absence of a stack.
    no_stack: FrameKey,
    /// The name of the frames for which a tree has no room.
    others: FrameKey,
    /// The key of each frame.
    by_frame: Vec<FrameKey>,
}

impl FrameNames {
    /// The names of all frames of a file, and that of the absence of a stack.
    pub fn new(snapshot: &Snapshot) -> Self {
        let mut readable: Vec<(Frame, FrameId)> = Vec::new();
        let mut seen: HashMap<Frame, u32> = HashMap::default();
        let mut libraries: HashMap<StrId, bool> = HashMap::default();
        let frames = (0..snapshot.frames.len() as u32).map(FrameId);
        let same: Vec<u32> = frames
            .map(|id| {
                let frame = snapshot.frames.get(id);
                // Of frames in a library the line is an address, which names do not show.
                let is_address = *libraries
                    .entry(frame.file)
                    .or_insert_with(|| is_library(&snapshot.strings.path(frame.file)));
                let line = if is_address { 0 } else { frame.line };
                let frame = Frame { fx: None, line, ..frame };
                *seen.entry(frame).or_insert_with(|| {
                    readable.push((frame, id));
                    readable.len() as u32 - 1
                })
            })
            .collect();
        let texts = Texts::of(snapshot, readable.iter().map(|&(frame, _)| frame));
        let mut order: Vec<u32> = (0..readable.len() as u32).collect();
        // The index comes last and makes the order total, so that keys are the same in every run.
        order.par_sort_unstable_by_key(|&i| (texts.place(readable[i as usize].0), i));
        let mut key_of = vec![FrameKey(0); readable.len()];
        for (key, &i) in (0..).zip(&order) {
            key_of[i as usize] = FrameKey(key);
        }
        let no_stack = FrameKey(order.len() as u32);
        let mut names: Vec<FrameName> = order
            .par_iter()
            .map(|&i| readable[i as usize])
            .map(|(frame, id)| name(&texts.frame(frame), id))
            .collect();
        let nameless = |label: &str| FrameName {
            label: label.to_owned(),
            function_at: 0,
            is_internal: true,
            rank: SiteRank::Native(NativeRank::Noise),
            frame: None,
        };
        names.extend([NO_STACK, OTHERS].map(nameless));
        let others = FrameKey(no_stack.0 + 1);
        Self { names, no_stack, others, by_frame: same.into_iter().map(|i| key_of[i as usize]).collect() }
    }

    /// The name of a frame.
    #[inline]
    pub fn get(&self, key: FrameKey) -> &FrameName {
        &self.names[key.index()]
    }

    /// The key of a frame.
    #[inline]
    pub fn key(&self, frame: FrameId) -> FrameKey {
        self.by_frame[frame.index()]
    }

    /// The key that stands for the absence of a stack.
    pub fn no_stack(&self) -> FrameKey {
        self.no_stack
    }

    /// The key that stands for the frames of stacks for which a tree has no room.
    pub(super) fn others(&self) -> FrameKey {
        self.others
    }

    /// Add a frame of another file, with a remark behind its label. Its key follows all others.
    pub(crate) fn add_foreign(&mut self, name: &FrameName, remark: &str) -> FrameKey {
        let key = FrameKey(self.names.len() as u32);
        let label = format!("{}{remark}", name.label);
        self.names.push(FrameName { label, frame: None, ..name.clone() });
        key
    }

    /// The frame that names a stack; see [`site_label`](super::site_label).
    pub fn site(&self, snapshot: &Snapshot, stack: StackId) -> FrameKey {
        let frames = snapshot.stacks.frames(stack);
        let place = best_place(frames.iter().map(|&frame| self.get(self.key(frame)).rank));
        place.map_or_else(|| self.no_stack(), |at| self.key(frames[at]))
    }

    /// All names, by key.
    pub fn all(&self) -> &[FrameName] {
        &self.names
    }

    /// True for the names that contain a text, by key. Case does not matter, and no name contains the
    /// empty text.
    pub fn search(&self, text: &str) -> Vec<bool> {
        let wanted = text.trim().to_lowercase();
        let hit = |name: &FrameName| !wanted.is_empty() && name.label.to_lowercase().contains(&wanted);
        self.names.par_iter().map(hit).collect()
    }
}

/// The different texts of frames: each is read once, and compared with others once, however many frames share it.
struct Texts {
    by_id: HashMap<StrId, Text>,
}

/// A text, and its place in the order of all, as a whole and without folders.
struct Text {
    printable: String,
    whole_rank: u32,
    base_rank: u32,
    /// Whether it is the path of code that the user calls their own.
    is_own: bool,
}

impl Texts {
    fn of(snapshot: &Snapshot, frames: impl Iterator<Item = Frame>) -> Self {
        let ids: HashSet<StrId> = frames.flat_map(|frame| [frame.file, frame.name]).collect();
        let mut texts: Vec<(String, StrId)> =
            ids.into_par_iter().map(|id| (printable(snapshot, id), id)).collect();
        texts.par_sort_unstable();
        let whole_ranks = ranks(texts.iter().map(|(text, _)| text.as_str()));
        let mut by_base: Vec<usize> = (0..texts.len()).collect();
        let base = |at: usize| units::basename(&texts[at].0);
        by_base.par_sort_unstable_by(|&a, &b| base(a).cmp(base(b)));
        let mut base_ranks = vec![0; texts.len()];
        for (&at, rank) in by_base.iter().zip(ranks(by_base.iter().map(|&at| base(at)))) {
            base_ranks[at] = rank;
        }
        let ranks = whole_ranks.into_iter().zip(base_ranks);
        let by_id = texts.into_iter().zip(ranks).map(|((printable, id), (whole_rank, base_rank))| {
            let is_own = snapshot.assumed.own_code.has(&printable);
            (id, Text { printable, whole_rank, base_rank, is_own })
        });
        Self { by_id: by_id.collect() }
    }

    /// The place of a frame in the order of file name, line, function and path.
    fn place(&self, frame: Frame) -> (u32, i64, u32, u32) {
        let (file, name) = (&self.by_id[&frame.file], &self.by_id[&frame.name]);
        (file.base_rank, frame.line, name.whole_rank, file.whole_rank)
    }

    fn frame(&self, frame: Frame) -> SiteFrame {
        let text = |id| self.by_id[&id].printable.clone();
        let is_own = self.by_id[&frame.file].is_own;
        SiteFrame { file: text(frame.file), line: frame.line, name: text(frame.name), is_own }
    }
}

/// The place of each text among those that differ, in their order.
fn ranks<'t>(sorted: impl Iterator<Item = &'t str>) -> Vec<u32> {
    let (mut rank, mut last) = (0, None);
    let ranked = sorted.map(|text| {
        rank += u32::from(last.is_some_and(|last| last != text));
        last = Some(text);
        rank
    });
    ranked.collect()
}

fn name(text: &SiteFrame, frame: FrameId) -> FrameName {
    let label = frame_line(text);
    let function = if is_in_library(text) { short_name(&text.name) } else { &text.name };
    let function_at = label.len().saturating_sub(function.len());
    FrameName {
        is_internal: is_internal(text),
        label,
        function_at,
        rank: site_rank(text),
        frame: Some(frame),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site_label;
    use oomscope_fixtures::stacks::{FxInfoKind, Recording};

    #[test]
    fn frames_that_read_alike_share_a_name_in_order_of_file_and_line() {
        let mut recording = Recording::default();
        recording.stack(&["b.py:9 f", "a.py:100 g", "a.py:20 g"]);
        recording.stack_with_fx(&["b.py:9 f"], FxInfoKind::Some);
        let snapshot = recording.finish();
        let names = FrameNames::new(&snapshot);
        let labels: Vec<&str> = names.all().iter().map(|name| name.label.as_str()).collect();
        assert_eq!(labels, ["a.py:20 g", "a.py:100 g", "b.py:9 f", "no stack recorded", "other frames"]);
        assert_eq!((names.get(FrameKey(1)).function(), names.get(FrameKey(1)).short()), ("g", "a.py:100"));
        assert_eq!(names.get(FrameKey(3)).short(), "no stack recorded");
        assert_eq!(snapshot.frames.len(), 4);
    }

    #[test]
    fn a_site_is_named_as_everywhere_else() {
        let mut recording = Recording::default();
        recording.stack(&["/lib/torch/nn.py:1 linear", "model.py:3 forward", "train.py:9 main"]);
        recording.stack(&["alloc.cpp:5 malloc", "/lib/torch/nn.py:1 linear"]);
        let snapshot = recording.finish();
        let names = FrameNames::new(&snapshot);
        for stack in (0..snapshot.stacks.len() as u32).map(StackId) {
            assert_eq!(names.get(names.site(&snapshot, stack)).label, site_label(&snapshot, stack));
        }
    }

    #[test]
    fn a_search_ignores_case_and_the_empty_text_finds_nothing() {
        let mut recording = Recording::default();
        recording.stack(&["model.py:3 Forward", "train.py:9 main"]);
        let names = FrameNames::new(&recording.finish());
        assert_eq!(names.search("FORWARD "), [true, false, false, false]);
        assert_eq!(names.search(" "), [false; 4]);
    }
}
