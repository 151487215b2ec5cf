//! Large plain pickles, decoded in pieces by threads that all loads share.
//!
//! Every thread reads the bytes that it decodes, so that none cross from one core to another.

use super::Progress;
use super::file_chunks::{FileChunks, read_at};
use crate::Builder;
use oomscope_pickle as pickle;
use oomscope_pickle::{DecodeError, Decoded, Fork, Hint, Piece, PieceDecoder, PieceSink, Pieces};
use rayon::{Scope, ThreadPool, ThreadPoolBuilder};
use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Bytes of the smallest file that is decoded in pieces; smaller ones take less than 20 ms.
const MIN_BYTES: u64 = 16 << 20;

/// Bytes of a piece, at least and at most: enough that its decoder learns little anew, few enough that waiting pieces take
/// little memory.
const PIECE_BYTES: std::ops::RangeInclusive<u64> = 1 << 20..=8 << 20;

/// Pieces for each thread, so that no thread is left waiting for the last one of another.
const PIECES_PER_THREAD: u64 = 8;

/// The part of the file that is decoded alone before there are pieces, to see whether these are faster: a 64th, within bounds
/// between which a rate can be measured and little is lost.
const ALONE_SHARE: u64 = 64;
const ALONE_BYTES: std::ops::RangeInclusive<u64> = 512 << 10..=4 << 20;

/// Pieces that are taken over before their rate is compared.
const TRIED_PIECES: usize = 6;

/// Pieces that may be under way beyond one for each thread.
const PIECES_AHEAD: usize = 2;

/// Bytes of the file that all pieces under way have together, so that memory does not grow with the number of threads. What
/// is decoded of a piece takes about a third of its bytes until it is taken over.
const BYTES_UNDER_WAY: u64 = 32 << 20;

/// In place of a piece's number: a defect, after which no piece is waited for.
const BROKEN: usize = usize::MAX;

/// The versions of the pickle protocol whose memo entries are numbered by their order.
const PROTOCOLS: [[u8; 2]; 2] = [[0x80, 4], [0x80, 5]];

/// A file that should be decoded in pieces, with its length.
pub(super) fn open_if_suitable(path: &Path) -> Option<(File, u64)> {
    let is_large = |metadata: &Metadata| metadata.is_file() && MIN_BYTES <= metadata.len();
    // Only then is it opened: whoever writes into a pipe would notice that its reader is gone again.
    path.metadata().ok().filter(is_large)?;
    let file = File::open(path).ok()?;
    let metadata = file.metadata().ok().filter(is_large)?;
    let mut head = [0; 2];
    let is_known = read_at(&file, &mut head, 0).is_ok_and(|n| n == 2) && PROTOCOLS.contains(&head);
    (is_known && pool().is_some()).then_some((file, metadata.len()))
}

/// Decode a file. The error [`ErrorKind::NotAlone`] says that it must be decoded as a whole.
pub(super) fn decode(
    file: &File,
    builder: &mut Builder,
    bytes: u64,
    progress: &Progress,
) -> Result<Decoded, DecodeError> {
    let source = FileChunks::new(file, 0, progress);
    let Some(pool) = pool() else { return pickle::decode(source, builder, Some(bytes)) };
    pool.in_place_scope(|scope| {
        let shared = Shared { file, progress, is_stopped: AtomicBool::new(false), state: Mutex::default() };
        // It must outlive the scope's tasks, which may run on after a failure.
        let shared = Arc::new(shared);
        let mut pieces = PoolPieces::new(scope, shared, bytes, pool.current_num_threads());
        pickle::decode_in_pieces(source, builder, Some(bytes), &mut pieces)
    })
}

/// The threads that decode pieces, if there is more than one. They are not those of rayon's own pool, which simulations may keep
/// busy for seconds.
fn pool() -> Option<&'static ThreadPool> {
    static POOL: OnceLock<Option<ThreadPool>> = OnceLock::new();
    let build = || ThreadPoolBuilder::new().thread_name(|at| format!("oomscope-decode-{at}")).build().ok();
    POOL.get_or_init(build).as_ref().filter(|pool| 1 < pool.current_num_threads())
}

/// The state that all threads share.
struct Shared<'f, K: PieceSink> {
    file: &'f File,
    progress: &'f Progress,
    is_stopped: AtomicBool,
    state: Mutex<State<K>>,
}

struct State<K: PieceSink> {
    fork: Option<Fork<K>>,
    idle: Vec<PieceDecoder<K>>,
    hints: Vec<Hint>,
    /// Pieces that were taken over, whose memory serves the next ones.
    spent: Vec<Piece<K::Rows>>,
    decoders: usize,
    /// The piece that is decoded next. A decoder takes pieces in their order.
    next: usize,
    /// Where pieces begin; the last one is the end of the file.
    cuts: Vec<u64>,
}

impl<K: PieceSink> Default for State<K> {
    fn default() -> Self {
        let (idle, hints, spent, cuts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { fork: None, idle, hints, spent, decoders: 0, next: 0, cuts }
    }
}

impl<K: PieceSink> Shared<'_, K> {
    /// Decode the next piece. Returns its number.
    fn decode_next(&self) -> (usize, Option<Piece<K::Rows>>) {
        let (at, decoder, range) = {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            let at = state.next;
            state.next += 1;
            (at, state.decoder(), (state.cuts[at], state.cuts[at + 1]))
        };
        let Some(mut decoder) = decoder.filter(|_| !self.is_stopped.load(Ordering::Relaxed)) else {
            return (at, None);
        };
        let (from, until) = range;
        let source = FileChunks::of_piece(self.file, from - 1, self.progress);
        // A defect shows again where the piece is decoded by the other decoder, which reports it.
        let piece = catch_unwind(AssertUnwindSafe(|| decoder.decode(source, from, until)));
        let piece = piece.ok().flatten();
        if piece.is_some() {
            self.state.lock().unwrap_or_else(PoisonError::into_inner).idle.push(decoder);
        }
        (at, piece)
    }
}

impl<K: PieceSink> State<K> {
    fn decoder(&mut self) -> Option<PieceDecoder<K>> {
        let mut decoder = if let Some(decoder) = self.idle.pop() {
            decoder
        } else {
            self.decoders += 1;
            PieceDecoder::new(self.fork.as_mut()?, self.decoders - 1)
        };
        decoder.learn(&self.hints);
        if let Some(piece) = self.spent.pop() {
            decoder.reuse(piece);
        }
        Some(decoder)
    }
}

/// Bytes per second since an instant.
fn rate(bytes: u64, since: Instant) -> f64 {
    bytes as f64 / since.elapsed().as_secs_f64().max(1e-9)
}

/// A piece with its number; none if it could not be decoded.
type Found<K> = (usize, Option<Piece<<K as PieceSink>::Rows>>);

/// Pieces that tasks of the pool decode.
struct PoolPieces<'p, 's, 'f, K: PieceSink> {
    scope: &'p Scope<'s>,
    shared: Arc<Shared<'f, K>>,
    bytes: u64,
    threads: usize,
    count: usize,
    /// Pieces that were given to the pool, and those that were handed over.
    started: usize,
    handed_over: usize,
    found: BTreeMap<usize, Option<Piece<K::Rows>>>,
    /// How long nothing could be done but wait for pieces.
    waited: Duration,
    /// Where and when decoding alone began; then its rate, in bytes per second.
    alone: Option<(u64, Instant)>,
    alone_rate: f64,
    /// The end and the time of the first piece.
    first: Option<(u64, Instant)>,
    channel: (SyncSender<Found<K>>, Receiver<Found<K>>),
}

impl<'p, 's, 'f, K: PieceSink> PoolPieces<'p, 's, 'f, K> {
    fn new(scope: &'p Scope<'s>, shared: Arc<Shared<'f, K>>, bytes: u64, threads: usize) -> Self {
        // Room for all that are under way, so that no thread of the pool waits here.
        let (found, channel) = (BTreeMap::new(), sync_channel(threads + PIECES_AHEAD));
        Self {
            scope,
            shared,
            bytes,
            threads,
            count: 0,
            started: 0,
            handed_over: 0,
            found,
            waited: Duration::ZERO,
            alone: None,
            alone_rate: 0.0,
            first: None,
            channel,
        }
    }

    /// Whether pieces turn out to be slower than one thread alone: where another program keeps a core or the memory busy.
    fn is_slower(&mut self, piece: &Piece<K::Rows>) -> bool {
        let (from, start) = *self.first.get_or_insert_with(|| (piece.end, Instant::now()));
        if self.handed_over != TRIED_PIECES {
            return false;
        }
        let rate = rate(piece.end.saturating_sub(from), start);
        log::debug!("{:.0} MB/s alone, {:.0} in pieces", self.alone_rate / 1e6, rate / 1e6);
        rate < self.alone_rate
    }

    /// The most pieces that are decoded or wait at a time.
    fn under_way(&self) -> usize {
        self.threads + PIECES_AHEAD
    }
}

impl<'f: 's, 's, K: PieceSink + Send + 's> PoolPieces<'_, 's, 'f, K>
where
    K::Rows: Send,
{
    fn start_more(&mut self) {
        while self.started < self.count.min(self.handed_over + self.under_way()) {
            let (shared, found) = (Arc::clone(&self.shared), self.channel.0.clone());
            self.scope.spawn(move |_| {
                // After a panic, too, something must be sent: somebody waits for it.
                let next = catch_unwind(AssertUnwindSafe(|| shared.decode_next()));
                // Nobody may wait for it any more.
                found.send(next.unwrap_or((BROKEN, None))).ok();
            });
            self.started += 1;
        }
    }
}

impl<'f: 's, 's, K: PieceSink + Send + 's> Pieces<K> for PoolPieces<'_, 's, 'f, K>
where
    K::Rows: Send,
{
    fn alone(&mut self, offset: u64) -> u64 {
        self.alone = Some((offset, Instant::now()));
        let share = self.bytes.saturating_sub(offset) / ALONE_SHARE;
        offset + share.clamp(*ALONE_BYTES.start(), *ALONE_BYTES.end())
    }

    fn begin(&mut self, fork: Fork<K>, offset: u64) {
        if let Some((from, start)) = self.alone {
            self.alone_rate = rate(offset.saturating_sub(from), start);
        }
        let left = self.bytes.saturating_sub(offset);
        let share = left / (self.threads as u64 * PIECES_PER_THREAD);
        let size = share.min(BYTES_UNDER_WAY / self.under_way() as u64);
        let size = size.clamp(*PIECE_BYTES.start(), *PIECE_BYTES.end());
        let mut state = self.shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.cuts = (0..left.div_ceil(size)).map(|n| offset + n * size).collect();
        self.count = state.cuts.len();
        state.cuts.push(self.bytes);
        state.fork = Some(fork);
    }

    fn next(&mut self) -> Option<Piece<K::Rows>> {
        while self.handed_over < self.count {
            self.start_more();
            while !self.found.contains_key(&self.handed_over) {
                let start = Instant::now();
                let (at, piece) = self.channel.1.recv().ok()?;
                self.waited += start.elapsed();
                if at == BROKEN {
                    return None;
                }
                self.found.insert(at, piece);
            }
            let piece = self.found.remove(&self.handed_over);
            self.handed_over += 1;
            if let Some(piece) = piece.flatten() {
                if self.is_slower(&piece) {
                    self.shared.is_stopped.store(true, Ordering::Relaxed);
                    return None;
                }
                self.start_more();
                return Some(piece);
            }
        }
        None
    }

    fn learn(&mut self, hints: Vec<Hint>) {
        if !hints.is_empty() {
            self.shared.state.lock().unwrap_or_else(PoisonError::into_inner).hints.extend(hints);
        }
    }

    fn give_back(&mut self, piece: Piece<K::Rows>) {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner).spent.push(piece);
    }

    fn advance(&mut self, offset: u64) {
        self.shared.progress.set_read_bytes(offset);
    }
}

impl<K: PieceSink> Drop for PoolPieces<'_, '_, '_, K> {
    fn drop(&mut self) {
        self.shared.is_stopped.store(true, Ordering::Relaxed);
        log::debug!("{} pieces, waited for them for {:?}", self.handed_over, self.waited);
    }
}
