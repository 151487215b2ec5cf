//! Saves the whole values that are left on the stack when the input ends too early.

use super::feed::ChunkSource;
use super::machine::Machine;
use super::memo::MemoTable;
use super::{ErrorKind, Kind, Sink, Value, View};

impl<S: ChunkSource, K: Sink, M: MemoTable> Machine<'_, S, K, M> {
    /// Put every whole value on the stack into the container that was waiting for it, from the
    /// innermost outwards, and return the outermost container.
    ///
    /// Picklers create a container empty and fill it from the values above the next MARK, so the
    /// values above a MARK belong to the container right below it. Values above a MARK without
    /// such a container were meant for a tuple that is not whole; they are dropped.
    pub(super) fn salvage(&mut self) -> Result<Option<Value>, ErrorKind> {
        // Between two batches, a list that is not whole looks like any other: its place on top of the stack gives it away.
        if let Some(View::Ref(Kind::List, list)) = self.stack.last().map(|top| top.view()) {
            self.sink.interrupted_list(list, &[])?;
        }
        while let Some(at) = self.marks.pop() {
            let at = at.min(self.stack.len());
            match at.checked_sub(1).map(|below| self.stack[below].view()) {
                Some(View::Ref(Kind::List, list)) => self.sink.interrupted_list(list, &self.stack[at..])?,
                Some(View::Ref(Kind::Dict, dict)) => {
                    self.settle_pairs(at)?;
                    let whole = self.stack[at..].len() / 2 * 2;
                    self.sink.interrupted_dict(dict, &self.stack[at..at + whole])?;
                }
                _ => {}
            }
            self.stack.truncate(at);
        }
        self.settle_below()?;
        Ok(self.stack.first().copied())
    }

    /// Between a dict's MARK and the end, keys and values must alternate. A list or dict where a
    /// key should be was about to be appended to the list before it (a list of one item is written
    /// without MARK).
    fn settle_pairs(&mut self, at: usize) -> Result<(), ErrorKind> {
        let mut kept = at;
        for i in at..self.stack.len() {
            let value = self.stack[i];
            let expects_key = (kept - at).is_multiple_of(2);
            match (expects_key, value.view(), kept.checked_sub(1).map(|k| self.stack[k].view())) {
                (true, View::Ref(Kind::Str, _), _) | (false, ..) => {
                    self.stack[kept] = value;
                    kept += 1;
                }
                (true, _, Some(View::Ref(Kind::List, list))) if at < kept => {
                    self.sink.interrupted_list(list, &[value])?;
                }
                (true, ..) => {}
            }
        }
        self.stack.truncate(kept);
        Ok(())
    }

    /// Without any MARK left: nested containers of one item each, the outermost at the bottom.
    fn settle_below(&mut self) -> Result<(), ErrorKind> {
        while let [.., below, top] = self.stack[..] {
            match (below.view(), top) {
                (View::Ref(Kind::List, list), value) => self.sink.interrupted_list(list, &[value])?,
                (View::Ref(Kind::Str, _), _) if 3 <= self.stack.len() => {
                    let pair = self.stack.len() - 2;
                    if let View::Ref(Kind::Dict, dict) = self.stack[pair - 1].view() {
                        self.sink.interrupted_dict(dict, &self.stack[pair..])?;
                        self.stack.pop();
                    }
                }
                _ => {}
            }
            self.stack.pop();
        }
        if let [root] = self.stack[..]
            && let View::Ref(Kind::List, list) = root.view()
        {
            self.sink.interrupted_list(list, &[])?;
        }
        Ok(())
    }
}
