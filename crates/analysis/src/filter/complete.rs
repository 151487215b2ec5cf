//! Completion: ways for a query to go on.

use super::event_terms::begins_with;
use super::keys::{FLAGS, KEYS, KeyWord};
use super::lex::Lexer;
use super::offers::{self, Offer, Offers, Quotes};
use super::term::Subject;
use super::vocabulary::{Name, Vocabulary};
use super::words;
use oomscope_units as units;
use oomscope_units::quantity::{Unit, unit_named};
use std::ops::Range;

/// Completions that are offered at once: more than anybody reads.
const MOST: usize = 20;

/// One way for a query to go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// The part that it replaces, in bytes of the query.
    pub range: Range<usize>,
    /// The new text of that part.
    pub text: String,
    /// The meaning of the text.
    pub explanation: String,
    /// Whether the term is whole then, so that a space may follow.
    pub is_whole_term: bool,
}

/// The part of a term around the text cursor.
struct CaretContext<'a> {
    /// The key whose value is being written.
    key: Option<&'static KeyWord>,
    /// The part before the cursor, in lower case.
    start: String,
    /// The whole part.
    text: &'a str,
    range: Range<usize>,
}

/// Ways for a query to go on when the text cursor stands at a byte of it: the likely first.
pub fn complete(query: &str, cursor: usize, subject: Subject, vocabulary: &Vocabulary) -> Vec<Completion> {
    let caret = caret_context(query, query.floor_char_boundary(cursor.min(query.len())), subject);
    let mut all: Vec<Completion> = match caret.key {
        None => plain(&caret, subject, vocabulary),
        Some(word) => values(word, &caret, vocabulary),
    };
    all.retain(|completion| completion.text != caret.text);
    all.truncate(MOST);
    all
}

fn caret_context(query: &str, cursor: usize, subject: Subject) -> CaretContext<'_> {
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
    let value = Lexer::key_at(before, term).filter(|(word, _)| word.asks.says(subject).is_some());
    let key = value.map(|(key, _)| key);
    let start = piece.max(value.map_or(term, |(_, start)| start));
    let behind = &query[cursor..];
    let end = match behind.find(|c: char| if is_quoted { c == '"' } else { c.is_whitespace() || c == '|' }) {
        Some(end) => cursor + end + usize::from(is_quoted),
        None => query.len(),
    };
    CaretContext {
        key,
        start: before[start..].trim_start_matches('"').to_lowercase(),
        text: &query[start..end],
        range: start..end,
    }
}

impl CaretContext<'_> {
    fn offer(&self, text: String, explanation: String, is_whole_term: bool) -> Completion {
        Completion { range: self.range.clone(), text, explanation, is_whole_term }
    }
}

/// The beginning of a term: a word of the language, or a text in stacks.
fn plain(caret: &CaretContext<'_>, subject: Subject, vocabulary: &Vocabulary) -> Vec<Completion> {
    let actions = if subject == Subject::Events { offers::actions(vocabulary) } else { Vec::new() };
    // A function that is called like an action is meant only in quotes.
    let lower: Vec<String> = actions.iter().map(|offer| offer.value.to_lowercase()).collect();
    let is_action = |name: &Name| lower.iter().any(|action| begins_with(action, &name.lower));
    let write = |name: &Name| if is_action(name) { units::quoted(&name.text) } else { quoted(&name.text) };
    let names = names(caret, vocabulary, false).filter(|_| !caret.start.is_empty());
    let names = names.map(|(name, explanation)| caret.offer(write(name), explanation, true));
    let begun = actions.iter().filter(|offer| offer.value.to_lowercase().starts_with(&caret.start));
    let begun = begun.map(|offer| caret.offer(quoted(&offer.value), offer.explanation.clone(), true));
    begun.chain(terms(caret, subject)).chain(names).collect()
}

/// Flags and keys.
fn terms(caret: &CaretContext<'_>, subject: Subject) -> impl Iterator<Item = Completion> {
    let is_meant = |names: &[&str]| names.iter().any(|name| name.starts_with(&caret.start));
    let keys = KEYS.iter().filter(move |word| is_meant(word.names));
    let keys = keys.filter_map(move |word| {
        let says = word.asks.says(subject)?;
        Some(caret.offer(word.start.to_owned(), says.to_owned(), false))
    });
    // Flags ask about allocations only.
    let flags = FLAGS.iter().filter(move |word| subject == Subject::Allocations && is_meant(word.names));
    let flags = flags.map(|word| caret.offer(word.names[0].to_owned(), word.explains.to_owned(), true));
    flags.chain(keys)
}

fn values(word: &KeyWord, caret: &CaretContext<'_>, vocabulary: &Vocabulary) -> Vec<Completion> {
    match word.offers {
        Offers::None => Vec::new(),
        Offers::Units(names) => units(names, word.scale.map_or(&[], |scale| scale.units), caret),
        Offers::Names { only_own } => {
            let names = names(caret, vocabulary, only_own);
            names.map(|(name, explanation)| caret.offer(quoted(&name.text), explanation, true)).collect()
        }
        Offers::Listed(list) => {
            let written = |offer: &Offer| match offer.quotes {
                Quotes::No => offer.value.clone(),
                Quotes::WhereNeeded => quoted(&offer.value),
                Quotes::Yes => units::quoted(&offer.value),
            };
            let all = list(vocabulary).into_iter().map(|offer| (written(&offer), offer.explanation));
            let is_meant = |text: &str| text.to_lowercase().trim_start_matches('"').contains(&caret.start);
            let meant = all.filter(|(text, _)| is_meant(text));
            meant.map(|(text, explanation)| caret.offer(text, explanation, true)).collect()
        }
    }
}

/// Functions and files in stacks.
fn names<'a>(
    caret: &'a CaretContext<'_>,
    vocabulary: &'a Vocabulary,
    only_own: bool,
) -> impl Iterator<Item = (&'a Name, String)> {
    let names = vocabulary.names.iter().filter(move |name| name.is_own || !only_own);
    let meant = names.filter(|name| name.lower.contains(&caret.start));
    meant.map(|name| {
        let explanation = format!("in the stack of {}", offers::allocations(name.allocations));
        (name, explanation)
    })
}

/// Units, once there is a number.
fn units(offered: &[(&str, &str)], units: &'static [Unit], caret: &CaretContext<'_>) -> Vec<Completion> {
    let number_end = caret.text.find(|c: char| c.is_alphabetic()).unwrap_or(caret.text.len());
    let (number, unit) = caret.text.split_at(number_end);
    // A unit that is written already stays as it is.
    if !number.ends_with(|c: char| c.is_ascii_digit()) || unit_named(unit, units).is_some() {
        return Vec::new();
    }
    let meant = offered.iter().filter(|(name, _)| name.to_lowercase().starts_with(&unit.to_lowercase()));
    meant
        .map(|(name, explanation)| caret.offer(format!("{number}{name}"), (*explanation).to_owned(), true))
        .collect()
}

/// A text as a value of a term, or as a term: in quotes where it must be.
pub fn quoted(text: &str) -> String {
    let needs_quotes = |c: char| c.is_whitespace() || matches!(c, '|' | '"' | ':' | '=' | '<' | '>');
    if text.contains(needs_quotes) || text.starts_with(['-', '!']) || words::is_special(text) {
        units::quoted(text)
    } else {
        text.to_owned()
    }
}
