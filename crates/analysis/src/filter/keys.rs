//! The words of the language, as a table: a term is one row here, and one meaning in `common_terms.rs`,
//! `allocation_terms.rs` or `event_terms.rs`.

use super::allocation_terms::{AllocationTest, TensorPart};
use super::common_terms::{CommonTest, ContextTest, RowTest, StackTest};
use super::compare::{BYTES, DURATIONS, Scale};
use super::error::FilterError;
use super::event_terms::EventTest;
use super::named_moments::{NamedEvents, When};
use super::offers::{self, Offers};
use super::term::Subject;
use super::values::{self, Values};
use crate::{Basis, Category, Phase, RULES, RangeQuery};
use oomscope_model::Action;

/// A term with a value.
pub(super) struct KeyWord {
    /// The name, then others for the same.
    pub(super) names: &'static [&'static str],
    /// The name with the sign that usually follows.
    pub(super) start: &'static str,
    /// A value, for errors.
    pub(super) expects: &'static str,
    /// The units of its numbers, if they can be compared with `<` and `>`.
    pub(super) scale: Option<&'static Scale>,
    /// Values to complete it with.
    pub(super) offers: Offers,
    pub(super) asks: Asks,
}

/// Whom a term asks, an explanation for completion, and how its values are understood.
pub(super) enum Asks {
    Both { of_allocation: &'static str, of_event: &'static str, read: Read<CommonTest> },
    Allocation { says: &'static str, read: Read<AllocationTest> },
    Event { says: &'static str, read: Read<EventTest> },
}

/// From values to their meaning.
pub(super) type Read<T> = fn(&Values<'_>) -> Result<T, FilterError>;

/// A term without a value. All of them ask about allocations.
pub(super) struct FlagWord {
    /// The name, then others for the same.
    pub(super) names: &'static [&'static str],
    /// For completion.
    pub(super) explains: &'static str,
    pub(super) test: fn() -> AllocationTest,
}

impl Asks {
    /// The explanation for those who ask about a subject; `None` where the term has no meaning.
    pub(super) fn says(&self, subject: Subject) -> Option<&'static str> {
        match (self, subject) {
            (Self::Both { of_allocation, .. }, Subject::Allocations) => Some(of_allocation),
            (Self::Both { of_event, .. }, Subject::Events) => Some(of_event),
            (Self::Allocation { says, .. }, Subject::Allocations)
            | (Self::Event { says, .. }, Subject::Events) => Some(says),
            _ => None,
        }
    }
}

/// Every term with a value.
pub(super) static KEYS: [KeyWord; 23] = [
    KeyWord {
        names: &["action"],
        start: "action:",
        expects: "alloc, free_requested, free_completed, segment_alloc, segment_free, segment_map, segment_unmap, snapshot, \
                  oom, annotate, or another action of the file in quotes",
        scale: None,
        offers: Offers::Listed(offers::actions),
        asks: Asks::Event {
            says: "what happened: alloc, free, segment, oom; the name alone will do",
            read: |values| {
                let words: Vec<&str> = Action::names().collect();
                Ok(EventTest::Action(values.texts_of(&words, values::action)?))
            },
        },
    },
    KeyWord {
        names: &["size"],
        start: "size>",
        expects: "a size such as 100MB, 512KiB or 1MiB..2MiB",
        scale: Some(&BYTES),
        offers: Offers::Units(offers::SIZE_UNITS),
        asks: Asks::Both {
            of_allocation: "requested bytes: size>100MB, size:1MiB..2MiB",
            of_event: "its bytes: size>100MB, >1MiB, size:1MiB..2MiB",
            read: |values| Ok(CommonTest::Row(RowTest::Size(values.sizes()?))),
        },
    },
    KeyWord {
        names: &["lifetime"],
        start: "lifetime<",
        expects: "a time such as 10ms, 2s or 1000events",
        scale: Some(&DURATIONS),
        offers: Offers::Units(offers::TIME_UNITS),
        asks: Asks::Allocation {
            says: "from alloc to free: lifetime<10ms, lifetime>1000events",
            read: |values| Ok(AllocationTest::Lifetime(values.life_spans()?)),
        },
    },
    KeyWord {
        names: &["stack"],
        start: "stack:",
        expects: "a text such as attention or train.py:55",
        scale: None,
        offers: Offers::Names { only_own: false },
        asks: Asks::Both {
            of_allocation: "text in any frame, as file:line function",
            of_event: "text in any frame, as file:line function",
            read: |values| Ok(CommonTest::Stack(StackTest::AnyFrame(values.texts()))),
        },
    },
    KeyWord {
        names: &["site"],
        start: "site:",
        expects: "a text such as attention or train.py:55",
        scale: None,
        offers: Offers::Names { only_own: true },
        asks: Asks::Both {
            of_allocation: "text in the first frame of your own code",
            of_event: "text in the first frame of your own code",
            read: |values| Ok(CommonTest::Stack(StackTest::Site(values.texts()))),
        },
    },
    KeyWord {
        names: &["stream"],
        start: "stream:",
        expects: "a stream's number such as 7",
        scale: None,
        offers: Offers::Listed(offers::streams),
        asks: Asks::Both {
            of_allocation: "the stream that it was allocated on",
            of_event: "the stream that it happened on",
            read: |values| Ok(CommonTest::Context(ContextTest::Stream(values.each(values::stream)?))),
        },
    },
    KeyWord {
        names: &["pool"],
        start: "pool:",
        expects: "private, default, or a pool such as 1.0",
        scale: None,
        offers: Offers::Listed(offers::pools),
        asks: Asks::Both {
            of_allocation: "the memory pool: private, default or its number",
            of_event: "the pool of its memory: private, default or its number",
            read: |values| Ok(CommonTest::Pool(values.each_of(&values::POOLS, values::pool)?)),
        },
    },
    KeyWord {
        names: &["addr", "address"],
        start: "addr:",
        expects: "an address such as 0x7f21ac000000, or a range of two",
        scale: None,
        offers: Offers::None,
        asks: Asks::Both {
            of_allocation: "contains the address, or touches the range of two",
            of_event: "its block or segment contains the address, or touches the range of two",
            read: |values| Ok(CommonTest::Row(RowTest::Addr(values.each(values::address)?))),
        },
    },
    KeyWord {
        names: &["category"],
        start: "category:",
        expects: "parameter, gradient, optimizer_state, activation, input, temporary, comm, kv_cache, graph_pool, other, unknown, \
                  or another category of the file in quotes",
        scale: None,
        offers: Offers::Listed(offers::categories),
        asks: Asks::Allocation {
            says: "what it is for, or the category that was recorded with it",
            read: |values| {
                let words = Category::ALL.map(Category::key);
                Ok(AllocationTest::Category(values.texts_of(&words, values::category)?))
            },
        },
    },
    KeyWord {
        names: &["basis"],
        start: "basis:",
        expects: "declared, seen, followed, inferred or unknown",
        scale: None,
        offers: Offers::Listed(offers::bases),
        asks: Asks::Allocation {
            says: "how surely its category is known: basis:inferred",
            read: |values| {
                Ok(AllocationTest::Basis(values.each_of(&Basis::ALL.map(Basis::key), Basis::from_key)?))
            },
        },
    },
    KeyWord {
        names: &["rule"],
        start: "rule:",
        expects: "the name of a rule such as module-call; docs/attribution.md has all",
        scale: None,
        offers: Offers::Listed(offers::rules),
        asks: Asks::Allocation {
            says: "text in the name of the rule that decided its category",
            read: |values| {
                Ok(AllocationTest::Rule(values.each_of(&RULES.map(|rule| rule.id), values::rule)?))
            },
        },
    },
    KeyWord {
        names: &["meta", "metadata", "annotation"],
        start: "meta:",
        expects: "a text of its metadata",
        scale: None,
        offers: Offers::Listed(offers::metadata),
        asks: Asks::Both {
            of_allocation: "text in its metadata or compile context",
            of_event: "text in its metadata or compile context",
            read: |values| Ok(CommonTest::Context(ContextTest::Meta(values.texts()))),
        },
    },
    KeyWord {
        names: &["name"],
        start: "name:",
        expects: "a text such as layers.0 or exp_avg",
        scale: None,
        offers: Offers::None,
        asks: Asks::Allocation {
            says: "text in the program's own name of a tensor in it, at the end",
            read: |values| Ok(AllocationTest::Tensor(TensorPart::Name, values.texts())),
        },
    },
    KeyWord {
        names: &["dtype"],
        start: "dtype:",
        expects: "a type such as float32 or bfloat16",
        scale: None,
        offers: Offers::None,
        asks: Asks::Allocation {
            says: "text in the type of a tensor in it, at the end: dtype:float32",
            read: |values| Ok(AllocationTest::Tensor(TensorPart::Dtype, values.texts())),
        },
    },
    KeyWord {
        names: &["shape"],
        start: "shape:",
        expects: "dimensions such as 768x256",
        scale: None,
        offers: Offers::None,
        asks: Asks::Allocation {
            says: "text in the dimensions of a tensor in it, at the end: shape:768x256",
            read: |values| Ok(AllocationTest::Tensor(TensorPart::Shape, values.texts())),
        },
    },
    KeyWord {
        names: &["holder"],
        start: "holder:",
        expects: "a variable such as losses",
        scale: None,
        offers: Offers::None,
        asks: Asks::Allocation {
            says: "text in the variable that leads to it, at the end: holder:losses",
            read: |values| Ok(AllocationTest::Tensor(TensorPart::Holder, values.texts())),
        },
    },
    KeyWord {
        names: &["iteration"],
        start: "iteration:",
        expects: "an iteration's number such as 3, or a range such as 2..5",
        scale: None,
        offers: Offers::Listed(offers::iterations),
        asks: Asks::Both {
            of_allocation: "allocated in the iteration, or in those of iteration:2..5",
            of_event: "in the iteration, or in those of iteration:2..5",
            read: |values| Ok(CommonTest::Row(RowTest::Range(values.each(RangeQuery::iterations)?))),
        },
    },
    KeyWord {
        names: &["phase"],
        start: "phase:",
        expects: "init, data, forward, backward, optimizer, eval or unknown",
        scale: None,
        offers: Offers::Listed(offers::phases),
        asks: Asks::Both {
            of_allocation: "allocated in the phase: phase:backward",
            of_event: "in the phase: phase:backward",
            read: |values| {
                let phase = |text: &str| Phase::from_key(text).map(RangeQuery::Phase);
                Ok(CommonTest::Row(RowTest::Range(values.each_of(&Phase::ALL.map(Phase::key), phase)?)))
            },
        },
    },
    KeyWord {
        names: &["range"],
        start: "range:",
        expects: "the name of a range that the program recorded",
        scale: None,
        offers: Offers::Listed(offers::ranges),
        asks: Asks::Both {
            of_allocation: "allocated within a range of the program's own (record_function), by text in its name",
            of_event: "within a range of the program's own (record_function), by text in its name",
            read: |values| {
                let named = values.texts().into_iter().map(RangeQuery::Named);
                Ok(CommonTest::Row(RowTest::Range(named.collect())))
            },
        },
    },
    KeyWord {
        names: &["event", "events"],
        start: "event:",
        expects: "an event's number such as 41220, or a range such as 100..200",
        scale: None,
        offers: Offers::None,
        asks: Asks::Both {
            of_allocation: "allocated by this event, or within event:100..200",
            of_event: "this event, or all within event:100..200",
            read: |values| Ok(CommonTest::Row(RowTest::Event(values.each(values::events)?))),
        },
    },
    KeyWord {
        names: &["after"],
        start: "after:",
        expects: "an event's number, peak or oom",
        scale: None,
        offers: Offers::Listed(offers::moments),
        asks: Asks::Both {
            of_allocation: "allocated later than an event, peak or oom",
            of_event: "later than an event, peak or oom",
            read: |values| {
                let after = |text: &str| values::moment(text).map(NamedEvents::After);
                Ok(CommonTest::Row(RowTest::Event(values.each_of(&values::MOMENTS, after)?)))
            },
        },
    },
    KeyWord {
        names: &["before"],
        start: "before:",
        expects: "an event's number, peak or oom",
        scale: None,
        offers: Offers::Listed(offers::moments),
        asks: Asks::Both {
            of_allocation: "allocated earlier than an event, peak or oom",
            of_event: "earlier than an event, peak or oom",
            read: |values| {
                let before = |text: &str| values::moment(text).map(NamedEvents::Before);
                Ok(CommonTest::Row(RowTest::Event(values.each_of(&values::MOMENTS, before)?)))
            },
        },
    },
    KeyWord {
        names: &["live"],
        start: "live:",
        expects: "an event's number, peak, oom or end",
        scale: None,
        offers: Offers::Listed(offers::moments),
        asks: Asks::Allocation {
            says: "live after an event, at the peak, oom or end",
            read: |values| {
                let live = |text: &str| values::moment(text).map(When::At);
                Ok(AllocationTest::Live(values.each_of(&values::MOMENTS, live)?))
            },
        },
    },
];

/// Every term without a value.
pub(super) static FLAGS: [FlagWord; 4] = [
    FlagWord {
        names: &["live"],
        explains: "live at the cursor",
        test: || AllocationTest::Live(vec![When::Cursor]),
    },
    FlagWord {
        names: &["awaiting"],
        explains: "given back and still waiting for a stream at the cursor",
        test: || AllocationTest::Awaiting,
    },
    FlagWord {
        names: &["kept", "leaked"],
        explains: "never freed in the recording",
        test: || AllocationTest::Kept,
    },
    FlagWord { names: &["before"], explains: "from before the recording", test: || AllocationTest::Before },
];

/// The terms of a subject, as they start, with their explanations: flags first.
pub fn explained_terms(subject: Subject) -> impl Iterator<Item = (&'static str, &'static str)> {
    let flags = FLAGS.iter().filter(move |_| subject == Subject::Allocations);
    let keys = KEYS.iter().filter_map(move |word| Some((word.start, word.asks.says(subject)?)));
    flags.map(|word| (word.names[0], word.explains)).chain(keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of the tables that begin with a term: the code in the first cell, then whether the other two
    /// say anything.
    fn documented(text: &str) -> Vec<(Vec<String>, [bool; 2])> {
        let row = |line: &str| {
            let line = line.trim_start_matches("//! ");
            let cells: Vec<&str> =
                line.strip_prefix("| `")?.trim_end().trim_end_matches('|').split(" |").collect();
            let [first, of_allocation, of_event] = cells[..] else { return None };
            let code = format!("`{first}").split('`').skip(1).step_by(2).map(str::to_owned).collect();
            Some((code, [of_allocation, of_event].map(|cell| !cell.trim().is_empty())))
        };
        text.lines().filter_map(row).collect()
    }

    #[test]
    fn every_term_is_documented_for_those_whom_it_asks() {
        for text in [include_str!("../../../../docs/filter.md"), include_str!("mod.rs")] {
            let rows = documented(text);
            let said = |is_meant: &dyn Fn(&str) -> bool| {
                rows.iter().find(|(code, _)| code.iter().any(|code| is_meant(code))).map(|(_, said)| *said)
            };
            for word in &KEYS {
                let (name, asked) = (word.names[0], [Subject::Allocations, Subject::Events]);
                let is_meant = |code: &str| {
                    code.strip_prefix(name).is_some_and(|value| value.starts_with([':', '<', '>']))
                };
                let expected = asked.map(|subject| word.asks.says(subject).is_some());
                assert_eq!(said(&is_meant), Some(expected), "{name}");
            }
            for word in &FLAGS {
                let is_meant = |code: &str| code == word.names[0];
                assert_eq!(said(&is_meant), Some([true, false]), "{}", word.names[0]);
            }
        }
    }

    #[test]
    fn every_name_means_one_thing() {
        let keys = KEYS.iter().flat_map(|word| word.names).collect::<Vec<_>>();
        let flags = FLAGS.iter().flat_map(|word| word.names).collect::<Vec<_>>();
        for names in [keys, flags] {
            let different: std::collections::BTreeSet<_> = names.iter().collect();
            assert_eq!(different.len(), names.len());
        }
        for word in &KEYS {
            assert!(word.start.starts_with(word.names[0]));
        }
    }
}
