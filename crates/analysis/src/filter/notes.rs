//! Remarks on a query: what it asks for and a file does not say.

use crate::MomentError;

/// Remarks, each only once.
#[derive(Debug, Default)]
pub(super) struct Notes(Vec<String>);

impl Notes {
    pub(super) fn add(&mut self, note: &str) {
        if !self.0.iter().any(|known| known == note) {
            self.0.push(note.to_owned());
        }
    }

    /// Keep those that the device has, and note why it does not have the others.
    pub(super) fn known<T>(&mut self, all: impl Iterator<Item = Result<T, MomentError>>) -> Vec<T> {
        let mut known = Vec::new();
        for one in all {
            match one {
                Ok(one) => known.push(one),
                Err(error) => self.add(&error.to_string()),
            }
        }
        known
    }

    pub(super) fn all(&self) -> &[String] {
        &self.0
    }
}
