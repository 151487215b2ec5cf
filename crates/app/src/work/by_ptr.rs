//! Shared values that are compared by identity.

use std::ops::Deref;
use std::sync::Arc;

/// A shared value that is equal to nothing but itself.
///
/// Results of the background are too large to be compared, and are made anew when the question changes.
/// So their identity stands for their contents.
#[derive(Debug)]
pub(crate) struct ByPtr<T: ?Sized>(pub(crate) Arc<T>);

impl<T: ?Sized> Clone for ByPtr<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: ?Sized> PartialEq for ByPtr<T> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<T: ?Sized> Eq for ByPtr<T> {}

impl<T: ?Sized> Deref for ByPtr<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_contents_are_not_the_same_value() {
        let value = ByPtr(Arc::new(3));
        assert_eq!(value, value.clone());
        assert_ne!(value, ByPtr(Arc::new(3)));
        assert_eq!(*value, 3);
    }
}
