//! Puts the state before the first event into an empty allocator.

use super::Allocator;
use super::blocks::{Block, NONE, State};
use crate::requests::{InitialSegment, InitialState};

/// A part of a segment that is being laid out.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    addr: u64,
    size: u64,
    state: State,
    requested: u64,
    slot: u32,
}

impl Stretch {
    fn empty(addr: u64, size: u64, state: State) -> Self {
        Self { addr, size, state, requested: 0, slot: NONE }
    }
}

impl Allocator<'_> {
    /// Lay out the segments and blocks from before the first event.
    pub(crate) fn lay_out_initial_state(&mut self, initial: &InitialState) {
        let mut at = 0;
        while let Some(segment) = initial.segments.get(at) {
            at += if segment.is_expandable {
                self.lay_out_range(initial, at)
            } else {
                self.lay_out_segment(initial, segment)
            };
        }
    }

    /// Lay out one segment; returns the number of segments used up, which is 1.
    fn lay_out_segment(&mut self, initial: &InitialState, segment: &InitialSegment) -> usize {
        let list = list_of(segment);
        let id = self.add_segment(segment.addr, segment.size, 0);
        let parts = parts_of(initial, segment);
        self.lay(id, list, &parts);
        let oversize = self.count_if_oversize(segment.size);
        let holes: &[Stretch] = if 1 < parts.len() { &parts } else { &[] };
        self.count(list, |counters| {
            counters.segment.add(1);
            counters.oversize_segments.add(oversize);
            counters.reserved_bytes.add(segment.size);
            for part in holes.iter().filter(|part| part.state == State::Free) {
                counters.inactive_split_bytes.add(part.size);
                counters.inactive_split.add(1);
            }
        });
        1
    }

    /// Lay out an expandable segment: all mapped runs that are near enough to the one at `at` to lie in one range of
    /// addresses. Returns the number of runs.
    fn lay_out_range(&mut self, initial: &InitialState, at: usize) -> usize {
        let first = &initial.segments[at];
        let list = list_of(first);
        let page = self.page_bytes(list);
        let size = self.range_bytes(page);
        let past_end = first.addr.saturating_add(size);
        let runs: Vec<&InitialSegment> = initial.segments[at..]
            .iter()
            .take_while(|run| {
                let is_same = (run.pool_stream, run.is_large, run.is_expandable)
                    == (first.pool_stream, first.is_large, true);
                is_same && run.addr.checked_add(run.size).is_some_and(|end| end <= past_end)
            })
            .collect();
        // A run that is larger than the device, as only damaged files have, is a range of its own.
        let (runs, size) = if runs.is_empty() { (vec![first], first.size) } else { (runs, size) };
        let mut parts = Vec::new();
        let mut from = first.addr;
        for run in &runs {
            push(&mut parts, Stretch::empty(from, run.addr - from, State::Unmapped));
            for part in parts_of(initial, run) {
                push(&mut parts, part);
            }
            from = run.addr.saturating_add(run.size);
            self.count(list, |counters| counters.reserved_bytes.add(run.size));
        }
        let past_end = first.addr.saturating_add(size);
        push(&mut parts, Stretch::empty(from, past_end.saturating_sub(from), State::Unmapped));
        let id = self.add_segment(first.addr, size, page);
        self.lay(id, list, &parts);
        runs.len()
    }

    /// Make the blocks of a segment.
    fn lay(&mut self, segment: u32, list: u32, parts: &[Stretch]) {
        let mut last = NONE;
        for part in parts {
            let block = Block::alone((part.addr, part.size), segment, list, part.state);
            let id = self.blocks.add(block);
            if last != NONE {
                self.blocks.link_after(last, id);
            }
            match part.state {
                State::Free => self.insert_free(id),
                State::Unmapped => {
                    self.unmapped[list as usize].insert((part.addr, id));
                }
                state => self.hold(id, part.requested, part.slot, state),
            }
            last = id;
        }
    }
}

fn list_of(segment: &InitialSegment) -> u32 {
    segment.pool_stream * 2 + u32::from(segment.is_large)
}

/// The blocks of a segment, and the free parts between them.
fn parts_of(initial: &InitialState, segment: &InitialSegment) -> Vec<Stretch> {
    let mut parts = Vec::new();
    let mut from = segment.addr;
    let past_end = segment.addr.saturating_add(segment.size);
    for block in &initial.blocks[segment.blocks.clone()] {
        push(&mut parts, Stretch::empty(from, block.addr.saturating_sub(from), State::Free));
        let state = if block.is_pending { State::Pending } else { State::Live };
        push(
            &mut parts,
            Stretch {
                addr: block.addr,
                size: block.size,
                state,
                requested: block.requested,
                slot: block.slot,
            },
        );
        from = block.addr.saturating_add(block.size);
    }
    push(&mut parts, Stretch::empty(from, past_end.saturating_sub(from), State::Free));
    parts
}

/// Append a part, joined with the one before where both are empty.
fn push(parts: &mut Vec<Stretch>, part: Stretch) {
    if part.size == 0 {
        return;
    }
    match parts.last_mut() {
        Some(last) if last.state == part.state && matches!(part.state, State::Free | State::Unmapped) => {
            last.size += part.size;
        }
        _ => parts.push(part),
    }
}
