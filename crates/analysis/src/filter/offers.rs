//! Values that completion offers for a term.

use super::values;
use super::vocabulary::Vocabulary;
use crate::{Basis, Category, Phase, RULES};
use oomscope_model::PoolKey;
use oomscope_units as units;

/// Values for a term.
pub(super) enum Offers {
    /// No value is more likely than others.
    None,
    /// Units with their explanations, once there is a number.
    Units(&'static [(&'static str, &'static str)]),
    /// Functions and files in stacks.
    Names { only_own: bool },
    /// A list, the likely first.
    Listed(fn(&Vocabulary) -> Vec<Offer>),
}

/// One value.
pub(super) struct Offer {
    pub(super) value: String,
    pub(super) explanation: String,
    pub(super) quotes: Quotes,
}

/// Whether a value is written in quotes.
#[derive(Clone, Copy)]
pub(super) enum Quotes {
    /// It is a word of the language.
    No,
    /// It is text from the file, which may need them.
    WhereNeeded,
    /// It is a word of the file alone, in place of one of the language.
    Yes,
}

impl Offer {
    fn word(value: impl Into<String>, explanation: impl Into<String>) -> Self {
        Self { value: value.into(), explanation: explanation.into(), quotes: Quotes::No }
    }

    fn text(value: &str, explanation: String) -> Self {
        Self { value: value.to_owned(), explanation, quotes: Quotes::WhereNeeded }
    }

    /// A text in a place where only the words that `read` knows need no quotes.
    fn word_or_text(value: &str, explanation: String, read: fn(&str) -> Option<String>) -> Self {
        let quotes = if read(value).is_some() { Quotes::WhereNeeded } else { Quotes::Yes };
        Self { value: value.to_owned(), explanation, quotes }
    }
}

pub(super) const SIZE_UNITS: &[(&str, &str)] =
    &[("KiB", "1024 bytes"), ("MiB", "1024 KiB"), ("GiB", "1024 MiB")];

pub(super) const TIME_UNITS: &[(&str, &str)] =
    &[("us", "microseconds"), ("ms", "milliseconds"), ("s", "seconds"), ("min", "minutes"), ("events", "")];

pub(super) fn actions(vocabulary: &Vocabulary) -> Vec<Offer> {
    let actions = vocabulary.actions.iter();
    actions.map(|(name, n)| Offer::word_or_text(name, units::counted(*n, "event"), values::action)).collect()
}

pub(super) fn streams(vocabulary: &Vocabulary) -> Vec<Offer> {
    vocabulary.streams.iter().map(|(stream, n)| Offer::word(stream.to_string(), allocations(*n))).collect()
}

pub(super) fn pools(vocabulary: &Vocabulary) -> Vec<Offer> {
    let private = || vocabulary.pools.iter().filter(|(pool, _)| pool.is_private()).map(|&(_, n)| n);
    let has_private = private().next().is_some();
    let all = has_private.then(|| Offer::word("private", allocations(private().sum())));
    let each = vocabulary.pools.iter().map(|&(pool, n)| match pool {
        PoolKey::DEFAULT => Offer::word("default", allocations(n)),
        PoolKey(a, b) => Offer::word(format!("{a}.{b}"), allocations(n)),
    });
    all.into_iter().chain(each).collect()
}

/// Recorded categories, then the fixed ones, of which every allocation has one.
pub(super) fn categories(vocabulary: &Vocabulary) -> Vec<Offer> {
    let recorded = vocabulary.categories.iter();
    let recorded = recorded.map(|(text, n)| Offer::word_or_text(text, allocations(*n), values::category));
    let known = Category::ALL.into_iter().map(|category| Offer::word(category.key(), category.label()));
    recorded.chain(known).collect()
}

pub(super) fn bases(_: &Vocabulary) -> Vec<Offer> {
    Basis::ALL.map(|basis| Offer::word(basis.key(), basis.explains())).into()
}

pub(super) fn rules(_: &Vocabulary) -> Vec<Offer> {
    RULES.map(|rule| Offer::word(rule.id, rule.says)).into()
}

/// Where a number stands, there are too many to list.
pub(super) fn iterations(_: &Vocabulary) -> Vec<Offer> {
    vec![Offer::word("0", "the first"), Offer::word("2..5", "several, both ends included")]
}

pub(super) fn phases(_: &Vocabulary) -> Vec<Offer> {
    Phase::ALL.map(|phase| Offer::word(phase.key(), phase.explains())).into()
}

pub(super) fn ranges(vocabulary: &Vocabulary) -> Vec<Offer> {
    let ranges = vocabulary.ranges.iter();
    ranges.map(|(text, n)| Offer::text(text, format!("recorded {}", times(*n)))).collect()
}

pub(super) fn metadata(vocabulary: &Vocabulary) -> Vec<Offer> {
    texts(&vocabulary.metadata).collect()
}

pub(super) fn moments(vocabulary: &Vocabulary) -> Vec<Offer> {
    let oom = vocabulary.has_oom.then(|| Offer::word("oom", "the last request that failed"));
    let peak = Offer::word("peak", "when most bytes were active");
    [Some(peak), oom, Some(Offer::word("end", "after the last event"))].into_iter().flatten().collect()
}

fn texts(known: &[(String, usize)]) -> impl Iterator<Item = Offer> {
    known.iter().map(|(text, n)| Offer::text(text, allocations(*n)))
}

fn times(n: usize) -> String {
    units::counted(n, "time")
}

/// A number of allocations, as an explanation.
pub(super) fn allocations(n: usize) -> String {
    units::counted(n, "allocation")
}
