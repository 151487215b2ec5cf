//! Any text as a filter and as a search for events: understood or refused within the text, completed, and carried out.

use super::made_up;
use oomscope_analysis::UserRules;
use oomscope_analysis::filter::{
    EventQuery, EventSearch, Filter, FilterError, Prepared, Subject, Vocabulary, complete,
};
use oomscope_model::{Moment, Recording};
use std::sync::OnceLock;

pub(crate) fn body(bytes: &[u8]) {
    static RECORDING: OnceLock<(Recording, Vocabulary)> = OnceLock::new();
    let text = String::from_utf8_lossy(bytes);
    let (recording, vocabulary) = RECORDING.get_or_init(|| {
        let recording = made_up::ordinary();
        let vocabulary = Vocabulary::new(&recording);
        (recording, vocabulary)
    });
    match Filter::parse(&text) {
        Ok(filter) => {
            let prepared = Prepared::new(&filter, recording, &UserRules::default());
            let found = prepared.matches(recording, Moment(recording.events.len() as u32 / 2));
            assert!(found.count() <= recording.lifetimes.len());
            assert!(prepared.notes().iter().all(|note| !note.is_empty()));
        }
        Err(error) => check(&error, &text),
    }
    match EventQuery::parse(&text) {
        Ok(query) => {
            EventSearch::new(&query, recording).matches(recording, None);
        }
        Err(error) => check(&error, &text),
    }
    let carets = text.char_indices().map(|(at, _)| at).step_by(text.len() / 8 + 1);
    for caret in carets.chain([text.len()]) {
        for subject in [Subject::Allocations, Subject::Events] {
            for offer in complete(&text, caret, subject, vocabulary) {
                assert!(text.get(offer.range).is_some(), "a part of the text is replaced");
            }
        }
    }
}

fn check(error: &FilterError, text: &str) {
    assert!(text.get(error.range.clone()).is_some(), "{error} is about a part of the text");
    assert!(!error.to_string().is_empty());
}
