//! The key that each string of the file spells, so that its text is looked at once.

use super::keys::Key;
use oomscope_pickle::Handle;

/// A string that is no key. Keys have numbers far below.
const NO_KEY: u8 = u8::MAX;

/// Keys by the handle of the string that spells them.
#[derive(Debug, Default, Clone)]
pub(super) struct StringKeys(Vec<u8>);

impl StringKeys {
    /// Take the next string. Handles of strings count up from 0.
    pub(super) fn push(&mut self, text: &[u8]) {
        self.0.push(Key::parse(text).map_or(NO_KEY, |key| key as u8));
    }

    /// The key that a string spells, if it is one.
    #[inline]
    pub(super) fn get(&self, string: Handle) -> Option<Key> {
        match self.0[string.0 as usize] {
            NO_KEY => None,
            index => Some(Key::from_index(usize::from(index))),
        }
    }

    /// Number of strings.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}
