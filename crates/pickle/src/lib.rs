//! A streaming decoder, and a writer, for Python pickles that hold only plain data.
//!
//! Bytes go in as [`Chunk`]s, finished values come out through a [`Sink`]. The decoder keeps
//! the pickle machine's stack and memo, and nothing else: the meaning of dicts and lists is the
//! sink's business, so a gigabyte of events never exists as a tree.
//!
//! Nothing is ever imported or called. The opcodes that would do so are refused by name
//! ([`ErrorKind::Forbidden`]).
//!
//! [`Writer`] goes the other way, value by value.
//!
//! This package knows no PyTorch, no files and no threads.
//!
//! ```
//! use oomscope_pickle::Writer;
//!
//! let mut writer = Writer::new(Vec::new())?;
//! writer.empty_dict()?;
//! writer.mark()?;
//! writer.text(b"segments")?;
//! writer.empty_list()?;
//! writer.set_items()?;
//! assert!(writer.finish()?.ends_with(b"."), "an empty list named segments");
//! # Ok::<(), std::io::Error>(())
//! ```

mod bound;
mod construct;
mod error;
mod feed;
mod frequent;
mod limits;
mod machine;
mod memo;
#[cfg(test)]
mod memo_tests;
mod number;
mod opcode;
mod operands;
mod pieces;
mod runs;
mod salvage;
mod short_strings;
mod sink;
mod skeleton;
#[cfg(test)]
mod tests;
mod text;
mod value;
mod writer;

pub use bound::Bound;
pub use error::{DecodeError, ErrorKind};
pub use feed::{Chunk, ChunkSource, SeekSource};
pub use machine::{Decoded, decode};
pub use pieces::{Fork, Hint, InMemory, InTurn, Piece, PieceDecoder, PieceSink, Pieces, decode_in_pieces};
pub use sink::{Sink, SinkMark};
pub use value::{Handle, Kind, Value, View};
pub use writer::{BATCH_ITEMS, MemoId, Writer};
