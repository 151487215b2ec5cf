//! Values that snapshots share: keys, texts, frames and stacks, each written once.

use super::part::{SnapshotPart, TextKind};
use crate::keys::Key;
use foldhash::HashMap;
use oomscope_model::{Frame, FrameId, FxInfo, StackId, StrId, StringTable};
use oomscope_pickle::{BATCH_ITEMS, MemoId, Writer};
use std::io::{self, Write};

/// A pickle in progress.
pub(super) struct Output<'a, W> {
    pub(super) part: &'a SnapshotPart<'a>,
    pub(super) pickle: Writer<W>,
    keys: [Option<MemoId>; Key::COUNT],
    /// Texts to write; their names in the memo by their ids here, once they are written.
    texts: StringTable,
    text_memos: Vec<Option<MemoId>>,
    /// Texts of the file by their use, as ids in `texts`; `None` for those that are left out. Each is read once, however many
    /// rows share it.
    recorded: HashMap<(TextKind, StrId), Option<StrId>>,
    frames: Vec<Option<MemoId>>,
    stacks: Vec<Option<MemoId>>,
    /// As `stacks`, with frames that are only a line as text.
    traces: Vec<Option<MemoId>>,
}

impl<'a, W: Write> Output<'a, W> {
    pub(super) fn new(out: W, part: &'a SnapshotPart<'a>) -> io::Result<Self> {
        let snapshot = part.snapshot;
        Ok(Self {
            part,
            pickle: Writer::new(out)?,
            keys: [None; Key::COUNT],
            texts: StringTable::default(),
            text_memos: Vec::new(),
            recorded: HashMap::default(),
            frames: vec![None; snapshot.frames.len()],
            stacks: vec![None; snapshot.stacks.len()],
            traces: vec![None; snapshot.stacks.len()],
        })
    }

    pub(super) fn finish(self) -> io::Result<W> {
        self.pickle.finish()
    }

    #[inline]
    pub(super) fn key(&mut self, key: Key) -> io::Result<()> {
        if let Some(memo) = self.keys[key as usize] {
            return self.pickle.get(memo);
        }
        // A key that was written as a text before is in the memo under that text.
        let id = self.intern(key.text().as_bytes());
        self.put(id)?;
        self.keys[key as usize] = self.text_memos[id.index()];
        Ok(())
    }

    fn intern(&mut self, text: &[u8]) -> StrId {
        let (id, is_new) = self.texts.intern(text);
        if is_new {
            self.text_memos.push(None);
        }
        id
    }

    /// A text by its id in `texts`.
    pub(super) fn put(&mut self, id: StrId) -> io::Result<()> {
        if let Some(memo) = self.text_memos[id.index()] {
            return self.pickle.get(memo);
        }
        self.pickle.text(self.texts.whole_bytes(id))?;
        self.text_memos[id.index()] = Some(self.pickle.memoize()?);
        Ok(())
    }

    /// A text as it is.
    pub(super) fn text(&mut self, text: &[u8]) -> io::Result<()> {
        let id = self.intern(text);
        self.put(id)
    }

    /// The text to write for one of the file, for [`Self::put`]; `None` to leave it out.
    pub(super) fn rewritten(&mut self, kind: TextKind, text: StrId) -> Option<StrId> {
        if let Some(&known) = self.recorded.get(&(kind, text)) {
            return known;
        }
        let part = self.part;
        let found = part.rewrite.text(kind, part.snapshot.strings.whole_bytes(text));
        let found = found.map(|text| self.intern(&text));
        self.recorded.insert((kind, text), found);
        found
    }

    /// A text of the file; an empty one where it is to be left out.
    pub(super) fn recorded(&mut self, kind: TextKind, text: StrId) -> io::Result<()> {
        let id = self.rewritten(kind, text).unwrap_or_else(|| self.intern(b""));
        self.put(id)
    }

    /// A key with a text of the file, unless that is to be left out.
    pub(super) fn text_field(&mut self, key: Key, kind: TextKind, text: Option<StrId>) -> io::Result<()> {
        let Some(id) = text.and_then(|text| self.rewritten(kind, text)) else { return Ok(()) };
        self.key(key)?;
        self.put(id)
    }

    pub(super) fn int_field(&mut self, key: Key, value: Option<impl Into<i64>>) -> io::Result<()> {
        let Some(value) = value else { return Ok(()) };
        self.key(key)?;
        self.pickle.int(value.into())
    }

    pub(super) fn address_field(&mut self, key: Key, value: Option<u64>) -> io::Result<()> {
        let Some(value) = value else { return Ok(()) };
        self.key(key)?;
        self.pickle.uint(value)
    }

    /// A list, in batches.
    pub(super) fn list<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        mut write: impl FnMut(&mut Self, T) -> io::Result<()>,
    ) -> io::Result<()> {
        self.pickle.empty_list()?;
        self.fill_list(items, &mut write)
    }

    fn fill_list<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        mut write: impl FnMut(&mut Self, T) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut items = items.into_iter().peekable();
        while items.peek().is_some() {
            self.pickle.mark()?;
            for item in items.by_ref().take(BATCH_ITEMS) {
                write(self, item)?;
            }
            self.pickle.append()?;
        }
        Ok(())
    }

    /// A dict whose pairs `fields` writes.
    pub(super) fn dict(&mut self, fields: impl FnOnce(&mut Self) -> io::Result<()>) -> io::Result<()> {
        self.pickle.empty_dict()?;
        self.pickle.mark()?;
        fields(self)?;
        self.pickle.set_items()
    }

    /// The frames of a stack.
    #[inline]
    pub(super) fn stack(&mut self, stack: StackId) -> io::Result<()> {
        match self.stacks[stack.index()] {
            Some(memo) => self.pickle.get(memo),
            None => self.new_stack(stack, false),
        }
    }

    /// The frames of a forward trace, which torch records as lines of text.
    pub(super) fn trace(&mut self, stack: StackId) -> io::Result<()> {
        match self.traces[stack.index()] {
            Some(memo) => self.pickle.get(memo),
            None => self.new_stack(stack, true),
        }
    }

    fn new_stack(&mut self, stack: StackId, has_lines: bool) -> io::Result<()> {
        let part = self.part;
        let frames = part.snapshot.recorded_stacks().frames(stack).iter().filter(|&&frame| part.keeps(frame));
        self.pickle.empty_list()?;
        // Nothing is shorter than an empty list.
        if stack != StackId::EMPTY {
            let memo = Some(self.pickle.memoize()?);
            if has_lines {
                self.traces[stack.index()] = memo;
            } else {
                self.stacks[stack.index()] = memo;
            }
        }
        self.fill_list(frames, |out, &frame| if has_lines { out.line(frame) } else { out.frame(frame) })
    }

    /// A frame of a forward trace: a line of text, if it has nothing else.
    fn line(&mut self, id: FrameId) -> io::Result<()> {
        let snapshot = self.part.snapshot;
        let frame = snapshot.frames.get(id);
        if frame.line != 0 || !snapshot.strings.is(frame.file, b"") {
            return self.frame(id);
        }
        self.recorded(TextKind::TraceLine, frame.name)
    }

    fn frame(&mut self, id: FrameId) -> io::Result<()> {
        if let Some(memo) = self.frames[id.index()] {
            return self.pickle.get(memo);
        }
        self.pickle.empty_dict()?;
        self.frames[id.index()] = Some(self.pickle.memoize()?);
        self.pickle.mark()?;
        self.frame_fields(self.part.snapshot.frames.get(id))?;
        self.pickle.set_items()
    }

    fn frame_fields(&mut self, frame: Frame) -> io::Result<()> {
        // Readers expect these three keys in any case.
        self.key(Key::Name)?;
        self.recorded(TextKind::Function, frame.name)?;
        self.key(Key::Filename)?;
        self.recorded(TextKind::File, frame.file)?;
        self.int_field(Key::Line, Some(frame.line))?;
        match self.part.snapshot.frames.fx(frame) {
            Some(fx) => self.fx_fields(&fx),
            None => Ok(()),
        }
    }

    fn fx_fields(&mut self, fx: &FxInfo) -> io::Result<()> {
        self.text_field(Key::FxNodeOp, TextKind::Generated, fx.op)?;
        self.text_field(Key::FxNodeName, TextKind::Generated, fx.name)?;
        self.text_field(Key::FxNodeTarget, TextKind::Generated, fx.target)?;
        self.text_field(Key::FxOriginalTrace, TextKind::Source, fx.trace)
    }
}
