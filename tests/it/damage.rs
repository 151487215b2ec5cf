//! Files that are cut off, garbled or hostile: a typed error or what was whole, never a panic, and
//! never much time or memory.

use crate::support::{load_bytes, oomscope, program, root, sample};
use oomscope_analysis::{DeviceStats, device_stats};
use oomscope_model::{Action, Anchor, Event, Moment, Recording, Snapshot};
use oomscope_snapshot::load::LoadError;
use std::io::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn read(name: &str) -> Vec<u8> {
    std::fs::read(sample(name)).expect("the sample can be read")
}

fn stats(snapshot: &Arc<Snapshot>) -> Vec<DeviceStats> {
    Recording::all(snapshot).map(|recording| device_stats(&recording)).collect()
}

/// The events of each device, in order. Ids are given in the order of reading, so they are the same
/// in every part of a file.
fn events(snapshot: &Snapshot) -> Vec<Vec<Event>> {
    let of = |device| {
        let timeline = snapshot.timeline(oomscope_model::DeviceId(device));
        timeline.map_or_else(Vec::new, |t| t.events.indices().map(|ix| t.events.get(ix)).collect())
    };
    (0..4).map(of).collect()
}

/// Where `needle` starts.
fn find(haystack: &[u8], needle: &[u8]) -> usize {
    haystack.windows(needle.len()).position(|window| window == needle).expect("it is there")
}

/// Random numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        // splitmix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) as usize % end
    }
}

/// Load, and check that the outcome is one of those that are allowed for a damaged file.
fn outcome(bytes: &[u8]) -> Option<Arc<Snapshot>> {
    match load_bytes(bytes) {
        Ok(snapshot) => {
            if let Some(damage) = &snapshot.damage {
                assert!(damage.offset <= bytes.len() as u64, "{damage:?} of {} bytes", bytes.len());
                assert!(!damage.reason.is_empty());
            }
            assert!(snapshot.pickle_bytes <= bytes.len() as u64);
            // Everything derived can be asked for.
            let figures = stats(&snapshot);
            for (timeline, figures) in snapshot.timelines.iter().zip(figures) {
                assert_eq!(timeline.active.len(), figures.events + 1);
            }
            Some(snapshot)
        }
        Err(LoadError::Internal { message, .. }) => panic!("internal error: {message}"),
        Err(error) => {
            assert!(!error.to_string().is_empty() && !error.hint().is_empty());
            None
        }
    }
}

/// What a file that ends at `cut` gives, checked against the whole file.
fn check_cut(bytes: &[u8], cut: usize, whole: &[Vec<Event>]) -> Vec<usize> {
    let Some(part) = outcome(&bytes[..cut]) else { return vec![0; whole.len()] };
    assert!(part.damage.is_some(), "cut at {cut}");
    let part = events(&part);
    for (part, whole) in part.iter().zip(whole) {
        assert!(whole.starts_with(part), "cut at {cut}");
    }
    part.iter().map(Vec::len).collect()
}

#[test]
fn a_cut_at_any_byte_keeps_every_whole_event_and_no_part_of_one() {
    for protocol in [0, 1, 2, 4] {
        let path = root().join(format!("tests/data/small.protocol{protocol}.pickle"));
        let bytes = std::fs::read(path).expect("the fixture can be read");
        let whole = events(&load_bytes(&bytes).expect("the fixture loads"));
        let total = whole.iter().map(Vec::len).sum::<usize>();
        let mut steps = Vec::new();
        let mut before = 0;
        for cut in 0..bytes.len() {
            let now = check_cut(&bytes, cut, &whole).iter().sum::<usize>();
            assert!(
                now == before || now == before + 1,
                "protocol {protocol}, cut at {cut}: {before} then {now} events"
            );
            if now != before {
                steps.push(cut);
            }
            before = now;
        }
        assert_eq!(before, total, "protocol {protocol}");
        // An event is there as soon as its last byte is: where its dict is filled, or, where that
        // happens key by key, where the dict is appended to the trace.
        let last_bytes: &[u8] = if protocol == 0 { b"a" } else { b"u" };
        for &cut in &steps {
            assert!(last_bytes.contains(&bytes[cut - 1]), "protocol {protocol}, cut at {cut}");
        }
        assert_eq!(steps.len(), total);
    }
}

#[test]
fn a_cut_anywhere_in_a_real_file_keeps_the_events_before_it() {
    let bytes = read("two_devices_oom.pickle");
    let whole = events(&load_bytes(&bytes).expect("the sample loads"));
    let mut random = Random(1);
    let regular = (0..bytes.len()).step_by(997);
    let mut cuts: Vec<usize> = regular.chain((0..200).map(|_| random.below(bytes.len()))).collect();
    cuts.sort_unstable();
    let mut before = vec![0; whole.len()];
    for cut in cuts {
        let now = check_cut(&bytes, cut, &whole);
        assert!(
            before.iter().zip(&now).all(|(before, now)| before <= now),
            "cut at {cut}: {before:?} then {now:?}"
        );
        before = now;
    }
}

#[test]
fn a_large_file_can_be_cut_too() {
    for name in ["gpt_oom_forward.pickle", "compiled.pickle"] {
        let bytes = read(name);
        let whole = events(&load_bytes(&bytes).expect("the sample loads"));
        let mut before = 0;
        for cut in (0..bytes.len()).step_by(9973) {
            let now = check_cut(&bytes, cut, &whole)[0];
            assert!(before <= now, "{name} cut at {cut}");
            before = now;
        }
        assert!(0 < before, "{name}");
    }
}

#[test]
fn figures_are_exact_if_the_cut_is_behind_the_trace_and_marked_if_it_is_inside() {
    for name in ["gpt_oom_forward.pickle", "two_devices_oom.pickle", "ring_overflow.pickle"] {
        let bytes = read(name);
        let expected = stats(&load_bytes(&bytes).expect("the sample loads"));
        let traces = find(&bytes, b"device_traces");
        let settings = find(&bytes, b"allocator_settings");
        assert!(traces < settings);
        for cut in [settings, settings + 18, usize::midpoint(settings, bytes.len()), bytes.len() - 1] {
            let part = outcome(&bytes[..cut]).expect("all of the trace is there");
            assert_eq!(stats(&part), expected, "{name} cut at {cut}");
            assert!(part.timelines.iter().all(|timeline| timeline.anchor == Anchor::EndState));
        }
        for i in 1..10 {
            let cut = traces + (settings - 200 - traces) * i / 10;
            let part = outcome(&bytes[..cut]).expect("part of the trace is there");
            let last = part.timelines.iter().rfind(|timeline| !timeline.events.is_empty()).expect("a trace");
            assert_eq!(last.anchor, Anchor::TraceOnly, "{name} cut at {cut}");
            assert_eq!(last.anomalies.total(), 0, "{name} cut at {cut}");
        }
    }
}

#[test]
fn the_program_says_that_a_file_is_partial() {
    let bytes = read("gpt_oom_forward.pickle");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("cut.pickle");
    std::fs::write(&path, &bytes[..bytes.len() / 2]).expect("the file can be written");
    let output = oomscope().arg("stats").arg(&path).output().expect("the program starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0));
    assert!(
        text.contains("PARTIAL: damaged at byte") && text.contains("not known    The final state is missing"),
        "{text}"
    );
    let output =
        oomscope().args(["stats", "--format", "json"]).arg(&path).output().expect("the program starts");
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(json[0]["complete"], false);
    assert!(json[0]["damage"]["offset"].as_u64().is_some_and(|offset| offset <= bytes.len() as u64 / 2));
}

#[test]
fn cut_compressed_files_give_what_can_be_decompressed() {
    let plain = read("gpt_oom_forward.pickle");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&plain).expect("memory can be written");
    let zstd = zstd::encode_all(plain.as_slice(), 1).expect("memory can be written");
    let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 1);
    xz.write_all(&plain).expect("memory can be written");
    let packed = [gzip.finish(), Ok(zstd), xz.finish()].map(|bytes| bytes.expect("memory can be written"));
    for (name, bytes) in ["gzip", "zstd", "xz"].iter().zip(packed) {
        for tenth in 0..10 {
            if let Ok(part) = load_bytes(&bytes[..bytes.len() * tenth / 10]) {
                assert!(part.damage.is_some(), "{name}, {tenth} tenths");
            }
        }
        let mut garbled = bytes.clone();
        let middle = garbled.len() / 2;
        garbled[middle..middle + 8].fill(0x55);
        match load_bytes(&garbled) {
            Ok(part) => assert!(part.damage.is_some(), "{name}"),
            Err(error) => assert!(!matches!(error, LoadError::Internal { .. }), "{name}"),
        }
    }
}

#[test]
fn flipped_bits_and_overwritten_bytes_never_panic() {
    let mut random = Random(7);
    for name in ["two_devices_oom.pickle", "pools.pickle", "history_state_only.pickle"] {
        let bytes = read(name);
        for _ in 0..100 {
            let mut bytes = bytes.clone();
            for _ in 0..=random.below(4) {
                let at = random.below(bytes.len());
                bytes[at] ^= 1 << random.below(8);
            }
            outcome(&bytes);
        }
    }
    for protocol in [0, 1, 2, 4] {
        let path = root().join(format!("tests/data/small.protocol{protocol}.pickle"));
        let bytes = std::fs::read(path).expect("the fixture can be read");
        for _ in 0..250 {
            let mut bytes = bytes.clone();
            for _ in 0..=random.below(3) {
                let at = random.below(bytes.len());
                bytes[at] = random.below(256) as u8;
            }
            outcome(&bytes);
        }
    }
}

#[test]
fn pieces_of_a_file_put_together_wrongly_never_panic() {
    let mut random = Random(3);
    let path = root().join("tests/data/small.protocol4.pickle");
    let bytes = std::fs::read(path).expect("the fixture can be read");
    for _ in 0..500 {
        let (a, b) = (random.below(bytes.len()), random.below(bytes.len()));
        let (from, to) = (a.min(b), a.max(b));
        let cut_out = [&bytes[..from], &bytes[to..]].concat();
        let repeated = [&bytes[..to], &bytes[from..]].concat();
        outcome(&cut_out);
        // Repeating part of a file makes it longer, so its offsets are checked against that.
        outcome(&repeated);
    }
}

#[test]
fn what_follows_the_pickle_is_ignored() {
    let bytes = read("pools.pickle");
    let expected = stats(&load_bytes(&bytes).expect("the sample loads"));
    let longer = [&bytes[..], b"\0\0\0trailing"].concat();
    let read = load_bytes(&longer).expect("the sample loads");
    assert_eq!((stats(&read), &read.damage, read.pickle_bytes), (expected, &None, bytes.len() as u64));
}

/// Inputs that claim or nest far more than they hold.
fn hostile() -> Vec<(&'static str, Vec<u8>)> {
    let framed =
        |head: &[u8], unit: &[u8], times: usize, tail: &[u8]| [head, &unit.repeat(times), tail].concat();
    let gzip = |unit: u8, megabytes: usize| {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        let block = vec![unit; 1 << 20];
        for _ in 0..megabytes {
            out.write_all(&block).expect("memory can be written");
        }
        out.finish().expect("memory can be written")
    };
    vec![
        ("a million marks", framed(b"\x80\x04", b"(", 1_000_000, b".")),
        ("ten million marks", framed(b"\x80\x04", b"(", 10_000_000, b".")),
        ("a memo entry with a huge number", b"\x80\x04]r\xff\xff\xff\xff.".to_vec()),
        ("memo entries far apart", {
            let entry = |i: u32| [&b"r"[..], &(i * 1_000_003).to_le_bytes()].concat();
            framed(b"\x80\x04]", &[], 0, &(0..4000).flat_map(entry).collect::<Vec<u8>>())
        }),
        ("a memo line with a huge number", b"(lp99999999999999999999\n.".to_vec()),
        ("a string of 2^60 bytes", b"\x80\x04\x8d\x00\x00\x00\x00\x00\x00\x00\x10abc".to_vec()),
        ("bytes of 2^64 - 1 bytes", b"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\xffabc".to_vec()),
        ("an int of 2^31 - 1 bytes", b"\x80\x04\x8b\xff\xff\xff\x7fabc".to_vec()),
        ("an int of negative length", b"\x80\x04\x8b\xff\xff\xff\xffabc".to_vec()),
        ("a frame of 2^64 - 1 bytes", b"\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\xff]".to_vec()),
        ("lists in lists", framed(b"\x80\x04", b"](", 500_000, &b"e".repeat(500_000))),
        ("tuples in tuples", framed(b"\x80\x04)", b"\x85", 5_000_000, b".")),
        (
            "dicts in dicts",
            framed(b"\x80\x04", b"}\x8c\x08segments", 200_000, &framed(b"N", b"s", 200_000, b".")),
        ),
        ("ten megabytes of empty lists", framed(b"\x80\x04", b"]", 10_000_000, b"")),
        ("ten megabytes of empty dicts", framed(b"\x80\x04", b"}", 10_000_000, b"")),
        ("ten million memo entries", framed(b"\x80\x04]", b"\x94", 10_000_000, b".")),
        ("a line without end", framed(b"V", b"a", 20_000_000, b"")),
        ("an int of many digits", framed(b"L", b"9", 5_000_000, b"L\n.")),
        (
            "one event without end",
            framed(b"\x80\x04}(\x8c\x06action\x8c\x05alloc", b"\x8c\x01xN", 2_000_000, b""),
        ),
        ("gigabytes of zeros in a gzip", gzip(0, 1024)),
        ("hundreds of megabytes of Nones in a gzip", gzip(b'N', 256)),
        ("a megabyte of lists that hold themselves", framed(b"\x80\x04]q\x00", b"h\x00a", 300_000, b".")),
    ]
}

/// How long a load takes; the better of some tries, as the machine may do other things too.
fn fastest_load(what: &str, bytes: &[u8], enough: Duration) -> Duration {
    let mut best = Duration::MAX;
    for _ in 0..4 {
        let start = Instant::now();
        let loaded = load_bytes(bytes);
        best = best.min(start.elapsed());
        assert!(!matches!(loaded, Err(LoadError::Internal { .. })), "{what}: {loaded:?}");
        if best < enough {
            break;
        }
    }
    best
}

#[test]
fn hostile_files_cost_little_time() {
    // Without optimisation.
    let enough = Duration::from_secs(10);
    for (what, bytes) in hostile() {
        let took = fastest_load(what, &bytes, enough);
        assert!(took < enough, "{what} took {took:?}");
    }
}

/// The program is started under a limit of its address space.
#[cfg(target_os = "linux")]
#[test]
fn hostile_files_cost_little_memory() {
    const LIMIT_KIB: u64 = 2 << 20;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("hostile.pickle");
    for (what, bytes) in hostile() {
        std::fs::write(&path, bytes).expect("the file can be written");
        let mut command = std::process::Command::new("sh");
        command.args(["-c", &format!("ulimit -v {LIMIT_KIB} && exec \"$0\" stats \"$1\"")]);
        let output = command.arg(program()).arg(&path).output().expect("sh starts");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(matches!(output.status.code(), Some(0 | 1)), "{what}: {:?} {errors}", output.status);
    }
}

/// What is live at the end of a trace, by what its events say alone.
fn live_in_trace(snapshot: &Snapshot) -> i64 {
    let timeline = &snapshot.timelines[0];
    let mut live = std::collections::BTreeMap::new();
    for ix in timeline.events.indices() {
        let (addr, size) = (timeline.events.addr(ix), timeline.events.size(ix));
        match timeline.events.action(ix) {
            Action::Alloc => drop(live.insert(addr, size)),
            Action::FreeCompleted => drop(live.remove(&addr)),
            _ => {}
        }
    }
    live.values().map(|size| size.0).sum()
}

/// A file whose trace stands before its segments, as sorted keys put it.
fn traces_first() -> Vec<u8> {
    let event = |action: &str, addr: u64, size: u64| {
        format!("(dVaction\nV{action}\nsVaddr\nL{addr}L\nsVsize\nL{size}L\nsVstream\nI0\nsVframes\n(lsa")
    };
    let block = |size: u64| format!("(dVsize\nL{size}L\nsVstate\nVactive_allocated\nsa");
    let segment = |addr: u64| {
        format!(
            "(dVaddress\nL{addr}L\nsVdevice\nI0\nsVtotal_size\nL4096L\nsVblocks\n(l{}{}sa",
            block(1024),
            block(3072)
        )
    };
    let events: String = (0..4)
        .map(|i| {
            let addr = 65536 * (1 + i);
            [
                event("segment_alloc", addr, 4096),
                event("alloc", addr, 1024),
                event("alloc", addr + 1024, 3072),
            ]
            .concat()
        })
        .collect();
    let segments: String = (0..4).map(|i| segment(65536 * (1 + i))).collect();
    format!("(dVdevice_traces\n(l(l{events}asVsegments\n(l{segments}s.").into_bytes()
}

#[test]
fn a_file_whose_segments_are_cut_off_is_told_from_its_trace() {
    let bytes = traces_first();
    let whole = load_bytes(&bytes).expect("the file is whole");
    assert_eq!((whole.damage.is_some(), whole.timelines[0].anchor), (false, Anchor::EndState));
    let last = |snapshot: &Snapshot| {
        let timeline = &snapshot.timelines[0];
        timeline.active.at(Moment(timeline.events.len() as u32))
    };
    assert_eq!(last(&whole), 4 * 4096);
    for cut in find(&bytes, b"segments")..bytes.len() - 1 {
        let part = outcome(&bytes[..cut]).expect("all of the trace is there");
        assert_eq!(last(&part), live_in_trace(&part), "cut at {cut}");
        if !bytes[..cut].ends_with(b"s") {
            assert_eq!(part.timelines[0].anchor, Anchor::TraceOnly, "cut at {cut}");
        }
    }
}
