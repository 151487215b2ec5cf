//! Any text as a filter and as a search for events: understood or refused within the text, completed, and carried out.

use super::made_up;
use oomscope_analysis::UserRules;
use oomscope_analysis::filter::{
    EventQuery, EventSearch, Filter, FilterError, Prepared, Subject, Vocabulary, complete,
};
use oomscope_model::{Moment, Snapshot};
use std::sync::OnceLock;

pub(crate) fn body(bytes: &[u8]) {
    static SNAPSHOT: OnceLock<(Snapshot, Vocabulary)> = OnceLock::new();
    let text = String::from_utf8_lossy(bytes);
    let (snapshot, vocabulary) = SNAPSHOT.get_or_init(|| {
        let snapshot = made_up::ordinary();
        let vocabulary = Vocabulary::new(&snapshot, &snapshot.timelines[0]);
        (snapshot, vocabulary)
    });
    let timeline = &snapshot.timelines[0];
    match Filter::parse(&text) {
        Ok(filter) => {
            let prepared = Prepared::new(&filter, snapshot, timeline, &UserRules::default());
            let found = prepared.matches(timeline, Moment(timeline.events.len() as u32 / 2));
            assert!(found.count() <= timeline.lifetimes.len());
            assert!(prepared.notes().iter().all(|note| !note.is_empty()));
        }
        Err(error) => check(&error, &text),
    }
    match EventQuery::parse(&text) {
        Ok(query) => {
            EventSearch::new(&query, snapshot, timeline).matches(timeline, None);
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
