//! What is odd in a file but does not prevent reading it: unknown keys and skipped values.

use super::keys::{Key, RecordKind};
use crate::model::{OpenIssue, StrId, StringTable, UnknownKey};
use std::collections::BTreeMap;

/// Distinct notes of each sort that are kept.
const MAX_NOTES: usize = 1000;

/// Counts oddities by kind, so that a million of them cost as much as one.
#[derive(Debug, Default)]
pub(super) struct Notes {
    unknown: BTreeMap<(&'static str, StrId), u64>,
    misplaced: BTreeMap<(RecordKind, u8), u64>,
    mismatched: BTreeMap<(RecordKind, u8), u64>,
    skipped: BTreeMap<&'static str, u64>,
}

impl Notes {
    /// A key that no record has.
    pub(super) fn unknown_key(&mut self, record: &'static str, key: StrId) {
        if self.unknown.len() < MAX_NOTES || self.unknown.contains_key(&(record, key)) {
            *self.unknown.entry((record, key)).or_default() += 1;
        } else {
            self.skipped("unknown keys beyond the first thousand", 1);
        }
    }

    /// A key that other records have.
    pub(super) fn misplaced_key(&mut self, record: RecordKind, key: Key) {
        *self.misplaced.entry((record, key as u8)).or_default() += 1;
    }

    /// A value of a type that its key does not allow.
    pub(super) fn mismatch(&mut self, record: RecordKind, key: Key) {
        *self.mismatched.entry((record, key as u8)).or_default() += 1;
    }

    /// Something that was left out, in words.
    pub(super) fn skipped(&mut self, what: &'static str, n: u64) {
        if n != 0 {
            *self.skipped.entry(what).or_default() += n;
        }
    }

    pub(super) fn unknown_keys(&self, strings: &StringTable) -> Vec<UnknownKey> {
        let unknown = self.unknown.iter().map(|(&(record, key), &count)| UnknownKey {
            record,
            key: strings.get(key).into_owned(),
            count,
        });
        let misplaced = self.misplaced.iter().map(|(&(record, key), &count)| UnknownKey {
            record: record.name(),
            key: Key::from_index(usize::from(key)).text().to_owned(),
            count,
        });
        unknown.chain(misplaced).collect()
    }

    pub(super) fn issues(&self) -> Vec<OpenIssue> {
        let mismatched = self.mismatched.iter().map(|(&(record, key), &count)| {
            let key = Key::from_index(usize::from(key)).text();
            OpenIssue {
                what: format!("'{key}' of {} has a value of an unexpected type", record.name()),
                count,
            }
        });
        let skipped = self.skipped.iter().map(|(&what, &count)| OpenIssue { what: what.to_owned(), count });
        mismatched.chain(skipped).collect()
    }
}
