//! Whatever the pieces, the snapshot is the one that is decoded as a whole.

use super::differential::{Agreement, compare, compare_up_to};
use std::io::Read as _;
use std::path::Path;

fn check(name: &str, bytes: &[u8], piece_bytes: u64, chunk_bytes: usize) -> Agreement {
    let found = compare(bytes, piece_bytes, chunk_bytes);
    found.unwrap_or_else(|difference| panic!("{name} in pieces of {piece_bytes}: {difference:.2000}"))
}

/// The pickles of a folder, decompressed.
fn pickles(folder: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let Ok(entries) = std::fs::read_dir(&folder) else { return Vec::new() };
    let mut found: Vec<(String, Vec<u8>)> = entries
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let name = path.file_name()?.to_string_lossy().into_owned();
            let mut bytes = std::fs::read(&path).ok()?;
            if name.ends_with(".pickle.gz") {
                let packed = std::mem::take(&mut bytes);
                flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut bytes).ok()?;
            }
            name.contains(".pickle").then_some((name, bytes))
        })
        .collect();
    found.sort();
    found
}

#[test]
fn samples_are_the_same_in_pieces_of_any_size() {
    let mut in_pieces = 0;
    for (name, bytes) in pickles("sample_snapshots") {
        let sizes = [(300, 700), (1_100, 5_000), (6_000, 1 << 18), (40_000, 700)];
        let found = sizes.map(|(piece, chunk)| check(&name, &bytes, piece, chunk));
        assert!(found.iter().all(|found| !found.is_again && found.is_sound), "{name}: a piece was wrong");
        in_pieces += usize::from(10 < found[0].pieces);
    }
    assert!(20 <= in_pieces, "only {in_pieces} samples have pieces");
}

/// As where pieces turn out to be slower than one thread.
#[test]
fn what_follows_the_last_of_few_pieces_is_decoded_alone() {
    let mut ended = 0;
    for (name, bytes) in pickles("sample_snapshots") {
        let found =
            compare_up_to(&bytes, 1_100, 5_000, 3).unwrap_or_else(|why| panic!("{name}: {why:.2000}"));
        assert!(!found.is_again && found.is_sound, "{name}: a piece was wrong");
        ended += usize::from(found.pieces == 3);
    }
    assert!(20 <= ended, "only {ended} samples have more pieces");
}

#[test]
fn foreign_recordings_are_the_same_in_pieces() {
    let all = ["real", "public", "rig"].map(|folder| pickles(&format!("../shared/snapshots/{folder}")));
    if all.iter().all(Vec::is_empty) {
        eprintln!("skipped: there are no foreign recordings");
    }
    for (at, (name, bytes)) in all.concat().iter().enumerate() {
        let (piece, chunk) = [(2_000, 5_000), (7_000, 1 << 18), (90_000, 700)][at % 3];
        assert!(!check(name, bytes, piece, chunk).is_again, "{name}: a piece was wrong");
    }
}

/// Numbers for places and bytes, the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        // Marsaglia's xorshift64.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

#[test]
fn cut_and_garbled_pickles_are_the_same_in_pieces() {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let (mut again, mut odd) = (0, 0);
    for (name, bytes) in pickles("sample_snapshots").into_iter().filter(|(_, bytes)| bytes.len() < 400_000) {
        for round in 0..12 {
            let mut bytes = bytes.clone();
            let at = dice.below(bytes.len());
            match round % 4 {
                0 => bytes.truncate(at),
                1 => bytes[at] = dice.below(256) as u8,
                2 => bytes[at] = bytes[dice.below(bytes.len())],
                _ => {
                    // Parts of the pickle where others belong: opcodes that fit one another, with wrong values.
                    let len = dice.below(60).min(bytes.len() - at);
                    let from = dice.below(bytes.len() - len);
                    bytes.copy_within(from..from + len, at);
                }
            }
            let found =
                check(&format!("{name}, round {round} at {at}"), &bytes, [400, 2_500][round % 2], 3_000);
            again += usize::from(found.is_again);
            odd += usize::from(!found.is_sound);
        }
    }
    assert!(again < odd, "{again} of {odd} were decoded again");
}

#[test]
fn events_wait_for_their_batch_where_damage_finds_them() {
    const START: &[u8] = b"u}\x94(";
    for (name, mut bytes) in pickles("sample_snapshots") {
        let starts: Vec<usize> = memchr::memmem::find_iter(&bytes, START).collect();
        let Some(&start) = starts.get(starts.len() * 3 / 4) else { continue };
        // Without the MARK of this event, its end is taken for that of the batch.
        bytes[start + 3] = b'\x94';
        for size in [400, 2_500] {
            assert!(!check(&name, &bytes, size, 3_000).is_sound, "{name}: there is damage");
        }
    }
}
