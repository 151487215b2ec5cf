//! A pickle decoded in pieces against the same as a whole, for tests and fuzzing.

use crate::{Builder, SnapshotError};
use oomscope_model::{FrameId, Snapshot, StackId, StrId, Timeline};
use oomscope_pickle::{DecodeError, ErrorKind, InMemory, InTurn, decode, decode_in_pieces};
use std::fmt::Debug;

/// Everything that a pickle gives: a snapshot, or why there is none.
type Outcome = Result<Result<Snapshot, SnapshotError>, DecodeError>;

/// Both ways of decoding agree.
#[derive(Debug)]
pub struct Agreement {
    /// Pieces that were taken over.
    pub pieces: usize,
    /// Whether the pickle had to be decoded again as a whole.
    pub is_again: bool,
    /// Whether it is a snapshot without damage.
    pub is_sound: bool,
}

/// Decode a pickle as a whole, and in pieces of a size that is read in chunks of another.
///
/// # Errors
/// The first difference, in words.
pub fn compare(bytes: &[u8], piece_bytes: u64, chunk_bytes: usize) -> Result<Agreement, String> {
    compare_up_to(bytes, piece_bytes, chunk_bytes, usize::MAX)
}

/// As [`compare`], with so many pieces at most; what follows them is decoded alone.
pub(crate) fn compare_up_to(
    bytes: &[u8],
    piece_bytes: u64,
    chunk_bytes: usize,
    at_most: usize,
) -> Result<Agreement, String> {
    let expected = whole(bytes);
    let mut builder = Builder::default();
    let source = InMemory { pickle: bytes, at: 0, chunk_size: chunk_bytes };
    let mut pieces = InTurn::new(source, piece_bytes, 3);
    pieces.at_most = at_most;
    let decoded = decode_in_pieces(source, &mut builder, None, &mut pieces);
    let is_again = matches!(decoded, Err(DecodeError { kind: ErrorKind::NotAlone, .. }));
    if !is_again {
        same(&decoded.map(|decoded| builder.finish(decoded)), &expected)?;
    }
    let is_sound = matches!(&expected, Ok(Ok(snapshot)) if snapshot.damage.is_none());
    Ok(Agreement { pieces: pieces.handed_over, is_again, is_sound })
}

fn whole(bytes: &[u8]) -> Outcome {
    let mut builder = Builder::default();
    decode(bytes, &mut builder, None).map(|decoded| builder.finish(decoded))
}

fn same(found: &Outcome, expected: &Outcome) -> Result<(), String> {
    match (found, expected) {
        (Ok(Ok(found)), Ok(Ok(expected))) => same_snapshot(found, expected),
        (Ok(Err(found)), Ok(Err(expected))) => equal("error", &found.to_string(), &expected.to_string()),
        (Err(found), Err(expected)) => equal("error", &found.to_string(), &expected.to_string()),
        _ => Err("one of them fails".to_owned()),
    }
}

fn equal<T: PartialEq + Debug>(what: &str, found: &T, expected: &T) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{what}: {found:?}, not {expected:?}")) }
}

fn same_snapshot(found: &Snapshot, expected: &Snapshot) -> Result<(), String> {
    equal("strings", &strings(found), &strings(expected))?;
    equal("frames", &frames(found), &frames(expected))?;
    equal("stacks", &stacks(found), &stacks(expected))?;
    equal("actions", &found.actions.others(), &expected.actions.others())?;
    let rest = |s: &Snapshot| {
        let notes = format!("{:?} {:?} {:?} {:?}", s.unknown_keys, s.issues, s.damage, s.pickle_bytes);
        let content = format!("{:?} {:?} {:?} {:?}", s.settings, s.annotations, s.sources, s.tensors);
        (notes, content, s.timelines.len())
    };
    equal("the rest", &rest(found), &rest(expected))?;
    let timelines = found.timelines.iter().zip(&expected.timelines);
    timelines.into_iter().try_for_each(|(found, expected)| same_timeline(found, expected))
}

fn strings(snapshot: &Snapshot) -> Vec<Vec<u8>> {
    let table = &snapshot.strings;
    (0..table.len() as u32).map(|id| table.whole_bytes(StrId(id)).to_vec()).collect()
}

fn frames(snapshot: &Snapshot) -> Vec<impl PartialEq + Debug + use<>> {
    let table = &snapshot.frames;
    let frame = |id| (table.get(FrameId(id)), table.fx(table.get(FrameId(id))));
    (0..table.len() as u32).map(frame).collect()
}

fn stacks(snapshot: &Snapshot) -> Vec<Vec<FrameId>> {
    let table = &snapshot.stacks;
    (0..table.len() as u32).map(|id| table.frames(StackId(id)).to_vec()).collect()
}

fn same_timeline(found: &Timeline, expected: &Timeline) -> Result<(), String> {
    let device = |t: &Timeline| {
        (
            t.device,
            format!("{:?} {:?}", t.segments, t.anomalies),
            t.events.len(),
            t.events.contexts().to_vec(),
        )
    };
    equal("a device", &device(found), &device(expected))?;
    found.events.indices().try_for_each(|event| {
        let row = |t: &Timeline| (t.events.get(event), t.events.addr_id(event));
        equal("an event", &row(found), &row(expected))
    })
}
