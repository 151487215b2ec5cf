//! Places and notes: what is written is read again, and nothing that is read does harm.

use super::file::KeptReason;
use super::*;
use proptest::prelude::*;

fn place(text: &str) -> Place {
    text.parse().expect("a place")
}

fn problem(text: &str) -> String {
    text.parse::<Place>().expect_err("no place").to_string()
}

#[test]
fn a_place_reads_as_people_write_it() {
    let text =
        r#"event=2,528 range=100..2600 select=alloc:1234 filter="site:train.py:55 live" only colour=stack"#;
    let found = place(text);
    assert_eq!(found.moment, Some(PlaceMoment::Event(2528)));
    assert_eq!(found.range, Some(PlaceRange::Events([100, 2600])));
    assert_eq!(found.selection, Some(Selected::Allocation(BlockRef::Event(1234))));
    assert_eq!(found.filter.as_deref(), Some("site:train.py:55 live"));
    assert!(found.hides_rest);
    assert_eq!(found.colour.as_deref(), Some("stack"));
    assert_eq!(place("range=1.5s..2000ms").range, Some(PlaceRange::TimeUs([1_500_000, 2_000_000])));
    assert_eq!(place("select=stack:0x7f00").selection, Some(Selected::StackOf(BlockRef::Address(0x7f00))));
    assert_eq!(place(r#"filter="a \"b\" \\""#).filter.as_deref(), Some(r#"a "b" \"#));
    assert_eq!(place("  "), Place::default());
}

#[test]
fn mistakes_say_where_they_are_and_what_is_expected() {
    assert_eq!(
        problem("event=10 select=block:3"),
        "'block:3' is no value of select=, which takes alloc:EVENT, alloc:0xADDRESS, stack:EVENT, \
         stack:0xADDRESS or segment:0xADDRESS (at character 17)"
    );
    assert!(problem("event=-1").contains("takes the number of an event, start, peak, oom or end"));
    assert!(problem("range=9..3").contains("events as 100..2600"));
    assert_eq!(problem("filter=\"live"), "the quote is not closed (at character 8)");
    assert_eq!(problem("event=1 event=2"), "event is given twice (at character 15)");
    assert!(problem(&"x".repeat(20_000)).contains("at most"));
}

#[test]
fn words_of_other_versions_are_kept() {
    let text = r#"event=3 zoom=2 tilt "a b"=c"#;
    let found = place(text);
    assert_eq!(found.unknown, ["zoom=2", "tilt", "\"a b\"=c"]);
    assert_eq!(found.to_string(), text);
}

#[test]
fn a_link_is_one_command_whatever_the_names_are() {
    let place = place(r#"event=3 filter="it's""#);
    if cfg!(unix) {
        assert_eq!(
            command_line("/runs/a b.pickle", &place),
            r"oomscope '/runs/a b.pickle' --go 'event=3 filter=it'\''s'"
        );
    }
    assert!(command_line("-x", &Place::default()).starts_with("oomscope ./-x --go "));
}

fn places() -> impl Strategy<Value = Place> {
    let block = prop_oneof![any::<u32>().prop_map(BlockRef::Event), any::<u64>().prop_map(BlockRef::Address)];
    let selection = prop_oneof![
        block.clone().prop_map(Selected::Allocation),
        block.prop_map(Selected::StackOf),
        any::<u64>().prop_map(Selected::Segment),
    ];
    let moment = prop_oneof![
        any::<u32>().prop_map(PlaceMoment::Event),
        Just(PlaceMoment::Start),
        Just(PlaceMoment::Peak),
    ];
    let range = prop_oneof![
        (any::<u32>(), any::<u32>()).prop_map(|(a, b)| PlaceRange::Events([a.min(b), a.max(b)])),
        (any::<u64>(), any::<u64>()).prop_map(|(a, b)| PlaceRange::TimeUs([a.min(b), a.max(b)])),
        Just(PlaceRange::AllTime),
    ];
    let bytes = (any::<u64>(), any::<u64>()).prop_map(|(a, b)| [a.min(b), a.max(b)]);
    let text = "[ -~äλ\\\\\"]{0,20}[!-~]";
    let option = prop::option::of::<BoxedStrategy<String>>;
    (
        prop::option::of(any::<i64>()),
        prop::option::of(moment),
        prop::option::of(range),
        prop::option::of(bytes),
        prop::option::of(selection),
        option(text.boxed()),
        any::<bool>(),
        option("[a-z]{1,9}".boxed()),
    )
        .prop_map(|(device, moment, range, bytes, selection, filter, hides_rest, colour)| Place {
            device,
            moment,
            range,
            bytes,
            selection,
            filter,
            hides_rest,
            colour,
            unknown: Vec::new(),
        })
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(place in places(), text in "\\PC{0,60}") {
        prop_assert_eq!(&place.to_string().parse::<Place>().expect("a place"), &place);
        let text = note_text(&text);
        prop_assume!(!text.is_empty());
        let notes = vec![Note { text, place }];
        let file = written_notes("/runs/\"odd\"\\name", &notes).expect("it is small");
        prop_assert_eq!(read_notes(&file), NotesFile { notes, kept: None });
    }

    #[test]
    fn no_line_and_no_file_does_harm(text in "\\PC{0,200}", line in "[a-z=\"\\\\ :.x0-9]{0,80}") {
        for text in [&text, &line] {
            if let Ok(place) = text.parse::<Place>() {
                let again = place.to_string().parse::<Place>();
                prop_assert_eq!(again.as_ref(), Ok(&place));
            }
            read_notes(text);
            read_notes(&format!("format = \"oomscope-notes\"\nversion = 1\n{text}"));
        }
    }
}

const HEAD: &str = "format = \"oomscope-notes\"\nversion = 1\n";

fn read(rest: &str) -> NotesFile {
    read_notes(&format!("{HEAD}{rest}"))
}

#[test]
fn files_that_would_lose_something_stay_as_they_are() {
    assert_eq!(read("").kept, None);
    assert!(matches!(read_notes("not toml").kept, Some(KeptReason::Broken(_))));
    // A link to a file of settings, for instance.
    assert_eq!(read_notes("[net]\nretry = 3").kept, Some(KeptReason::NoNotes));
    assert_eq!(read_notes("format = \"oomscope-notes\"\nversion = 9\n").kept, Some(KeptReason::Later));
    assert_eq!(read(&"#".repeat(2 << 20)).kept, Some(KeptReason::TooLarge));
    assert_eq!(read("mood = 1").kept, Some(KeptReason::UnknownKey("mood".to_owned())));
    let many = read(&"[[note]]\ntext = \"x\"\n".repeat(1001));
    assert_eq!((many.notes.len(), many.kept), (1000, Some(KeptReason::TooMany)));
    assert!(matches!(read("note = 3").kept, Some(KeptReason::UnknownKey(_))));
}

#[test]
fn odd_notes_are_shown_cleaned() {
    let found =
        read("[[note]]\ntext = \"a\\u001b[31m\\nb\"\nplace = \"event=x\"\n[[note]]\ntext = \"good\"\n");
    let texts: Vec<&str> = found.notes.iter().map(|note| note.text.as_str()).collect();
    assert_eq!(texts, ["a\u{fffd}[31m b", "good"]);
    assert!(matches!(found.kept, Some(KeptReason::OddNote { number: 1, .. })));
    let long = read(&format!("[[note]]\ntext = \"{}\"", "y".repeat(5000)));
    assert_eq!(long.notes[0].text.chars().count(), 2000);
    assert!(long.kept.is_some());
}

#[test]
fn changes_of_both_sides_count() {
    let notes = |texts: &str| -> Vec<Note> {
        let note = |text: char| Note { text: text.to_string(), place: Place::default() };
        texts.chars().map(note).collect()
    };
    assert_eq!(merged(&notes("abc"), &notes("abcm"), &notes("act")), notes("acmt"));
    assert_eq!(merged(&notes("ab"), &notes("b"), &notes("ab")), notes("b"));
    assert_eq!(merged(&notes(""), &notes("x"), &notes("x")), notes("x"));
}

#[test]
fn more_than_can_be_read_is_not_written() {
    let notes = vec![Note { text: "x".repeat(2000), place: Place::default() }; 999];
    assert!(written_notes("r", &notes).is_none());
    assert!(written_notes("r", &notes[..100]).is_some());
}
