//! From terms as they were written to their meaning.

use super::allocation_terms::AllocationTest;
use super::common_terms::{CommonTest, StackTest};
use super::compare::Op;
use super::error::{FilterError, Problem};
use super::event_terms::EventTest;
use super::keys::{Asks, FlagWord, Read};
use super::lex::{Lexer, RawKind, RawTerm};
use super::term::{Subject, Term, Test};
use super::values::{Piece, Values, texts};
use super::words;

/// The part of the language that is not the same for all subjects.
pub(super) struct Dialect<T> {
    subject: Subject,
    /// The reader of a term's values; `None` if the term asks about something else.
    reader: fn(&Asks) -> Option<Reader<T>>,
    flag: fn(&FlagWord) -> Option<T>,
    /// The meaning of plain words.
    words: fn(&[Piece]) -> Test<T>,
}

/// See [`Read`].
enum Reader<T> {
    Common(Read<CommonTest>),
    Own(Read<T>),
}

/// Plain words are searched in stacks.
pub(super) static ALLOCATIONS: Dialect<AllocationTest> = Dialect {
    subject: Subject::Allocations,
    reader: |asks| match asks {
        Asks::Both { read, .. } => Some(Reader::Common(*read)),
        Asks::Allocation { read, .. } => Some(Reader::Own(*read)),
        Asks::Event { .. } => None,
    },
    flag: |word| Some((word.test)()),
    words: |pieces| in_frames(texts(pieces)),
};

/// Plain words that name an action mean it; others, and those in quotes, are searched in stacks.
pub(super) static EVENTS: Dialect<EventTest> = Dialect {
    subject: Subject::Events,
    reader: |asks| match asks {
        Asks::Both { read, .. } => Some(Reader::Common(*read)),
        Asks::Event { read, .. } => Some(Reader::Own(*read)),
        Asks::Allocation { .. } => None,
    },
    flag: |_| None,
    words: |pieces| {
        let (quoted, plain): (Vec<&Piece>, Vec<&Piece>) = pieces.iter().partition(|piece| piece.is_quoted);
        let lower = |pieces: Vec<&Piece>| pieces.into_iter().map(|piece| piece.text.to_lowercase()).collect();
        if plain.is_empty() {
            return in_frames(lower(quoted));
        }
        Test::Own(EventTest::Words { words: lower(plain), texts: lower(quoted) })
    },
};

fn in_frames<T>(texts: Vec<String>) -> Test<T> {
    Test::Common(CommonTest::Stack(StackTest::AnyFrame(texts)))
}

/// The terms of a query.
///
/// # Errors
/// For the first part that cannot be understood, or asks about something else.
pub(super) fn terms<T>(query: &str, dialect: &Dialect<T>) -> Result<Vec<Term<T>>, FilterError> {
    let mut lexer = Lexer::new(query, dialect.subject);
    let mut terms = Vec::new();
    while let Some(RawTerm { is_negated, kind }) = lexer.term()? {
        terms.push(Term { is_negated, test: test(&kind, dialect)? });
    }
    Ok(terms)
}

/// Why a flag has no meaning for a subject: `before` alone has none for events, `before:41220` has.
fn problem_of_flag(word: &FlagWord, asked: Subject) -> Problem {
    let term = word.names[0];
    match words::key(term).filter(|key| key.asks.says(asked).is_some()) {
        Some(key) => Problem::MissingValue { key: term, expected: key.expects },
        None => Problem::OtherSubject { term, asked, stands_alone: true },
    }
}

fn test<T>(raw: &RawKind, dialect: &Dialect<T>) -> Result<Test<T>, FilterError> {
    match raw {
        RawKind::Text(pieces) => Ok((dialect.words)(pieces)),
        RawKind::Flag { word, range } => (dialect.flag)(word)
            .map(Test::Own)
            .ok_or_else(|| FilterError::new(range.clone(), problem_of_flag(word, dialect.subject))),
        RawKind::Keyed { word, name_range, op, op_range, values } => {
            let (key, expected) = (word.names[0], word.expects);
            let Some(reader) = (dialect.reader)(&word.asks) else {
                let (term, asked) = (key, dialect.subject);
                let problem = Problem::OtherSubject { term, asked, stands_alone: false };
                return Err(FilterError::new(name_range.clone(), problem));
            };
            if *op != Op::Is && word.scale.is_none() {
                return Err(FilterError::new(op_range.clone(), Problem::NoComparison { key, expected }));
            }
            let values = Values { op: *op, pieces: values, key, expected };
            match reader {
                Reader::Common(read) => read(&values).map(Test::Common),
                Reader::Own(read) => read(&values).map(Test::Own),
            }
        }
    }
}
