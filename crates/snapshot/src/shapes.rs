//! The shapes of dicts that were seen, so that the meaning of keys is found out once per shape.

use super::fields::Shape;
use super::string_keys::StringKeys;
use oomscope_pickle::Value;

/// The most shapes that are kept. Recordings have about ten; the search goes through all of them.
const MAX_SHAPES: usize = 64;

/// Known shapes.
#[derive(Debug, Default, Clone)]
pub(super) struct Shapes {
    known: Vec<Shape>,
    /// The shape of the latest dict: in a list, mostly that of the next one, too.
    latest: usize,
}

impl Shapes {
    /// The index of the shape of a dict, which becomes a known one.
    #[inline]
    pub(super) fn of(&mut self, pairs: &[Value], keys: &StringKeys) -> usize {
        if !self.known.get(self.latest).is_some_and(|shape| shape.fits(pairs)) {
            self.find(pairs, keys);
        }
        self.latest
    }

    /// Whether some shape has a key.
    pub(super) fn have_key(&self, key: Value) -> bool {
        self.known.iter().any(|shape| shape.has_key(key))
    }

    /// The shape with an index that [`Self::of`] gave.
    #[inline]
    pub(super) fn get(&self, index: usize) -> &Shape {
        &self.known[index]
    }

    /// Whether an index will always stand for the same shape.
    pub(super) fn is_lasting(index: usize) -> bool {
        index + 1 < MAX_SHAPES
    }

    fn find(&mut self, pairs: &[Value], keys: &StringKeys) {
        if let Some(known) = self.known.iter().position(|shape| shape.fits(pairs)) {
            self.latest = known;
            return;
        }
        let shape = Shape::new(pairs, |name| keys.get(name));
        if self.known.len() < MAX_SHAPES {
            self.latest = self.known.len();
            self.known.push(shape);
        } else {
            // A file with this many shapes is odd; the last place serves all further ones.
            self.latest = MAX_SHAPES - 1;
            self.known[MAX_SHAPES - 1] = shape;
        }
    }
}
