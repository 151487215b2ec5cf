//! Oddities of a file that do not prevent reading it: unknown keys and skipped values.

use super::keys::{Key, RecordKind};
use oomscope_model::{OpenIssue, StrId, StringTable, UnknownKey};
use std::collections::BTreeMap;

/// The most distinct unknown keys that are kept, so that a file of odd keys does not fill memory. The other notes are
/// as few as keys and kinds of records.
const MAX_UNKNOWN_KEYS: usize = 1000;

/// Counts oddities by kind, so that a million of them cost as much as one.
#[derive(Debug, Default)]
pub(super) struct Notes {
    unknown: BTreeMap<(&'static str, StrId), u64>,
    misplaced: BTreeMap<(RecordKind, u8), u64>,
    mismatched: BTreeMap<(RecordKind, u8), u64>,
    skipped: BTreeMap<&'static str, u64>,
    /// Whether something of that counts in sums of bytes.
    has_lost_memory: bool,
    total: u64,
}

impl Notes {
    /// A key that no record has.
    pub(super) fn unknown_key(&mut self, record: &'static str, key: StrId) {
        self.total += 1;
        if self.unknown.len() < MAX_UNKNOWN_KEYS || self.unknown.contains_key(&(record, key)) {
            *self.unknown.entry((record, key)).or_default() += 1;
        } else {
            self.skipped("unknown keys beyond the first thousand", 1);
        }
    }

    /// A key that is understood, but in other records.
    pub(super) fn misplaced_key(&mut self, record: RecordKind, key: Key) {
        self.total += 1;
        *self.misplaced.entry((record, key as u8)).or_default() += 1;
    }

    /// A value of a type that its key does not allow.
    pub(super) fn mismatch(&mut self, record: RecordKind, key: Key) {
        self.total += 1;
        self.has_lost_memory |= counts_in_sums(key);
        *self.mismatched.entry((record, key as u8)).or_default() += 1;
    }

    /// Things that were left out, in words.
    pub(super) fn skipped(&mut self, what: &'static str, n: u64) {
        if n != 0 {
            self.total += n;
            *self.skipped.entry(what).or_default() += n;
        }
    }

    /// Things that count in sums of bytes and were left out, in words.
    pub(super) fn lost(&mut self, what: &'static str, n: u64) {
        self.has_lost_memory |= n != 0;
        self.skipped(what, n);
    }

    /// Whether something was left out that counts in sums of bytes.
    pub(super) fn has_lost_memory(&self) -> bool {
        self.has_lost_memory
    }

    /// Number of things that were noted.
    #[inline]
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// Whether anything was noted but keys that are not understood.
    #[inline]
    pub(super) fn has_oddities(&self) -> bool {
        !self.mismatched.is_empty() || !self.skipped.is_empty()
    }

    /// Add the notes of a piece, whose strings are renamed.
    pub(super) fn add(&mut self, piece: &Self, renamed: impl Fn(StrId) -> Option<StrId>) {
        for (&(record, key), &count) in &piece.unknown {
            (0..count).for_each(|_| self.unknown_key(record, renamed(key).unwrap_or(key)));
        }
        for (&key, &count) in &piece.misplaced {
            *self.misplaced.entry(key).or_default() += count;
        }
    }

    /// Keys that are not understood where they were found.
    pub(super) fn unknown_keys(&self, strings: &StringTable) -> Vec<UnknownKey> {
        let unknown = self.unknown.iter().map(|(&(record, key), &count)| UnknownKey {
            record,
            key: strings.name(key).into_owned(),
            count,
        });
        let misplaced = self.misplaced.iter().map(|(&(record, key), &count)| UnknownKey {
            record: record.name(),
            key: Key::from_index(usize::from(key)).text().to_owned(),
            count,
        });
        unknown.chain(misplaced).collect()
    }

    /// Values that were not used.
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

/// Whether sums of bytes go by the value of a key.
fn counts_in_sums(key: Key) -> bool {
    matches!(
        key,
        Key::Action
            | Key::Addr
            | Key::Size
            | Key::Address
            | Key::RequestedSize
            | Key::State
            | Key::History
            | Key::RealSize
            | Key::Device
            | Key::TotalSize
            | Key::Blocks
    )
}
