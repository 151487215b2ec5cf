//! Small files that are made to fill memory or to keep a core busy, and names of megabytes: what is refused, what is bounded,
//! and how the user allows more.

use crate::memory::{Writer, long_text, run_in_1_gib, zstd};
use crate::support::{load_bytes, run};
use oomscope_model::Snapshot;
use oomscope_snapshot::load::LoadError;
use std::io::Write as _;
use std::sync::Arc;

/// A list of two events in turn, again and again: every item is a range of rows of its own.
fn alternating(writer: &mut Writer, items: usize) -> u32 {
    for addr in [8, 16] {
        writer.event("alloc", addr, None);
        writer.memoize_and_pop();
    }
    let second = writer.memo_len() - 1;
    writer.pickle.extend(b"](");
    let pair = [b'h', second as u8 - 1, b'h', second as u8];
    writer.pickle.extend(pair.repeat(items / 2));
    writer.pickle.push(b'e');
    writer.memoize_and_pop()
}

/// A snapshot whose root has one more key.
fn with_root_key(mut writer: Writer, key: &[u8], value: impl FnOnce(&mut Writer)) -> Vec<u8> {
    writer.pickle.extend(b"}(");
    for key in ["segments", "device_traces"] {
        writer.word(key);
        writer.pickle.push(b']');
    }
    writer.text(key);
    value(&mut writer);
    writer.pickle.extend(b"u.");
    writer.pickle
}

/// Thousands of devices that have one long trace.
fn shared_traces(key: &str) -> Vec<u8> {
    let mut writer = Writer::new();
    let trace = alternating(&mut writer, 200_000);
    writer.pickle.extend(b"}(");
    writer.word("segments");
    writer.pickle.push(b']');
    writer.text(key.as_bytes());
    writer.pickle.extend(b"](](");
    writer.event("alloc", 24, None);
    writer.pickle.push(b'e');
    for _ in 0..10_000 {
        writer.get(trace);
    }
    writer.pickle.extend(b"eu.");
    writer.pickle
}

/// Two thousand settings that have one text of 10 MB.
fn shared_settings() -> Vec<u8> {
    let mut writer = Writer::new();
    writer.text(&vec![b'x'; 10_000_000]);
    let text = writer.memoize_and_pop();
    with_root_key(writer, b"allocator_settings", |writer| {
        writer.pickle.extend(b"}(");
        for i in 0..2000 {
            writer.text(format!("setting {i}").as_bytes());
            writer.get(text);
        }
        writer.pickle.push(b'u');
    })
}

/// A thousand devices that have one dict of a thousand addresses, which have one list of a thousand tensors.
fn shared_tensors() -> Vec<u8> {
    let mut writer = Writer::new();
    writer.pickle.extend(b"](");
    writer.text(b"aten::mm");
    writer.pickle.extend(b"K\x01K\x02K\x03\x87");
    writer.text(b"float32");
    writer.pickle.push(b'e');
    let tensor = writer.memoize_and_pop();
    writer.pickle.extend(b"](");
    (0..1000).for_each(|_| writer.get(tensor));
    writer.pickle.push(b'e');
    let tensors = writer.memoize_and_pop();
    writer.pickle.extend(b"}(");
    for i in 0..1000 {
        writer.text(format!("{:#x}", 4096 * i).as_bytes());
        writer.get(tensors);
    }
    writer.pickle.push(b'u');
    let device = writer.memoize_and_pop();
    with_root_key(writer, b"shape_data", |writer| {
        writer.pickle.extend(b"](");
        (0..1000).for_each(|_| writer.get(device));
        writer.pickle.push(b'e');
    })
}

#[cfg(target_os = "linux")]
#[test]
fn parts_that_a_small_file_repeats_never_multiply() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let bombs = [
        ("traces", shared_traces("device_traces")),
        ("host traces", shared_traces("host_traces")),
        ("settings", shared_settings()),
        ("tensors", shared_tensors()),
    ];
    for (what, pickle) in bombs {
        let path = folder.path().join("bomb.zst");
        let packed = zstd(&pickle);
        assert!(packed.len() < 100_000, "{what}: {}", packed.len());
        std::fs::write(&path, packed).expect("a temporary file");
        let output = run_in_1_gib(&["stats"], &path, folder.path());
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{what}: {:?} {errors}", output.status);
        let text = String::from_utf8_lossy(&output.stdout);
        let is_noted = ["are those of other", "beyond the first MiB"].iter().any(|note| text.contains(note));
        assert!(is_noted, "{what}: {text}");
    }
}

#[test]
fn items_that_repeat_rows_count_as_memory() {
    let mut writer = Writer::new();
    alternating(&mut writer, 20_000_000);
    let packed = zstd(&writer.snapshot(|writer| writer.event("alloc", 24, None)));
    assert!(packed.len() < 100_000, "{}", packed.len());
    let refused = load_bytes(&packed).expect_err("160 MB of ranges");
    assert!(refused.to_string().contains("bytes of memory"), "{refused}");
}

#[test]
fn an_input_that_expands_without_end_is_refused() {
    // Bytes objects mean nothing and take no memory: only decoding them takes time.
    let unit = [&b"B\0\0\0\x02"[..], &vec![0; 1 << 25], b"0"].concat();
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).expect("an encoder");
    encoder.write_all(b"\x80\x04").expect("memory can be written");
    for _ in 0..40 {
        encoder.write_all(&unit).expect("memory can be written");
    }
    let packed = encoder.finish().expect("memory can be written");
    let refused = load_bytes(&packed).expect_err("1.3 GB");
    let text = refused.to_string();
    assert!(text.contains("of compressed input, found more"), "{text}");
    assert_eq!(refused.more_memory(), Some(4 << 30));
}

/// Run `stats` on bytes.
fn stats(bytes: &[u8], args: &[&str]) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.pickle");
    std::fs::write(&path, bytes).expect("a temporary file");
    let name = path.to_string_lossy();
    let all = [&["stats", &name], args].concat();
    let output = run(&all);
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// That all of a file is read. That these have no segments is said.
fn assert_whole(bytes: &[u8], args: &[&str]) {
    let (code, errors) = stats(bytes, args);
    assert_eq!(code, Some(0), "{errors}");
    assert!(!errors.contains("damaged") && !errors.contains("--max-memory"), "{errors}");
}

#[test]
fn max_memory_allows_more_and_less() {
    let packed = zstd(&long_text());
    let (code, errors) = stats(&packed, &[]);
    assert_eq!(code, Some(1), "{errors}");
    assert!(errors.contains("at byte") && errors.contains("--max-memory 512MiB"), "{errors}");
    assert_whole(&packed, &["--max-memory", "2GiB"]);
    // A plain file, small enough for the decoder of whole pickles.
    let plain = Writer::new().snapshot(|writer| {
        (0..200_000).for_each(|i| writer.event("alloc", i << 10, None));
    });
    assert_whole(&plain, &[]);
    let (code, errors) = stats(&plain, &["--max-memory", "1MiB"]);
    assert_eq!(code, Some(1), "{errors}");
    assert!(errors.contains("at most 1048576 bytes of memory"), "{errors}");
    let (code, errors) = stats(&plain, &["--max-memory", "much"]);
    assert_eq!(code, Some(2), "{errors}");
    assert!(errors.contains("expected a size"), "{errors}");
}

#[test]
fn max_memory_holds_for_files_that_are_decoded_in_pieces() {
    let mut writer = Writer::new();
    writer.pickle.extend(b"}(");
    writer.word("segments");
    writer.pickle.push(b']');
    writer.word("device_traces");
    // In batches, as picklers write them.
    writer.pickle.extend(b"](]");
    for batch in 0..800 {
        writer.pickle.push(b'(');
        (0..1000).for_each(|i| writer.event("alloc", (1 + batch * 1000 + i) << 9, None));
        writer.pickle.push(b'e');
    }
    writer.pickle.extend(b"eu.");
    assert!(16 << 20 < writer.pickle.len());
    assert_whole(&writer.pickle, &[]);
    let (code, errors) = stats(&writer.pickle, &["--max-memory", "4MiB"]);
    assert_eq!(code, Some(1), "{errors}");
    assert!(errors.contains("at most 4194304 bytes of memory"), "{errors}");
}

/// Stacks of 20,000 frames in batches of a thousand, which differ in the last frames alone.
fn long_stacks_that_share_prefixes(stacks: u32, frames: u32) -> Arc<Snapshot> {
    let mut writer = Writer::new();
    let memo: Vec<u32> = (0..stacks)
        .map(|line| {
            writer.pickle.extend(b"}(");
            for (key, value) in [("filename", "a.py"), ("name", "f")] {
                writer.word(key);
                writer.word(value);
            }
            writer.int("line", line);
            writer.pickle.push(b'u');
            writer.memoize_and_pop()
        })
        .collect();
    let pickle = writer.snapshot(|writer| {
        for (i, &own) in memo.iter().enumerate() {
            writer.pickle.extend(b"}(");
            writer.word("action");
            writer.word("alloc");
            writer.int("addr", (i as u32 + 1) << 10);
            writer.int("size", 512);
            writer.word("frames");
            writer.pickle.extend(b"]\x94");
            writer.skip_memo_entry();
            for batch in 0..frames / 1000 {
                writer.pickle.push(b'(');
                for at in 0..1000 {
                    let is_last = batch * 1000 + at + 1 == frames;
                    writer.get(if is_last { own } else { memo[0] });
                }
                writer.pickle.push(b'e');
            }
            writer.pickle.push(b'u');
        }
    });
    load_bytes(&pickle).expect("a snapshot")
}

#[test]
fn a_stack_in_batches_takes_memory_once() {
    let (stacks, frames) = (20, 20_000);
    let snapshot = long_stacks_that_share_prefixes(stacks, frames);
    let timeline = &snapshot.timelines[0];
    let lengths: Vec<usize> =
        timeline.events.indices().map(|ix| snapshot.stacks.frames(timeline.events.stack(ix)).len()).collect();
    assert_eq!(lengths, vec![frames as usize; stacks as usize]);
    assert_eq!(snapshot.stacks.len(), 1 + stacks as usize, "each of them, and the empty one");
    assert!(snapshot.issues.is_empty(), "{:?}", snapshot.issues);
    // Four bytes for each frame; prefixes of every batch would make it ten times that.
    let held = snapshot.stacks.held_bytes();
    assert!(held < 5 * (stacks * frames) as usize, "{held} bytes");
}

#[test]
fn a_stack_that_an_event_has_does_not_change_when_its_list_grows() {
    let mut writer = Writer::new();
    let frame = writer.frame();
    let batch = [&b"("[..], &[b'h', frame as u8].repeat(1000), b"e"].concat();
    writer.pickle.push(b']');
    writer.pickle.extend(&batch);
    let list = writer.memoize_and_pop();
    let pickle = writer.snapshot(|writer| {
        writer.event("alloc", 1 << 10, Some(list));
        writer.get(list);
        writer.pickle.extend(&batch);
        writer.pickle.push(b'0');
        writer.event("alloc", 2 << 10, Some(list));
    });
    let snapshot = load_bytes(&pickle).expect("a snapshot");
    let events = &snapshot.timelines[0].events;
    let lengths: Vec<usize> =
        events.indices().map(|ix| snapshot.stacks.frames(events.stack(ix)).len()).collect();
    assert_eq!(lengths, [1000, 1000]);
    assert!(snapshot.issues.iter().any(|issue| format!("{issue:?}").contains("stack that was complete")));
}

/// A snapshot of allocations in a function whose name has 200 KB.
fn long_name() -> Vec<u8> {
    let mut writer = Writer::new();
    writer.text(&vec![b'n'; 200_000]);
    let name = writer.memoize_and_pop();
    let stacks: Vec<u32> = (0..50)
        .map(|line| {
            writer.pickle.extend(b"](}(");
            writer.word("filename");
            writer.get(name);
            writer.word("name");
            writer.get(name);
            writer.int("line", line);
            writer.pickle.extend(b"ue");
            writer.memoize_and_pop()
        })
        .collect();
    // Without an end, so that the events alone say what is live.
    writer.pickle.extend(b"}(");
    writer.word("device_traces");
    writer.pickle.extend(b"](](");
    for (i, &stack) in stacks.iter().enumerate() {
        writer.event("alloc", (i as u32 + 1) << 10, Some(stack));
    }
    writer.event("oom", 0, Some(stacks[0]));
    writer.pickle
}

#[cfg(target_os = "linux")]
#[test]
fn a_name_of_many_kilobytes_is_cut_wherever_it_is_shown_and_whole_in_data() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.pickle");
    std::fs::write(&path, long_name()).expect("a temporary file");
    let shown: [&[&str]; 3] = [&["stats"], &["live"], &["report", "--format", "html"]];
    for args in shown {
        let output = run_in_1_gib(args, &path, folder.path());
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{args:?}: {errors}");
        assert!(output.stdout.len() < 4 << 20, "{args:?}: {} bytes", output.stdout.len());
        if args[0] == "live" {
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(text.contains("… (198000 more bytes)"), "{}", &text[..text.len().min(4000)]);
        }
    }
    let whole = run_in_1_gib(&["export", "--format", "csv", "-o", "tables"], &path, folder.path());
    assert!(whole.status.success(), "{}", String::from_utf8_lossy(&whole.stderr));
    let frames = std::fs::metadata(folder.path().join("tables/frames.csv")).expect("the table").len();
    assert!(200_000 < frames, "{frames} bytes");
}

/// The type that callers match on.
#[test]
fn the_refusal_says_where_what_was_expected_and_what_was_found() {
    let refused = load_bytes(&zstd(&long_text())).expect_err("too much memory");
    let LoadError::Decode { source, .. } = &refused else { panic!("{refused}") };
    assert!(0 < source.offset);
    let text = refused.to_string();
    for part in ["at byte", "expected at most", "bytes of input, found values that take"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}
