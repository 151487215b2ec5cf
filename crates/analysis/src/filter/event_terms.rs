//! Tests that only an event can be asked: what happened.

use super::common_terms::Queried;
use super::conditions::OwnCheck;
use super::error::excerpt;
use super::notes::Notes;
use super::texts;
use oomscope_model::{Action, Bytes, EventIx, EventTable, Snapshot, StackId};

/// A condition that needs an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum EventTest {
    /// The action has one of the names, or a name that goes on after it.
    Action(Vec<String>),
    /// One of the words names the action; of those that name none, or one of the texts is in a frame.
    Words { words: Vec<String>, texts: Vec<String> },
}

impl EventTest {
    pub(super) fn check(&self, snapshot: &Snapshot, notes: &mut Notes) -> EventCheck {
        match self {
            Self::Action(names) => {
                for name in names.iter().filter(|name| actions_named(snapshot, name).is_empty()) {
                    notes.add(&format!("no action is called {:?}", excerpt(name)));
                }
                let actions = names.iter().flat_map(|name| actions_named(snapshot, name)).collect();
                EventCheck { actions, by_stack: Vec::new() }
            }
            Self::Words { words, texts } => {
                let (mut actions, mut texts) = (Vec::new(), texts.clone());
                for word in words {
                    let named = actions_named(snapshot, word);
                    // A word that names an action means the action, although some frame may have it too.
                    if named.is_empty() {
                        texts.push(word.clone());
                    }
                    actions.extend(named);
                }
                if texts.is_empty() {
                    return EventCheck { actions, by_stack: Vec::new() };
                }
                if !texts::has_stacks(snapshot) {
                    notes.add(texts::NO_STACKS);
                }
                EventCheck { actions, by_stack: texts::stacks_with(snapshot, &texts) }
            }
        }
    }
}

/// The actions of a file that a word means.
fn actions_named(snapshot: &Snapshot, word: &str) -> Vec<Action> {
    let is_named = |&action: &Action| is_meant(&snapshot.actions.name(action, &snapshot.strings), word);
    snapshot.actions.all().filter(is_named).collect()
}

/// Whether an action is meant by a word in lower case: it is called so, or its name goes on after it
/// with `_`.
pub(super) fn is_meant(action: &str, word: &str) -> bool {
    begins_with(&action.to_lowercase(), word)
}

/// [`is_meant`] of an action in lower case.
pub(super) fn begins_with(action: &str, word: &str) -> bool {
    action.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
}

/// An [`EventTest`] with what the file answers once: one of the actions, or one of the stacks.
#[derive(Debug)]
pub(super) struct EventCheck {
    actions: Vec<Action>,
    by_stack: Vec<bool>,
}

/// An event of a timeline.
#[derive(Clone, Copy)]
pub(super) struct EventRow<'a> {
    pub(super) events: &'a EventTable,
    pub(super) ix: EventIx,
}

impl Queried for EventRow<'_> {
    #[inline]
    fn index(&self) -> usize {
        self.ix.index()
    }

    #[inline]
    fn stack(&self) -> StackId {
        self.events.stack(self.ix)
    }

    #[inline]
    fn context(&self) -> usize {
        self.events.context_index(self.ix)
    }

    #[inline]
    fn size(&self) -> Bytes {
        self.events.size(self.ix)
    }

    /// The number that an `oom` has in the place of an address is none.
    #[inline]
    fn addr(&self) -> Option<u64> {
        self.events.addr(self.ix).filter(|_| self.events.action(self.ix) != Action::Oom)
    }

    #[inline]
    fn event_number(&self) -> i64 {
        i64::from(self.ix.0)
    }
}

impl OwnCheck<EventRow<'_>> for EventCheck {
    #[inline]
    fn holds(&self, row: &EventRow<'_>) -> bool {
        self.actions.contains(&row.events.action(row.ix))
            || self.by_stack.get(row.stack().index()).is_some_and(|&holds| holds)
    }
}
