//! A value that is kept until it is needed for another key.

use std::cell::RefCell;

/// The last value that was made, and the key that it was made for.
///
/// It is a cell, so that a pane which may only read a device can still fill it.
#[derive(Debug)]
pub(crate) struct Memo<K, V> {
    last: RefCell<Option<(K, V)>>,
}

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Self { last: RefCell::new(None) }
    }
}

impl<K: PartialEq, V: Clone> Memo<K, V> {
    /// The value for a key: the last one if it was made for an equal key, else a new one.
    pub(crate) fn get(&self, key: K, make: impl FnOnce() -> V) -> V {
        if let Some((_, value)) = self.last.borrow().as_ref().filter(|(known, _)| *known == key) {
            return value.clone();
        }
        // Nothing is borrowed meanwhile, so making a value may ask this memo, too.
        let value = make();
        self.last.replace(Some((key, value.clone())));
        value
    }

    /// The last value, which may be for another key.
    pub(crate) fn latest(&self) -> Option<V> {
        self.last.borrow().as_ref().map(|(_, value)| value.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn a_value_is_made_once_for_each_change_of_the_key() {
        let (memo, made) = (Memo::default(), Cell::new(0));
        let square = |n: u32| {
            memo.get(n, || {
                made.set(made.get() + 1);
                n * n
            })
        };
        assert_eq!([3, 3, 4, 4, 3].map(square), [9, 9, 16, 16, 9]);
        assert_eq!(made.get(), 3);
    }

    #[test]
    fn making_a_value_may_ask_the_memo() {
        let memo = Memo::default();
        assert_eq!(memo.get(1, || memo.get(2, || 20) + 1), 21);
        assert_eq!(memo.get(1, || 0), 21);
    }
}
