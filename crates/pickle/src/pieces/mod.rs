//! A pickle decoded in pieces, each of them on its own.
//!
//! Nearly all of a large snapshot is lists of dicts that look alike. One machine decodes the pickle as always. Once it has seen
//! enough of such a list, it hands out what it knows as a [`Fork`]. With it, a [`PieceDecoder`] starts in the middle of the
//! input, where the bytes look like the start of an item, and decodes up to the next piece. The machine takes a [`Piece`] over
//! if it arrives exactly where the piece starts; everything between pieces, and whatever is odd, it decodes itself. So a wrong
//! guess costs time and never truth.
//!
//! A piece does not know how many memo entries come before it. References to entries that the fork knows have their values;
//! all others stay [`View::Later`](super::View::Later) until the piece is taken over, when the entry is known. Of a
//! pickle that numbers its entries itself (PUT, before protocol 4), no piece is decoded.

mod decoder;
mod fork;
mod in_turn;
mod join;
mod memo;
mod sink;

pub use decoder::{Hint, Piece, PieceDecoder};
pub use fork::Fork;
pub use in_turn::{InMemory, InTurn};
pub use join::{Pieces, decode_in_pieces};
pub use sink::PieceSink;
