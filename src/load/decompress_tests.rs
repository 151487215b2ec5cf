//! Cut and garbled files give at least what the usual tools give.

use crate::load::container;
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

/// Bytes that compress about as well as a pickle does.
fn plain() -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_snapshots/frag_oom.pickle");
    fs::read(path).expect("the sample can be read")
}

/// What a tool compresses or decompresses; `None` without the tool.
fn tool(command: &[&str], input: &Path) -> Option<Vec<u8>> {
    let mut tool = Command::new(command[0]);
    tool.args(&command[1..]).arg(input).stderr(Stdio::null());
    Some(tool.output().ok()?.stdout)
}

/// What this module decodes, up to the first error.
fn decoded(bytes: &[u8]) -> Vec<u8> {
    let Ok(mut reader) = container::open(bytes) else { return Vec::new() };
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
