//! Queries and what they find.

use super::fixture::{KIB, MIB, sample};
use super::{EventQuery, EventSearch, Filter, Matches, Prepared, Subject, Vocabulary, complete};
use crate::{Attribution, Category, UserRules};
use oomscope_fixtures::programs::{Program, train};
use oomscope_model::{Action, Anchor, Bytes, Event, Moment, Recording};
use proptest::prelude::*;

fn parse(query: &str) -> Filter {
    Filter::parse(query).unwrap_or_else(|error| panic!("{query}: {error}"))
}

/// The letters of the allocations that match.
fn found(recording: &Recording, query: &str, cursor: u32) -> String {
    let matches = Matches::compute(&parse(query), recording, Moment(cursor));
    let letters: String = matches.iter().map(|id| char::from(b'A' + id.0 as u8)).collect();
    assert_eq!(letters.len(), matches.count());
    letters
}

#[test]
fn terms_find_what_they_say() {
    let recording = sample();
    let cases = [
        ("", "ABCDEF"),
        ("  ", "ABCDEF"),
        // Sizes
        ("size>1MB", "BD"),
        ("size>=1MB", "ABD"),
        ("size<5KB", "C"),
        ("size<=5KB", "CEF"),
        ("size=2MiB", "B"),
        ("size!=2MiB", "ACDEF"),
        ("size:100", "C"),
        ("size:5KiB|100B", "CEF"),
        ("size:5KiB..1MiB", "AEF"),
        ("size:2MiB..", "BD"),
        ("size > 1 MiB", "BD"),
        ("size:>1MB", "BD"),
        ("SIZE>1mb", "BD"),
        ("size=4.9KiB", ""),
        ("size=5.0KiB", "EF"),
        // Lifetimes: what was not seen whole counts as at least so long
        ("lifetime<10ms", "C"),
        ("lifetime=4ms", "C"),
        ("lifetime:4ms..5ms", "C"),
        ("lifetime>3ms", "ACD"),
        ("lifetime>=8ms", "A"),
        ("lifetime<100events", "C"),
        ("lifetime=4events", "C"),
        ("lifetime>=4events", "ABCDE"),
        ("-lifetime<10ms", "ABDEF"),
        // Stacks
        ("attention", "ACF"),
        ("ATTENTION", "ACF"),
        ("stack:attention|mlp", "ACDF"),
        ("stack:train.py:55", "ACF"),
        ("train.py:55", "ACF"),
        ("stack:\"my model.py\"", "D"),
        ("\"my model.py:7 mlp\"", "D"),
        ("stack:<module>", "ACDF"),
        ("<module>", "ACDF"),
        ("c10::malloc", "E"),
        ("stack:linear.py", "ACDEF"),
        ("site:linear.py", "E"),
        ("site:malloc", ""),
        ("site:train.py", "ACF"),
        ("site:\"no stack\"", "B"),
        ("attention|mlp", "ACDF"),
        ("attention mlp", ""),
        // Streams and pools
        ("stream:7", "AD"),
        ("stream:0|7", "ABCDEF"),
        ("stream!=7", "BCEF"),
        ("pool:private", "D"),
        ("pool:default", "ABCEF"),
        ("pool:1.0", "D"),
        ("pool:(1,0)", "D"),
        ("-pool:default", "D"),
        // Addresses
        ("addr:0x500000", "D"),
        ("0x500001", "D"),
        ("addr:7fffff", "D"),
        ("addr:0x800000", ""),
        ("addr:0x400000", "CF"),
        ("addr:0x400064", "F"),
        ("addr:0x0..0x1fffff", "A"),
        ("addr:1fffff-200000", "B"),
        ("0x1fffff..0x200000|0x900000", "BE"),
        // Short forms
        (">1MB", "BD"),
        (">1MB -=2MiB", "D"),
        ("<=5 KiB", "CEF"),
        ("#0|1", "CD"),
        // What only looks like one
        ("<module> >::x", ""),
        ("py:55", "ACF"),
        ("\"#0\"|\">1\"", ""),
        ("alloc", "E"),
        // What was recorded with it, or is found: B is old and gone, and nothing shows what it was
        // The fixture shows no call of a module, so what its `forward` makes counts as made in one.
        ("category:activation", "ACDF"),
        ("-category:activation", "BE"),
        ("basis:seen", "ACEF"),
        ("basis:inferred|unknown", "B"),
        ("basis:declared", "D"),
        ("rule:module-call", "ACF"),
        ("meta:step", "E"),
        ("annotation:\"step 3\"", "E"),
        ("-meta:step", "ABCDF"),
        // Events
        ("event:0", "C"),
        ("event:0..1", "CD"),
        ("event:5..", "EF"),
        ("after:1", "EF"),
        ("before:1", "ABC"),
        ("before:peak", "ABC"),
        ("after:oom", "F"),
        // Flags
        ("kept", "ADEF"),
        ("leaked", "ADEF"),
        ("-kept", "BC"),
        ("before", "AB"),
        ("!before kept", "DEF"),
        ("\"before\"", ""),
        // Moments
        ("live:0", "ABC"),
        ("live:peak", "ABCD"),
        ("live:oom", "ADE"),
        ("live:end", "ADEF"),
        ("live:end -live:oom", "F"),
        ("live:0|8", "ABCDEF"),
        // All of it together
        ("size>1KB stack:train stream:7 pool:private kept -live:0", "D"),
    ];
    for (query, expected) in cases {
        assert_eq!(found(&recording, query, 0), expected, "{query}");
    }
}

#[test]
fn some_terms_follow_the_cursor() {
    let recording = sample();
    let cases = [
        ("live", 0, "AB"),
        ("live", 1, "ABC"),
        ("live", 4, "ACD"),
        ("live", 9, "ADEF"),
        ("-live", 1, "DEF"),
        ("live size>1MB", 2, "BD"),
        // No request to free B was recorded, so it was waiting from the start.
        ("awaiting", 2, "B"),
        ("awaiting", 3, "BC"),
        ("awaiting", 4, "C"),
        ("awaiting", 5, ""),
        ("awaiting", 8, "D"),
        ("-awaiting live", 8, "AE"),
    ];
    for (query, cursor, expected) in cases {
        assert_eq!(found(&recording, query, cursor), expected, "{query} at {cursor}");
        assert!(parse(query).is_cursor_dependent(), "{query}");
    }
    assert!(!parse("live:3 size>1 before").is_cursor_dependent());
}

#[test]
fn a_query_that_cannot_be_understood_says_where_and_why() {
    let cases = [
        ("size>1MB sise>1", "sise", "there is no key \"sise\"; did you mean size?"),
        ("foo:bar", "foo", "there is no key \"foo\"; put the text in quotes to search stacks for it"),
        ("size", "size", "size needs a value: a size such as 100MB, 512KiB or 1MiB..2MiB"),
        ("live size>", ">", "size needs a value: a size such as 100MB, 512KiB or 1MiB..2MiB"),
        ("stack: attention", ":", "stack needs a value: a text such as attention or train.py:55"),
        ("size>10x", "10x", "size: expected a size such as 100MB, 512KiB or 1MiB..2MiB, found \"10x\""),
        (
            "size:1MB|huge",
            "huge",
            "size: expected a size such as 100MB, 512KiB or 1MiB..2MiB, found \"huge\"",
        ),
        ("lifetime<10", "10", "lifetime: expected a time such as 10ms, 2s or 1000events, found \"10\""),
        ("pool:mine", "mine", "pool: expected private, default, or a pool such as 1.0, found \"mine\""),
        (
            "category:kv|actvation",
            "actvation",
            "category: expected parameter, gradient, optimizer_state, activation, input, temporary, comm, kv_cache, graph_pool, \
             other, unknown, or another category of the file in quotes, found \"actvation\"; did you mean activation?",
        ),
        (
            "basis:infered",
            "infered",
            "basis: expected declared, seen, followed, inferred or unknown, found \"infered\"; did you mean inferred?",
        ),
        (
            "rule:modul-call",
            "modul-call",
            "rule: expected the name of a rule such as module-call; docs/attribution.md has all, found \"modul-call\"; did you \
             mean module-call?",
        ),
        (
            "live:peek",
            "peek",
            "live: expected an event's number, peak, oom or end, found \"peek\"; did you mean peak?",
        ),
        ("stream:a", "a", "stream: expected a stream's number such as 7, found \"a\""),
        (
            "addr:0xzz",
            "0xzz",
            "addr: expected an address such as 0x7f21ac000000, or a range of two, found \"0xzz\"",
        ),
        (
            "event:1.5",
            "1.5",
            "event: expected an event's number such as 41220, or a range such as 100..200, found \"1.5\"",
        ),
        (
            "stream>7",
            ">",
            "stream is not compared with < or >; write stream: and then a stream's number such as 7",
        ),
        ("kept:1 live", "kept:1", "kept stands alone, without a value"),
        (
            "live action:oom",
            "action",
            "action asks about events; it belongs in the search of the list of events",
        ),
        ("action>1", "action", "action asks about events; it belongs in the search of the list of events"),
        (">lots", "lots", "size: expected a size such as 100MB, 512KiB or 1MiB..2MiB, found \"lots\""),
        (
            "#-1",
            "-1",
            "event: expected an event's number such as 41220, or a range such as 100..200, found \"-1\"",
        ),
        ("stack:\"my file", "\"my file", "the quote is not closed"),
        ("a| b", "|", "expected a text on both sides of |"),
        ("stack:a||b", "||", "expected a text on both sides of |"),
        ("live -", "-", "expected a term right behind the sign that negates it"),
    ];
    for (query, part, message) in cases {
        let error = Filter::parse(query).expect_err(query);
        assert_eq!((&query[error.range.clone()], error.to_string().as_str()), (part, message), "{query}");
    }
    assert_eq!(Filter::parse("sise>1").expect_err("no key").suggestion(), Some("size"));
    assert_eq!(Filter::parse("phase:forwrd").expect_err("no phase").suggestion(), Some("forward"));
}

#[test]
fn categories_are_listed_and_those_of_the_file_alone_stand_in_quotes() {
    let error = Filter::parse("category:none").expect_err("no category").to_string();
    for category in Category::ALL {
        assert!(error.contains(category.key()), "{error}");
        assert_eq!(Filter::parse(&format!("category:{}", category.key())).err(), None);
        assert_eq!(Filter::parse(&format!("category:\"{}\"", category.label())).err(), None);
    }
    // Parts of a name, and other names that rules and PyTorch have for it.
    for (query, same) in [
        ("category:Optim", "category:optim"),
        ("category:weights", "category:parameter"),
        ("category:AUTOGRAD_DETAIL", "category:activation"),
    ] {
        assert_eq!(Filter::parse(query), Filter::parse(same), "{query}");
    }
    let mut recording = super::fixture::Recording::default();
    let own = recording.text("ring");
    recording.push(Event { category: Some(own), ..Event::new(Action::Alloc, 0x1000, 1) });
    let recording = recording.finish(Anchor::EndState);
    assert!(Filter::parse("category:ring").is_err());
    assert_eq!(found(&recording, "category:\"RIN\"", 0), "A");
    assert_eq!(found(&recording, "category:\"ring\"|kv -category:\"own\"", 0), "A");
    let vocabulary = Vocabulary::new(&recording);
    let offered = complete("category:", 9, Subject::Allocations, &vocabulary);
    assert_eq!(offered[0].text, "\"ring\"");
}

#[test]
fn what_was_not_recorded_is_said() {
    let recording = super::fixture::Recording::default().finish(oomscope_model::Anchor::EndState);
    let notes = |query| Prepared::new(&parse(query), &recording, &UserRules::default()).notes().join("; ");
    assert_eq!(notes("attention site:a"), "no stacks were recorded");
    assert_eq!(notes("lifetime<1ms pool:private"), "no times were recorded; no pools were recorded");
    assert_eq!(notes("lifetime>1events size>1"), "");
    assert_eq!(notes("live:oom"), "no out-of-memory event was recorded");
    assert_eq!(notes("live:7"), "expected an event below 0, found 7");
    assert_eq!(notes("category:a meta:b stream:1"), "no metadata was recorded; no streams were recorded");
    assert_eq!(notes("range:load iteration:3"), "no ranges were recorded; no iterations were found");
    assert_eq!(notes("phase:backward"), "");
    let full = sample();
    let query = "attention lifetime<1ms pool:private category:a meta:b stream:1 live:oom";
    assert!(Prepared::new(&parse(query), &full, &UserRules::default()).notes().is_empty());
}

#[test]
fn totals_are_those_of_the_live_matches() {
    let recording = sample();
    let matches = Matches::compute(&parse("stream:7|0 -mlp"), &recording, Moment::START);
    let at = |moment| {
        (matches.bytes_at(&recording, Moment(moment)).0, matches.count_at(&recording, Moment(moment)))
    };
    assert_eq!(at(0), (3 * MIB, 2));
    assert_eq!(at(2), (3 * MIB + 100, 3));
    assert_eq!(at(9), (MIB + 10 * KIB, 3));
    assert_eq!(matches.peak(&recording), (Moment(1), Bytes(3 * MIB + 100)));
    assert_eq!(at(2), (3 * MIB + 100, 3));
    let all = Matches::compute(&Filter::default(), &recording, Moment::START);
    assert_eq!(all.peak(&recording), recording.active.peak());
}

fn completions(query: &str) -> Vec<String> {
    let recording = sample();
    let vocabulary = Vocabulary::new(&recording);
    let all = complete(query, query.len(), Subject::Allocations, &vocabulary);
    all.into_iter().map(|completion| completion.text).collect()
}

#[test]
fn completion_knows_keys_and_what_the_file_has() {
    assert_eq!(completions("")[..3], ["live", "awaiting", "kept"]);
    assert_eq!(completions("si"), ["size>", "site:"]);
    assert_eq!(completions("size>1 li"), ["live", "lifetime<", "live:", "linear.py"]);
    assert_eq!(completions("-po"), ["pool:"]);
    assert_eq!(completions("stream:"), ["0", "7"]);
    assert_eq!(completions("pool:"), ["private", "default", "1.0"]);
    assert_eq!(completions("pool:private|d"), ["default"]);
    assert_eq!(completions("category:")[..2], ["Activation", "parameter"]);
    assert_eq!(completions("category:kv"), ["kv_cache"]);
    assert_eq!(completions("meta:\"st"), ["\"step 3\""]);
    assert_eq!(completions("live:"), ["peak", "oom", "end"]);
    assert_eq!(completions("size>100"), ["100KiB", "100MiB", "100GiB"]);
    assert_eq!(completions("size>100M"), [""; 0]);
    assert_eq!(completions("lifetime<10m"), ["10ms", "10min"]);
    assert_eq!(
        completions("site:"),
        ["\"<module>\"", "train.py", "Attention.forward", "mlp", "\"my model.py\""]
    );
    assert_eq!(completions("atten"), ["Attention.forward"]);
    assert_eq!(completions("stack:mod"), ["\"<module>\"", "\"my model.py\""]);
    assert_eq!(completions("kept"), [""; 0]);
}

#[test]
fn a_completion_replaces_the_word_around_the_cursor() {
    let recording = sample();
    let vocabulary = Vocabulary::new(&recording);
    let query = "size>1MB strem:7 live";
    let first = |cursor| complete(query, cursor, Subject::Allocations, &vocabulary).into_iter().next();
    let completion = first("size>1MB str".len()).expect("a key starts so");
    assert_eq!((&query[completion.range], completion.text.as_str()), ("strem:7", "stream:"));
    let query = "stack:\"my mo\" live";
    let completion = complete(query, "stack:\"my".len(), Subject::Allocations, &vocabulary)
        .into_iter()
        .next()
        .expect("a file");
    assert_eq!((&query[completion.range], completion.text.as_str()), ("\"my mo\"", "\"my model.py\""));
    assert!(completion.is_whole_term);
    assert_eq!(completion.explanation, "in the stack of 1 allocation");
}

/// Pieces that queries are made of, in any order.
fn query_like() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "size",
        "lifetime",
        "stack",
        "pool",
        "addr",
        "live",
        "kept",
        "before",
        "event",
        "iteration",
        "phase",
        "backward",
        "range",
        "after",
        ":",
        "<",
        ">",
        "=",
        ">=",
        "!",
        "-",
        "|",
        "\"",
        "\\",
        " ",
        "..",
        "1",
        "9999999999999999999",
        "0x",
        "MB",
        "ms",
        "events",
        ".5",
        ",",
        "peak",
        "é",
        "µs",
        "::",
        "private",
        "#",
        "alloc",
        "action",
    ]);
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn no_text_is_too_odd(query in prop_oneof![any::<String>(), query_like()], cursor in 0usize..40) {
        let recording = sample();
        match Filter::parse(&query) {
            Ok(filter) => {
                let matches = Matches::compute(&filter, &recording, Moment(4));
                prop_assert_eq!(matches.iter().count(), matches.count());
            }
            Err(error) => prop_assert!(query.get(error.range.clone()).is_some_and(|part| !part.is_empty())),
        }
        match EventQuery::parse(&query) {
            Ok(query) => {
                let matches = EventSearch::new(&query, &recording).matches(&recording, None);
                prop_assert!(matches.len() <= recording.events.len());
            }
            Err(error) => prop_assert!(query.get(error.range.clone()).is_some_and(|part| !part.is_empty())),
        }
        let vocabulary = Vocabulary::new(&recording);
        for subject in [Subject::Allocations, Subject::Events] {
            for completion in complete(&query, cursor, subject, &vocabulary) {
                prop_assert!(query.get(completion.range.clone()).is_some());
            }
        }
    }

    #[test]
    fn quoted_text_is_never_anything_else(text in prop_oneof![any::<String>(), query_like()]) {
        prop_assume!(!text.is_empty());
        let quoted = super::quoted(&text);
        let as_value = Filter::parse(&format!("stack:{quoted}"));
        prop_assert_eq!(Filter::parse(&quoted), as_value.clone());
        prop_assert!(as_value.is_ok());
    }
}

#[test]
fn iterations_without_numbers_count_from_the_first_and_say_so() {
    let mut program = Program::timed();
    train(&mut program, 4, Some(2));
    let recording = program.finish();
    let phases = Attribution::of(&recording, &UserRules::default()).phases;
    assert!(!phases.iterations.has_numbers() && 2 <= phases.iterations.list.len());
    let prepared = Prepared::new(&parse("iteration:1"), &recording, &UserRules::default());
    assert!(
        prepared.notes().join("; ").contains("count from its first, which is 0"),
        "{:?}",
        prepared.notes()
    );
    let second = &phases.iterations.list[1];
    let made = prepared.matches(&recording, Moment::START);
    let made: Vec<u32> =
        made.iter().filter_map(|id| recording.allocation(id).alloc_event()).map(|e| e.0).collect();
    assert!(!made.is_empty());
    assert!(made.iter().all(|&event| second.start.0 <= event && event < second.end.0), "{made:?}");
}
