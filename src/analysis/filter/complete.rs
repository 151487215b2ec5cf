//! What a query can go on with.

use super::lex::{Lexer, units};
use super::vocabulary::Vocabulary;
use super::words::{FLAGS, KEYS, Key};
use crate::analysis::{Basis, Category, RULES};
use crate::model::PoolKey;
use crate::units;
use std::ops::Range;

/// Completions that are offered at once.
const MOST: usize = 20;

/// One way for a query to go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// What it takes the place of, in bytes of the query.
    pub range: Range<usize>,
    /// What stands there then.
    pub text: String,
    /// What it means.
    pub explanation: String,
    /// Whether the term is whole then, so that a space may follow.
    pub is_whole_term: bool,
}

/// The part of a term that is being written.
struct Place<'a> {
    key: Option<Key>,
    /// What is to be completed, in lower case.
    start: String,
    /// The same with what follows the cursor.
    text: &'a str,
    range: Range<usize>,
}

/// What the query can go on with when the text cursor stands at a byte of it: the likely first.
pub fn complete(query: &str, cursor: usize, vocabulary: &Vocabulary) -> Vec<Completion> {
    let place = place(query, query.floor_char_boundary(cursor.min(query.len())));
    let mut all: Vec<Completion> = match place.key {
        None => words(&place).chain(names(&place, vocabulary, false)).collect(),
        Some(key) => values(key, &place, vocabulary),
    };
    all.retain(|completion| completion.text != place.text);
    all.truncate(MOST);
    all
}

fn place(query: &str, cursor: usize) -> Place<'_> {
    let before = &query[..cursor];
    let (mut is_quoted, mut term, mut piece) = (false, 0, 0);
    for (at, c) in before.char_indices() {
        match c {
            '"' => is_quoted = !is_quoted,
            c if c.is_whitespace() && !is_quoted => (term, piece) = (at + c.len_utf8(), at + c.len_utf8()),
            '|' if !is_quoted => piece = at + 1,
            _ => {}
        }
    }
    if before[term..].starts_with(['-', '!']) {
        term += 1;
    }
    let value = Lexer::key_at(before, term);
    let key = value.map(|(key, _)| key);
    let start = piece.max(value.map_or(term, |(_, start)| start));
    let behind = &query[cursor..];
    let end = match behind.find(|c: char| if is_quoted { c == '"' } else { c.is_whitespace() || c == '|' }) {
        Some(end) => cursor + end + usize::from(is_quoted),
        None => query.len(),
    };
    Place {
        key,
        start: before[start..].trim_start_matches('"').to_lowercase(),
        text: &query[start..end],
        range: start..end,
    }
}

impl Place<'_> {
    fn offer(&self, text: String, explanation: String, is_whole_term: bool) -> Completion {
        Completion { range: self.range.clone(), text, explanation, is_whole_term }
    }
}

/// Keys and flags.
fn words<'a>(place: &'a Place<'_>) -> impl Iterator<Item = Completion> + 'a {
    let is_meant = |names: &[&str]| names.iter().any(|name| name.starts_with(&place.start));
    let keys = KEYS.iter().filter(move |word| is_meant(word.names));
    let keys = keys.map(|word| place.offer(word.start.to_owned(), word.explains.to_owned(), false));
    let flags = FLAGS.iter().filter(move |word| is_meant(word.names));
    let flags = flags.map(|word| place.offer(word.names[0].to_owned(), word.explains.to_owned(), true));
    flags.chain(keys)
}

fn values(key: Key, place: &Place<'_>, vocabulary: &Vocabulary) -> Vec<Completion> {
    let counted = |text: String, n: usize| (text, allocations(n));
    let texts = |known: &[(String, usize)]| known.iter().map(|(text, n)| counted(quoted(text), *n)).collect();
    let known: Vec<(String, String)> = match key {
        Key::Stack => return names(place, vocabulary, false).collect(),
        Key::Site => return names(place, vocabulary, true).collect(),
        Key::Stream => vocabulary.streams.iter().map(|(stream, n)| counted(stream.to_string(), *n)).collect(),
        Key::Pool => pools(vocabulary),
        Key::Category => categories(vocabulary),
        Key::Basis => Basis::ALL.map(|basis| (basis.key().to_owned(), basis.explains().to_owned())).into(),
        Key::Rule => RULES.map(|rule| (rule.id.to_owned(), rule.says.to_owned())).into(),
        Key::Meta => texts(&vocabulary.metadata),
        Key::Live | Key::After | Key::Before => moments(vocabulary),
        Key::Size | Key::Lifetime => return quantities(key, place),
        Key::Addr | Key::Event => Vec::new(),
    };
    let is_meant = |text: &str| text.to_lowercase().trim_start_matches('"').contains(&place.start);
    let meant = known.into_iter().filter(|(text, _)| is_meant(text));
    meant.map(|(text, explanation)| place.offer(text, explanation, true)).collect()
}

/// Those that were recorded, and those that every allocation has one of.
fn categories(vocabulary: &Vocabulary) -> Vec<(String, String)> {
    let recorded = vocabulary.categories.iter().map(|(text, n)| (quoted(text), allocations(*n)));
    let known =
        Category::ALL.into_iter().map(|category| (category.key().to_owned(), category.label().to_owned()));
    recorded.chain(known).collect()
}

/// Functions and files in stacks.
fn names<'a>(
    place: &'a Place<'_>,
    vocabulary: &'a Vocabulary,
    only_own: bool,
) -> impl Iterator<Item = Completion> + 'a {
    let is_value = place.key.is_some();
    let names = vocabulary.names.iter().filter(move |name| name.is_own || !only_own);
    let meant =
        names.filter(move |name| (is_value || !place.start.is_empty()) && name.lower.contains(&place.start));
    meant.map(|name| {
        let explanation = format!("in the stack of {}", allocations(name.allocations));
        place.offer(quoted(&name.text), explanation, true)
    })
}

fn pools(vocabulary: &Vocabulary) -> Vec<(String, String)> {
    let has_private = vocabulary.pools.iter().any(|(pool, _)| pool.is_private());
    let private: usize = vocabulary.pools.iter().filter(|(pool, _)| pool.is_private()).map(|&(_, n)| n).sum();
    let all = has_private.then(|| ("private".to_owned(), allocations(private)));
    let each = vocabulary.pools.iter().map(|&(pool, n)| match pool {
        PoolKey::DEFAULT => ("default".to_owned(), allocations(n)),
        PoolKey(a, b) => (format!("{a}.{b}"), allocations(n)),
    });
    all.into_iter().chain(each).collect()
}

fn moments(vocabulary: &Vocabulary) -> Vec<(String, String)> {
    let mut moments = vec![
        ("peak".to_owned(), "when most bytes were active".to_owned()),
        ("end".to_owned(), "after the last event".to_owned()),
    ];
    if vocabulary.has_oom {
        moments.insert(1, ("oom".to_owned(), "the last request that failed".to_owned()));
    }
    moments
}

/// Units, once there is a number.
fn quantities(key: Key, place: &Place<'_>) -> Vec<Completion> {
    let number_end = place.text.find(|c: char| c.is_alphabetic()).unwrap_or(place.text.len());
    let (number, unit) = place.text.split_at(number_end);
    if !number.ends_with(|c: char| c.is_ascii_digit()) {
        return Vec::new();
    }
    let all: &[(&str, &str)] = if key == Key::Size {
        &[("KiB", "1024 bytes"), ("MiB", "1024 KiB"), ("GiB", "1024 MiB")]
    } else {
        &[
            ("us", "microseconds"),
            ("ms", "milliseconds"),
            ("s", "seconds"),
            ("min", "minutes"),
            ("events", ""),
        ]
    };
    // A unit that is written already stays as it is.
    let is_unit = units(key).is_some_and(|units| super::quantity::unit_named(unit, units).is_some());
    let meant = all.iter().filter(|(name, _)| name.to_lowercase().starts_with(&unit.to_lowercase()));
    let offers = meant
        .map(|(name, explanation)| place.offer(format!("{number}{name}"), (*explanation).to_owned(), true));
    if is_unit { Vec::new() } else { offers.collect() }
}

fn allocations(n: usize) -> String {
    units::counted(n, "allocation")
}

/// A text as a value of a term: in quotes where it must be.
pub fn quoted(text: &str) -> String {
    let needs_quotes = |c: char| c.is_whitespace() || matches!(c, '|' | '"' | ':' | '=' | '<' | '>');
    if text.contains(needs_quotes) || text.starts_with(['-', '!']) || super::words::is_word(text) {
        format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
    } else {
        text.to_owned()
    }
}
