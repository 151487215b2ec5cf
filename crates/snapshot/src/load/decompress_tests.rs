//! Cut and garbled files give at least what the usual tools give.

use crate::load::{Progress, container};
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn sample() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sample_snapshots/frag_oom.pickle")
}

/// Bytes that compress about as well as a pickle does.
fn plain() -> Vec<u8> {
    fs::read(sample()).expect("the sample can be read")
}

/// What a tool compresses or decompresses; `None` without the tool.
fn tool(command: &[&str], input: &Path) -> Option<Vec<u8>> {
    let mut tool = Command::new(command[0]);
    tool.args(&command[1..]).arg(input).stderr(Stdio::null());
    Some(tool.output().ok()?.stdout)
}

/// What this module decodes, up to the first error.
fn decoded(bytes: &[u8]) -> Vec<u8> {
    let Ok(mut reader) = container::open(bytes, &Progress::default()) else { return Vec::new() };
    let (mut out, mut buffer) = (Vec::new(), vec![0; 256 << 10]);
    while let Ok(n @ 1..) = reader.read(&mut buffer) {
        out.extend_from_slice(&buffer[..n]);
    }
    out
}

/// Number of bytes that are right, from the start on.
fn right(found: &[u8], plain: &[u8]) -> usize {
    found.iter().zip(plain).take_while(|(found, plain)| found == plain).count()
}

#[test]
fn damaged_files_give_at_least_what_the_usual_tools_give() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("plain");
    let plain = plain();
    fs::write(&path, &plain).expect("a temporary file");
    for (name, pack, unpack) in [
        ("xz", &["xz", "-c"][..], &["xz", "-dc", "--format=xz"][..]),
        ("xz", &["xz", "-c", "--block-size=40000"], &["xz", "-dc", "--format=xz"]),
        ("gzip", &["gzip", "-c"], &["gzip", "-dc"]),
        ("zstd", &["zstd", "-qc"], &["zstd", "-qdcf"]),
    ] {
        let Some(packed) = tool(pack, &path) else {
            writeln!(std::io::stderr(), "SKIPPED: {name} is not installed").ok();
            continue;
        };
        assert!(decoded(&packed) == plain, "{name}");
        let damaged = folder.path().join("damaged");
        let damaged = damaged.with_extension(match name {
            "gzip" => "gz",
            "zstd" => "zst",
            _ => name,
        });
        // With fewer bytes, nothing says how it is compressed.
        for at in (8..packed.len()).step_by(packed.len() / 40 + 1) {
            let mut garbled = packed.clone();
            garbled[at..].iter_mut().take(8).for_each(|byte| *byte ^= 0x55);
            for (how, bytes) in [("cut", &packed[..at]), ("garbled", &garbled)] {
                fs::write(&damaged, bytes).expect("a temporary file");
                let theirs = tool(unpack, &damaged).expect("it ran before");
                let ours = decoded(bytes);
                // Of a file that is only cut, nothing else can be decoded.
                assert!(how != "cut" || plain.starts_with(&ours), "{name} {how} at {at}");
                // What follows the first wrong byte is worth nothing.
                let counts = [&ours, &theirs].map(|found| right(found, &plain));
                assert!(counts[1] <= counts[0], "{name} {how} at {at}: {counts:?} of {}", plain.len());
            }
        }
    }
}

/// What lies behind compressed data, with the zeros that some tools fill a block with.
fn behind() -> [(&'static str, Vec<u8>); 7] {
    [
        ("garbage", b"signature: 0123456789abcdef0123456789abcdef".to_vec()),
        ("one byte", b"\n".to_vec()),
        ("a start of a header", vec![0x1f]),
        ("zeros", vec![0; 512]),
        ("zeros that fill no word", vec![0; 509]),
        ("zeros and garbage", [&[0; 512][..], b"garbage"].concat()),
        ("more than a buffer", b"another file ".repeat(200_000)),
    ]
}

#[test]
fn whatever_lies_behind_all_is_read_that_the_usual_tools_give() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("plain");
    let plain = plain();
    fs::write(&path, &plain).expect("a temporary file");
    for (name, ending) in [("xz", "xz"), ("gzip", "gz"), ("zstd", "zst")] {
        let pack = if name == "zstd" { &["zstd", "-qc"][..] } else { &[name, "-c"] };
        let Some(packed) = tool(pack, &path) else {
            writeln!(std::io::stderr(), "SKIPPED: {name} is not installed").ok();
            continue;
        };
        let twice = [packed.as_slice(), &packed].concat();
        let whole = [plain.as_slice(), &plain].concat();
        for (packed, whole) in [(&packed, &plain), (&twice, &whole)] {
            for (what, behind) in behind() {
                let bytes = [packed.as_slice(), &behind].concat();
                let file = folder.path().join("behind").with_extension(ending);
                fs::write(&file, &bytes).expect("a temporary file");
                let theirs = tool(&[name, "-dc"], &file).expect("it ran before");
                let progress = Progress::default();
                let (ours, error) = all_of(&bytes, &progress);
                assert!(ours == *whole, "{name}, {what}: {} of {} bytes", ours.len(), whole.len());
                assert!(theirs.len() <= ours.len(), "{name}, {what}");
                assert_eq!(error, None, "{name}, {what}");
                assert_eq!(
                    progress.has_more_behind(),
                    behind.iter().any(|&byte| byte != 0),
                    "{name}, {what}"
                );
            }
        }
        // Zeros between parts, as tapes have them.
        let apart = [packed.as_slice(), &[0; 512], &packed].concat();
        assert!(decoded(&apart) == whole, "{name}");
    }
}

/// What is decoded, and the error behind it.
fn all_of(bytes: &[u8], progress: &Progress) -> (Vec<u8>, Option<String>) {
    let Ok(mut reader) = container::open(bytes, progress) else { return (Vec::new(), None) };
    let mut out = Vec::new();
    let error = reader.read_to_end(&mut out).err();
    (out, error.map(|error| error.to_string()))
}

#[test]
fn an_error_is_repeated_to_whoever_asks_again() {
    for packed in [
        zstd::encode_all(&plain()[..], 1).expect("memory can be written"),
        tool(&["gzip", "-c"], &sample()).unwrap_or_default(),
        tool(&["xz", "-c"], &sample()).unwrap_or_default(),
    ] {
        let cut = &packed[..packed.len() / 2];
        let Ok(mut reader) = container::open(cut, &Progress::default()) else { continue };
        let mut out = Vec::new();
        assert!(reader.read_to_end(&mut out).is_err());
        assert!(reader.read(&mut [0; 8]).is_err());
    }
}

#[test]
fn frames_that_are_skipped_may_come_first() {
    // As pzstd writes them: a length in front of each frame.
    let skipped = [&[0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0][..], b"size"].concat();
    let frame = zstd::encode_all(&b"text"[..], 1).expect("memory can be written");
    assert_eq!(decoded(&[&skipped[..], &frame, &skipped, &frame].concat()), b"texttext");
}

#[test]
fn many_empty_parts_are_over_soon() {
    let zstd = zstd::encode_all(&b""[..], 1).expect("memory can be written");
    let gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let gzip = gzip.finish().expect("memory can be written");
    let xz = liblzma::write::XzEncoder::new(Vec::new(), 1).finish().expect("memory can be written");
    for (name, part) in [("zstd", zstd), ("gzip", gzip), ("xz", xz)] {
        let start = std::time::Instant::now();
        let parts = part.repeat((1 << 20) / part.len());
        assert_eq!(all_of(&parts, &Progress::default()), (Vec::new(), None), "{name}");
        let taken = start.elapsed();
        writeln!(std::io::stderr(), "{name}: {taken:?} for a mebibyte of empty parts").ok();
        assert!(taken.as_secs() < 20, "{name}: {taken:?}");
    }
}
