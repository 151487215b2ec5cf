//! The builder of a segment map: parts become rows.

use super::contradictions::{Contradiction, Contradictions};
use super::figures::Figures;
use super::group::{GroupKey, SizeClass};
use super::part::{Content, Part};
use super::reserved::Run;
use super::state::{Basis, Group, Row, SegmentState};
use oomscope_model::allocator_sizes::is_small;
use oomscope_model::{Bytes, Moment};
use std::collections::BTreeMap;

/// A map in progress. Rows are added in address order, and so are the parts of each row.
pub(super) struct Builder {
    parts: Vec<Part>,
    rows: Vec<Row>,
    /// The key of each row.
    keys: Vec<GroupKey>,
    /// True if groups differ by pool. Without private pools they do not, since old torch versions wrote the
    /// default pool for segments and nothing for events.
    tells_pools: bool,
    /// Requested bytes of the first block in the row in progress: it shows the class of an expandable
    /// segment.
    first_block: Option<Bytes>,
    pub(super) contradictions: Contradictions,
}

impl Builder {
    pub(super) fn new(tells_pools: bool) -> Self {
        Self {
            parts: Vec::new(),
            rows: Vec::new(),
            keys: Vec::new(),
            tells_pools,
            first_block: None,
            contradictions: Contradictions::default(),
        }
    }

    /// Make room for the parts of a number of blocks.
    pub(super) fn reserve(&mut self, blocks: usize) {
        // Many blocks have a hole behind them.
        self.parts.reserve(blocks * 2);
    }

    /// Start a run, and a row if the run is the first of its segment.
    pub(super) fn start_run(&mut self, run: &Run) {
        if let Some(row) = self.rows.last_mut().filter(|_| !run.starts_row) {
            let gap = Part {
                addr: row.past_end,
                size: bytes_between(row.past_end, run.addr),
                requested: Bytes::ZERO,
                content: Content::Unmapped,
            };
            row.past_end = run.past_end;
            row.figures.segments += 1;
            if let Some(key) = self.keys.last_mut() {
                key.class = key.class.or(run.class);
            }
            if 0 < gap.size {
                self.parts.push(gap);
            }
            return;
        }
        self.end_row();
        let pool = run.pool.filter(|_| self.tells_pools);
        let key = GroupKey { is_outside: false, pool, stream: run.stream, class: run.class };
        self.start_row(run.addr, run.past_end, run.is_expandable, key);
        if let Some(row) = self.rows.last_mut() {
            row.figures.segments = 1;
        }
    }

    /// Add a block that lies in no segment. Such blocks that touch form a row.
    pub(super) fn outside(&mut self, part: Part) {
        self.contradictions.count(Contradiction::OutsideOfSegments);
        if part.size <= 0 {
            return;
        }
        let touches = self
            .rows
            .last()
            .zip(self.keys.last())
            .is_some_and(|(row, key)| key.is_outside && row.past_end == part.addr);
        if !touches {
            self.end_row();
            let key = GroupKey { is_outside: true, pool: None, stream: None, class: None };
            self.start_row(part.addr, part.past_end(), false, key);
        }
        if let Some(row) = self.rows.last_mut() {
            row.past_end = part.past_end();
        }
        self.push(part);
    }

    fn start_row(&mut self, addr: u64, past_end: u64, is_expandable: bool, key: GroupKey) {
        let at = self.parts.len();
        let figures = Figures::default();
        self.rows.push(Row { addr, past_end, group: 0, is_expandable, parts: at..at, figures });
        self.keys.push(key);
        self.first_block = None;
    }

    /// Append a part to the row in progress; empty ones are left out.
    #[inline]
    pub(super) fn push(&mut self, part: Part) {
        if part.size <= 0 {
            return;
        }
        debug_assert!(!self.rows.is_empty(), "a part needs a row");
        debug_assert_eq!(self.rows.len(), self.keys.len());
        if part.content.is_block() {
            self.first_block.get_or_insert(part.requested);
        }
        if let Some((row, key)) = self.rows.last_mut().zip(self.keys.last()) {
            row.figures.add_part(&part, !key.is_outside);
            self.parts.push(part);
        }
    }

    /// Append a hole between two addresses, unless it is empty.
    #[inline]
    pub(super) fn hole(&mut self, from: u64, to: u64) {
        self.push(Part {
            addr: from,
            size: bytes_between(from, to),
            requested: Bytes::ZERO,
            content: Content::Hole,
        });
    }

    /// Close the row in progress, if there is one.
    fn end_row(&mut self) {
        let (Some(row), Some(key)) = (self.rows.last_mut(), self.keys.last_mut()) else { return };
        row.parts.end = self.parts.len();
        if row.is_expandable && key.class.is_none() {
            key.class = self
                .first_block
                .map(|bytes| if is_small(bytes) { SizeClass::Small } else { SizeClass::Large });
        }
    }

    /// The finished map. `reserved` is the total by the segment events, in bytes.
    pub(super) fn finish(mut self, moment: Moment, basis: Basis, reserved: Bytes) -> SegmentState {
        self.end_row();
        let mut places: BTreeMap<GroupKey, Group> = BTreeMap::new();
        let (mut total, mut outside) = (Figures::default(), Figures::default());
        for (row, &key) in self.rows.iter().zip(&self.keys) {
            let new = || Group { key, rows: 0, figures: Figures::default() };
            let group = places.entry(key).or_insert_with(new);
            group.rows += 1;
            group.figures.merge(&row.figures);
            if key.is_outside { &mut outside } else { &mut total }.merge(&row.figures);
        }
        let groups: Vec<Group> = places.into_values().collect();
        for (row, key) in self.rows.iter_mut().zip(&self.keys) {
            row.group = groups.partition_point(|group| group.key < *key);
            debug_assert!(groups.get(row.group).is_some_and(|group| group.key == *key));
        }
        let mut contradictions = self.contradictions;
        contradictions.unexplained_reserved_bytes = reserved - total.reserved_bytes;
        SegmentState {
            moment,
            basis,
            rows: self.rows,
            parts: self.parts,
            groups,
            total,
            outside,
            contradictions,
        }
    }
}

/// Bytes from one address to another; 0 if the second is not above the first.
pub(super) fn bytes_between(from: u64, to: u64) -> Bytes {
    Bytes::of_size(to.saturating_sub(from))
}
