//! Maps against a naive allocator, and for histories that make no sense.

use super::*;
use oomscope_fixtures::alone;
use oomscope_fixtures::requests::{CELL, Request, Toy, ToyState, address, event, stream_of};
use oomscope_model::{
    Action, Anchor, Bytes, DeviceId, EventTable, Recording, SegmentTable, Timeline, TimelineInput,
};
use oomscope_model::{AllocId, Moment};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

fn map(recording: &Recording, moment: Moment) -> SegmentState {
    SegmentIndex::new(recording).at(recording, moment)
}

/// Check the invariants that hold for any file.
fn check_tiling(state: &SegmentState) {
    let mut next_part = 0;
    let mut total = Figures::default();
    for row in &state.rows {
        assert_eq!(row.parts.start, next_part);
        next_part = row.parts.end;
        let mut at = row.addr;
        let (mut reserved, mut active) = (Bytes::ZERO, Bytes::ZERO);
        for part in state.parts_of(row) {
            assert_eq!(part.addr, at, "parts tile their row");
            assert!(0 < part.size && (Bytes::ZERO..=part.size).contains(&part.requested));
            at = part.past_end();
            match part.content {
                Content::Unmapped => assert!(row.is_expandable),
                Content::Hole => reserved += part.size,
                _ => active += part.size,
            }
        }
        assert_eq!(at, row.past_end);
        let key = state.groups[row.group].key;
        let figures = &row.figures;
        assert_eq!(figures.active_rounded_bytes(), active);
        assert_eq!(figures.reserved_bytes, if key.is_outside { Bytes::ZERO } else { reserved + active });
        if !key.is_outside {
            total.merge(figures);
        }
    }
    assert_eq!(next_part, state.parts.len());
    assert_eq!(state.total, total);
    let mut by_group = Figures::default();
    state.groups.iter().filter(|g| !g.key.is_outside).for_each(|group| by_group.merge(&group.figures));
    assert_eq!(by_group, total);
    assert_eq!(state.groups.iter().map(|group| group.rows).sum::<usize>(), state.rows.len());
    assert!(state.groups.is_sorted_by(|a, b| a.key < b.key));
}

/// The use of a cell, and its block, by the block's first cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cell {
    Hole,
    Block(u64, bool),
}

/// The truth by cell. The slack of blocks that do not survive cannot be known.
fn naive_cells(toy: &Toy, state: &ToyState, is_end: bool) -> BTreeMap<u64, Cell> {
    let mut cells: BTreeMap<u64, Cell> =
        state.cells.keys().map(|&cell| (address(cell), Cell::Hole)).collect();
    for (&at, block) in &state.blocks {
        let known =
            if is_end || toy.survives(block) { block.cells } else { (block.requested as u64).div_ceil(CELL) };
        let is_awaiting = block.is_awaiting;
        cells.extend((at..at + known).map(|cell| (address(cell), Cell::Block(address(at), is_awaiting))));
    }
    cells
}

fn cells_of(state: &SegmentState) -> BTreeMap<u64, Cell> {
    let mut cells = BTreeMap::new();
    for part in &state.parts {
        let cell = match part.content {
            Content::Unmapped => continue,
            Content::Hole => Cell::Hole,
            Content::Allocated(_) => Cell::Block(part.addr, false),
            Content::Awaiting(_) => Cell::Block(part.addr, true),
        };
        assert_eq!(part.size.as_u64() % CELL, 0);
        let places = (part.addr..part.past_end()).step_by(CELL as usize);
        places.for_each(|addr| assert_eq!(cells.insert(addr, cell), None));
    }
    cells
}

/// Number of holes and the largest, by looking at every cell.
fn naive_holes(state: &ToyState, cells: &BTreeMap<u64, Cell>) -> (usize, i64) {
    let (mut count, mut largest) = (0, 0);
    for (from, to, _) in state.runs() {
        let free = |cell: &u64| cells[&address(*cell)] == Cell::Hole;
        let run: Vec<u64> = (from..to).collect();
        for hole in run.chunk_by(|a, b| free(a) == free(b)).filter(|chunk| free(&chunk[0])) {
            count += 1;
            largest = largest.max(hole.len() as i64 * CELL as i64);
        }
    }
    (count, largest)
}

fn check_moment(toy: &Toy, recording: &Recording, state: &ToyState, moment: Moment) {
    let found = map(recording, moment);
    check_tiling(&found);
    let is_end = moment.index() == recording.events.len();
    let cells = naive_cells(toy, state, is_end);
    assert_eq!(cells_of(&found), cells);
    assert_eq!((found.total.holes, found.total.largest_hole_bytes.0), naive_holes(state, &cells));
    assert_eq!(found.total.reserved_bytes, (state.cells.len() as u64 * CELL) as i64);
    let requested = |awaiting| -> i64 {
        state.blocks.values().filter(|b| b.is_awaiting == awaiting).map(|b| b.requested).sum()
    };
    assert_eq!(found.total.allocated_bytes, requested(false));
    assert_eq!(found.total.awaiting_bytes, requested(true));
    assert_eq!(found.total.allocated_bytes, recording.allocated.at(moment));
    assert_eq!(found.total.active_bytes(), recording.active.at(moment));
    assert_eq!(found.total.blocks, state.blocks.len());
    assert_eq!(found.total.segments, state.runs().len());
    assert!(found.contradictions.is_empty(), "{:?}", found.contradictions);
    assert_eq!(found.basis, if is_end { Basis::EndState } else { Basis::Events });
    let streams: BTreeSet<Option<i64>> =
        state.runs().iter().map(|&(_, _, region)| Some(stream_of(region))).collect();
    assert_eq!(found.groups.iter().map(|group| group.key.stream).collect::<BTreeSet<_>>(), streams);
    for id in recording.lifetimes.live_at(moment) {
        let addr = recording.addr(id);
        let (row, part) = found.find(addr, id).expect("every block is found");
        assert!(found.rows[row].parts.contains(&part));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn maps_are_what_a_naive_allocator_has(
        requests in proptest::collection::vec(any::<Request>(), 0..200),
        kept in 0usize..120,
    ) {
        let toy = Toy::play(&requests);
        let dropped = (toy.states.len() - 1).saturating_sub(kept);
        let recording = alone(toy.timeline(dropped));
        for (moment, state) in toy.states.iter().skip(dropped).enumerate() {
            check_moment(&toy, &recording, state, Moment(moment as u32));
        }
    }

    #[test]
    fn nonsense_is_counted_and_never_hidden(
        steps in proptest::collection::vec(
            (0u8..8, prop_oneof![0u64..16, (u64::MAX - 9)..=u64::MAX], size(), 0i64..2), 0..60),
        final_segments in proptest::collection::vec((0u64..16, size(), 0u64..16, size(), 0u8..3), 0..6),
        is_cut in any::<bool>(),
    ) {
        let recording = alone(nonsense(&steps, &final_segments, is_cut));
        for moment in (0..recording.moments() as u32).map(Moment) {
            let found = map(&recording, moment);
            check_tiling(&found);
            if found.basis != Basis::EndState {
                check_all_shown(&recording, &found);
            }
            let reserved = found.total.reserved_bytes;
            prop_assert_eq!(
                found.contradictions.unexplained_reserved_bytes,
                recording.reserved.at(moment) - reserved
            );
        }
    }
}

fn size() -> impl Strategy<Value = i64> {
    prop_oneof![4 => 0i64..4000, 1 => Just(i64::MIN), 1 => Just(i64::MAX), 1 => -5i64..1]
}

type Step = (u8, u64, i64, i64);

fn nonsense(steps: &[Step], segments: &[(u64, i64, u64, i64, u8)], is_cut: bool) -> Timeline {
    use oomscope_model::{Block, BlockState, Segment, StackId};
    let place = |at: u64| at.saturating_mul(700);
    let mut events = EventTable::default();
    for &(kind, at, size, stream) in steps {
        let action = [
            Action::Alloc,
            Action::FreeRequested,
            Action::FreeCompleted,
            Action::SegmentAlloc,
            Action::SegmentFree,
            Action::SegmentMap,
            Action::SegmentUnmap,
            Action::Oom,
        ][usize::from(kind)];
        events.push(&event(action, place(at), size, stream));
    }
    let mut table = SegmentTable::default();
    for &(at, size, block_at, block_size, state) in segments {
        let state =
            [BlockState::Allocated, BlockState::AwaitingFree, BlockState::Inactive][usize::from(state)];
        let block = Block {
            addr: place(block_at),
            size: Bytes(block_size),
            requested: Bytes(block_size / 2),
            state,
            stack: StackId::EMPTY,
        };
        table.blocks.push(block);
        table.segments.push(Segment {
            device: DeviceId(0),
            addr: place(at),
            size: Bytes(size),
            stream: Some(0),
            pool: None,
            kind: None,
            is_expandable: at % 2 == 1,
            stack: StackId::EMPTY,
            blocks: table.blocks.len() - 1..table.blocks.len(),
        });
    }
    let anchor = if is_cut { Anchor::TraceOnly } else { Anchor::EndState };
    Timeline::build(TimelineInput { device: DeviceId(0), events, segments: table, anchor })
}

/// Every live allocation has a part, or is on the list of those that could not have one.
fn check_all_shown(timeline: &Timeline, found: &SegmentState) {
    let shown = found.parts.iter().filter_map(|part| part.content.allocation());
    let mut all: Vec<AllocId> = shown.chain(found.contradictions.hidden.iter().copied()).collect();
    all.sort_unstable();
    let live: Vec<AllocId> = timeline.lifetimes.live_at(found.moment).collect();
    assert_eq!(all, live);
}
