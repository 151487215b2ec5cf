//! A large file through the threads that decode pieces.

use super::{Input, Progress, in_pieces, load, load_from};
use oomscope_pickle::{BATCH_ITEMS, MemoId, Writer};
use std::io;

/// Events of the file: enough for a file that is decoded in pieces.
const EVENTS: usize = 200_000;

const KEYS: [&[u8]; 6] = [b"action", b"addr", b"size", b"stream", b"time_us", b"frames"];

/// A pickle of allocs and frees as Python writes it: in batches, each key once.
fn pickle() -> io::Result<Vec<u8>> {
    let mut out = Writer::new(Vec::new())?;
    let mut known: Vec<(&[u8], MemoId)> = Vec::new();
    let mut text = |out: &mut Writer<Vec<u8>>, text: &'static [u8]| {
        if let Some(&(_, memo)) = known.iter().find(|(name, _)| *name == text) {
            return out.get(memo);
        }
        out.text(text)?;
        known.push((text, out.memoize()?));
        Ok(())
    };
    out.empty_dict()?;
    out.memoize()?;
    out.mark()?;
    out.text(b"device_traces")?;
    out.memoize()?;
    out.empty_list()?;
    out.memoize()?;
    out.mark()?;
    out.empty_list()?;
    out.memoize()?;
    for event in 0..EVENTS {
        if event % BATCH_ITEMS == 0 {
            out.mark()?;
        }
        let actions: [&[u8]; 3] = [b"alloc", b"free_requested", b"free_completed"];
        out.empty_dict()?;
        out.memoize()?;
        out.mark()?;
        for key in KEYS {
            text(&mut out, key)?;
            match key {
                b"action" => text(&mut out, actions[event % 3])?,
                b"frames" => {
                    out.empty_list()?;
                    out.memoize()?;
                }
                b"addr" => out.uint(0x7f00_0000_0000 + (event / 3 % 5000) as u64 * 512)?,
                b"size" => out.int(512)?,
                b"stream" => out.int(0)?,
                _ => out.int(1_700_000_000_000_000 + event as i64)?,
            }
        }
        // Text that makes the file large and occurs once.
        out.text(b"note")?;
        out.memoize()?;
        out.text(format!("{event:060}").as_bytes())?;
        out.memoize()?;
        out.set_items()?;
        if event % BATCH_ITEMS == BATCH_ITEMS - 1 {
            out.append()?;
        }
    }
    out.append()?;
    out.set_items()?;
    out.finish()
}

#[test]
fn a_large_file_is_the_same_in_pieces_and_through_a_reader() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("large.pickle");
    let bytes = pickle().expect("memory");
    std::fs::write(&path, &bytes).expect("the file can be written");
    let is_in_pieces = in_pieces::open_if_suitable(&path).is_some();
    assert_eq!(is_in_pieces, 1 < std::thread::available_parallelism().map_or(1, usize::from));
    let [progress, of_whole] = [(); 2].map(|()| Progress::with_preview());
    let found = load(&Input::File(path), &progress).expect("a snapshot");
    let expected = load_from(&bytes[..], "whole", &of_whole).expect("a snapshot");
    assert_eq!(progress.events(), EVENTS as u64);
    let seen = progress.seen().expect("someone looks");
    assert_eq!(seen.traces.values().map(|outline| outline.events()).collect::<Vec<_>>(), [EVENTS as u64]);
    assert_eq!(Some(seen), of_whole.seen(), "both ways show the same");
    assert_eq!(found.unknown_keys, expected.unknown_keys);
    assert_eq!((found.strings.len(), found.pickle_bytes), (expected.strings.len(), expected.pickle_bytes));
    let [a, b] = [&found, &expected].map(|snapshot| &snapshot.timelines[0]);
    assert_eq!((a.events.len(), b.events.len()), (EVENTS, EVENTS));
    assert!(a.events.indices().all(|event| a.events.get(event) == b.events.get(event)));
    assert_eq!(a.active.peak(), b.active.peak());
}

/// Ways to damage a file, each at a place of it.
const DAMAGE: [fn(&mut Vec<u8>, usize); 4] = [
    Vec::truncate,
    |bytes, at| bytes[at..at + 300].fill(0xff),
    |bytes, at| bytes[at..at + 5000].fill(0),
    |bytes, at| bytes.copy_within(at - 5000..at, at + 1),
];

#[test]
fn a_damaged_file_is_the_same_on_all_threads_and_through_a_reader() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("damaged.pickle");
    let whole = pickle().expect("memory");
    for (damage, share) in DAMAGE.into_iter().zip([95, 41, 67, 23]) {
        let mut bytes = whole.clone();
        damage(&mut bytes, whole.len() / 100 * share);
        std::fs::write(&path, &bytes).expect("the file can be written");
        let outcome = [
            load(&Input::File(path.clone()), &Progress::default()),
            load_from(&bytes[..], "", &Progress::default()),
        ];
        let said = outcome.each_ref().map(|outcome| match outcome {
            Ok(snapshot) => {
                let timeline = &snapshot.timelines[0];
                let rows: Vec<_> =
                    timeline.events.indices().map(|event| timeline.events.get(event)).collect();
                let notes = format!("{:?} {:?}", snapshot.damage, snapshot.issues);
                (notes, snapshot.strings.len(), timeline.active.peak(), rows)
            }
            Err(error) => panic!("{share}: {error}"),
        });
        assert!(said[0].0.starts_with("Some("), "{}", said[0].0);
        assert!(said[0] == said[1], "at {share} of 100: {} and {}", said[0].0, said[1].0);
    }
}

#[test]
fn a_load_in_pieces_can_be_cancelled() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("large.pickle");
    std::fs::write(&path, pickle().expect("memory")).expect("the file can be written");
    let progress = Progress::default();
    progress.cancel();
    let outcome = load(&Input::File(path), &progress);
    assert!(matches!(outcome, Err(super::LoadError::Cancelled { .. })), "{:?}", outcome.is_ok());
}
