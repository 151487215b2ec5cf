//! The order of stacks by their texts, without putting these together: names may have megabytes, and thousands of stacks may
//! share them.

use oomscope_model::{Snapshot, StrId};
use std::borrow::Cow;
use std::cmp::Ordering;

/// A frame as a line shows it: file, line, function.
pub(super) type Line = (StrId, i64, StrId);

/// The parts of a line's text, bounded.
pub(super) fn line_bytes(snapshot: &Snapshot, (file, line, name): Line) -> [Cow<'_, [u8]>; 3] {
    let text = |id| Cow::Borrowed(snapshot.strings.name_bytes(id));
    [text(file), Cow::Owned(format!(":{line}:").into_bytes()), text(name)]
}

/// The order of two stacks as texts, a line for each frame.
pub(super) fn text_order(snapshot: &Snapshot, a: &[Line], b: &[Line]) -> Ordering {
    // Equal lines and an equal file have equal texts, which need not be read.
    let shared = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let same_file = matches!((a.get(shared), b.get(shared)), (Some(a), Some(b)) if a.0 == b.0);
    let rest = |lines| parts(snapshot, lines).skip(usize::from(same_file));
    order_of_parts(rest(&a[shared..]), rest(&b[shared..]))
}

fn parts<'a>(snapshot: &'a Snapshot, lines: &'a [Line]) -> impl Iterator<Item = Cow<'a, [u8]>> {
    lines.iter().flat_map(|&line| {
        let [file, number, name] = line_bytes(snapshot, line);
        [file, number, name, Cow::Borrowed(&b"\n"[..])]
    })
}

/// The order of two texts that come in parts.
fn order_of_parts<'a>(
    mut a: impl Iterator<Item = Cow<'a, [u8]>>,
    mut b: impl Iterator<Item = Cow<'a, [u8]>>,
) -> Ordering {
    let (mut left, mut right) = (Rest::default(), Rest::default());
    loop {
        match (left.fill(&mut a), right.fill(&mut b)) {
            (true, true) => {}
            (has_left, has_right) => return has_left.cmp(&has_right),
        }
        let len = left.bytes().len().min(right.bytes().len());
        let order = left.bytes()[..len].cmp(&right.bytes()[..len]);
        if order.is_ne() {
            return order;
        }
        left.from += len;
        right.from += len;
    }
}

/// What is left of a part.
#[derive(Default)]
struct Rest<'a> {
    part: Cow<'a, [u8]>,
    from: usize,
}

impl<'a> Rest<'a> {
    fn bytes(&self) -> &[u8] {
        &self.part[self.from..]
    }

    /// Take the next part if nothing is left. False at the end.
    fn fill(&mut self, parts: &mut impl Iterator<Item = Cow<'a, [u8]>>) -> bool {
        while self.bytes().is_empty() {
            let Some(part) = parts.next() else { return false };
            *self = Self { part, from: 0 };
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn stacks_are_in_the_order_of_their_texts(
            texts in proptest::collection::vec("[a:1\n]{0,3}", 1..4),
            stacks in proptest::array::uniform2(proptest::collection::vec((0usize..9, 0i64..12, 0usize..9), 0..4)),
        ) {
            let mut snapshot = Snapshot::default();
            let ids: Vec<StrId> = texts.iter().map(|text| snapshot.strings.intern(text.as_bytes()).0).collect();
            let [a, b] = stacks.map(|stack| -> Vec<Line> {
                let id = |at: usize| ids[at % ids.len()];
                stack.into_iter().map(|(file, line, name)| (id(file), line, id(name))).collect()
            });
            let text = |lines: &[Line]| -> Vec<u8> {
                lines.iter().flat_map(|&line| [line_bytes(&snapshot, line).concat(), b"\n".to_vec()].concat()).collect()
            };
            prop_assert_eq!(text_order(&snapshot, &a, &b), text(&a).cmp(&text(&b)));
        }
    }
}
