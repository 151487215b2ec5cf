//! The rows of a program, in pieces that changed programs share with the recorded one.
//!
//! Most changes leave most of a program as it is. So a clone costs next to nothing, a change copies the piece that it is in, and what
//! two programs have in common is known without comparing it.

use super::row::Row;
use oomscope_model::AllocId;
use rayon::prelude::*;
use std::sync::Arc;

/// As many rows are copied with the first of them that changes.
const PIECE: usize = 256;

/// One row for each recorded allocation.
#[derive(Debug, Clone)]
pub(super) struct SharedRows {
    /// All but the last have [`PIECE`] rows.
    pieces: Vec<Arc<[Row]>>,
    len: usize,
}

impl SharedRows {
    /// As many rows, each made by itself.
    pub(super) fn new(len: usize, row: impl Fn(AllocId) -> Row + Sync) -> Self {
        let piece = |first: usize| {
            (first..len.min(first + PIECE)).map(|index| row(AllocId(index as u32))).collect::<Arc<[Row]>>()
        };
        let pieces = (0..len.div_ceil(PIECE)).into_par_iter().map(|number| piece(number * PIECE)).collect();
        Self { pieces, len }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(super) fn get(&self, id: AllocId) -> Row {
        self.pieces[id.index() / PIECE][id.index() % PIECE]
    }

    pub(super) fn set(&mut self, id: AllocId, row: Row) {
        // What stays as it is stays shared.
        if self.get(id) != row {
            Arc::make_mut(&mut self.pieces[id.index() / PIECE])[id.index() % PIECE] = row;
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Row> {
        self.pieces.iter().flat_map(|piece| piece.iter())
    }

    /// Whether a row is surely the same as in other rows that these were cloned from, or that were cloned from them.
    #[inline]
    pub(super) fn is_shared(&self, other: &Self, id: AllocId) -> bool {
        let piece = id.index() / PIECE;
        Arc::ptr_eq(&self.pieces[piece], &other.pieces[piece])
    }

    /// The rows that are not the same as others, each with the other one.
    pub(super) fn unlike<'r>(&'r self, other: &'r Self) -> impl Iterator<Item = (AllocId, Row, Row)> + 'r {
        let both = self.pieces.iter().zip(&other.pieces).enumerate();
        let copied = both.filter(|(_, (piece, other))| !Arc::ptr_eq(piece, other));
        let rows = copied.flat_map(|(number, (piece, other))| {
            let rows = piece.iter().zip(other.iter()).enumerate();
            rows.map(move |(index, (&row, &other))| (AllocId((number * PIECE + index) as u32), row, other))
        });
        rows.filter(|(_, row, other)| row != other)
    }
}
