//! Random programs: after every step the state is sound, and what is counted is what is there.

use super::blocks::{Block, NONE, State};
use super::{Allocator, list_of};
use crate::requests::{PoolIx, PoolStreams, Scope};
use crate::settings::{Device, Rules, Settings, TieBreak, block_bytes};
use oomscope_model::PoolKey;
use proptest::prelude::*;
use std::collections::BTreeMap;

const MIB: u64 = 1 << 20;
const SLOTS: u32 = 24;

#[derive(Debug, Clone)]
enum Step {
    Alloc { slot: u32, pool_stream: u32, requested: u64 },
    Free(u32),
    Request(u32),
    Complete(u32),
    Wait(u32),
    Flush(Scope),
    FreePool,
}

fn pool_streams() -> PoolStreams {
    let mut pool_streams = PoolStreams::default();
    pool_streams.add(PoolKey::DEFAULT, 0);
    pool_streams.add(PoolKey::DEFAULT, -7);
    pool_streams.add(PoolKey(0, 1), 0);
    pool_streams.add(PoolKey(2, 0), 0);
    let unsplit = pool_streams.pool(PoolKey(2, 0)).expect("the pool was added");
    pool_streams.set_unsplit(unsplit);
    pool_streams
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let size = prop_oneof![
        3 => 1..2 * MIB,
        3 => MIB..12 * MIB,
        2 => 10 * MIB..90 * MIB,
        1 => Just(0),
        1 => Just(u64::MAX >> 20),
    ];
    let alloc = (0..SLOTS, 0..4u32, size).prop_map(|(slot, pool_stream, requested)| Step::Alloc {
        slot,
        pool_stream,
        requested,
    });
    let private = || PoolIx::DEFAULT;
    let step = prop_oneof![
        12 => alloc,
        6 => (0..SLOTS + 2).prop_map(Step::Free),
        2 => (0..SLOTS).prop_map(Step::Request),
        2 => (0..SLOTS).prop_map(Step::Complete),
        2 => (0..SLOTS).prop_map(Step::Wait),
        1 => Just(Step::Flush(Scope::Everything)),
        1 => Just(Step::Flush(Scope::Pool(private()))),
        1 => Just(Step::FreePool),
    ];
    proptest::collection::vec(step, 1..160)
}

fn confs() -> impl Strategy<Value = Settings> {
    let conf = prop_oneof![
        Just(""),
        Just("expandable_segments:True"),
        Just("max_split_size_mb:32,max_non_split_rounding_mb:24"),
        Just("expandable_segments:True,max_split_size_mb:32"),
        Just("roundup_power2_divisions:4,large_segment_size_mb:32"),
        Just("garbage_collection_threshold:0.3,per_process_memory_fraction:0.9"),
        Just("garbage_collection_threshold:0.2,per_process_memory_fraction:0.5,max_split_size_mb:40"),
    ];
    conf.prop_map(|conf| {
        let mut settings = Settings::default();
        settings.set_all(conf).expect("the settings are valid");
        settings
    })
}

/// Check everything that must hold between two steps.
fn check(allocator: &Allocator<'_>) {
    let mut segments: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (id, block) in allocator.blocks.iter() {
        segments.entry(block.segment).or_default().push(id);
    }
    let (mut reserved, mut split_bytes, mut split) = (0, 0, 0);
    for (&segment, ids) in &mut segments {
        let segment = allocator.segments[segment as usize];
        ids.sort_by_key(|&id| allocator.blocks[id].addr);
        let (mut at, mut prev) = (segment.base, NONE);
        for &id in &*ids {
            let block = allocator.blocks[id];
            assert_eq!((block.addr, block.prev), (at, prev), "blocks tile their segment");
            assert!(0 < block.size);
            if prev != NONE {
                let before = allocator.blocks[prev];
                assert_eq!(before.next, id);
                let joins = matches!(block.state, State::Free | State::Unmapped);
                assert!(!joins || before.state != block.state, "free neighbours are joined");
            }
            reserved += if block.state == State::Unmapped { 0 } else { block.size };
            let counts = block.state == State::Free && 1 < ids.len() && !segment.is_expandable();
            split_bytes += if counts { block.size } else { 0 };
            split += u64::from(counts);
            (at, prev) = (at + block.size, id);
        }
        assert_eq!((at, allocator.blocks[prev].next), (segment.base + segment.size, NONE));
    }
    let sum = |wanted: &[State], of: fn(&Block) -> u64| {
        allocator.blocks.iter().filter(|(_, b)| wanted.contains(&b.state)).map(|(_, b)| of(b)).sum::<u64>()
    };
    let active = [State::Live, State::Pending];
    let counters = &allocator.counters;
    assert_eq!(counters.reserved_bytes.current, reserved);
    assert_eq!(counters.inactive_split_bytes.current, split_bytes);
    assert_eq!(counters.inactive_split.current, split);
    assert_eq!(counters.allocated_bytes.current, sum(&active[..1], |block| block.size));
    assert_eq!(counters.active_bytes.current, sum(&active, |block| block.size));
    assert_eq!(counters.requested_bytes.current, sum(&active, |block| block.requested));
    assert_eq!(counters.active.current, sum(&active, |_| 1));
    check_lists(allocator);
    let shown = allocator.segments.len() - allocator.unused_segments.len();
    assert_eq!(shown, segments.len(), "segments without blocks are gone");
    let limit = allocator.rules.capacity_bytes.min(allocator.rules.allowed_bytes.unwrap_or(u64::MAX));
    assert!(counters.reserved_bytes.peak <= limit.max(allocator.driver.capacity.min(limit)));
}

/// Check that lists hold exactly the free blocks, in order.
fn check_lists(allocator: &Allocator<'_>) {
    let of = |state: State, list: usize| {
        let blocks = allocator.blocks.iter().filter(move |(_, b)| b.state == state && b.list == list as u32);
        blocks.map(|(id, _)| id).collect::<Vec<_>>()
    };
    for (i, list) in allocator.free_lists.iter().enumerate() {
        let entries: Vec<_> = list.iter().copied().collect();
        assert!(entries.is_sorted_by(|one, next| !next.is_before(one)));
        let mut listed: Vec<u32> = entries.iter().map(|entry| entry.block()).collect();
        listed.sort_unstable();
        assert_eq!(listed, of(State::Free, i));
        for entry in entries {
            assert_eq!(entry, allocator.entry(entry.block()));
        }
        let mut unmapped: Vec<u32> = allocator.unmapped[i].iter().map(|&(_, id)| id).collect();
        unmapped.sort_unstable();
        assert_eq!(unmapped, of(State::Unmapped, i));
    }
    let pending: usize = (0..allocator.free_lists.len()).map(|list| of(State::Pending, list).len()).sum();
    assert_eq!(allocator.pending.len(), pending);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn the_state_is_sound_after_every_step(
        steps in steps(),
        settings in confs(),
        capacity in prop_oneof![Just(None), Just(Some(180 * MIB)), Just(Some(64 * MIB))],
        oldest_first in any::<bool>(),
    ) {
        let pool_streams = pool_streams();
        let tie_break = if oldest_first { TieBreak::Creation } else { TieBreak::Address };
        let device = Device { capacity_bytes: capacity, ..Device::default() };
        let rules = Rules::new(&settings, tie_break, &device);
        let mut allocator = Allocator::new(rules, &pool_streams, SLOTS as usize, &[]);
        for step in steps {
            match step {
                Step::Alloc { slot, pool_stream, requested } => {
                    if let Some(id) = allocator.malloc(pool_stream, requested, slot) {
                        let block = allocator.blocks[id];
                        prop_assert_eq!(block.state, State::Live);
                        prop_assert!(requested <= block.size);
                        prop_assert_eq!(block.list, list_of(pool_stream, block_bytes(requested, &settings)));
                    }
                }
                Step::Free(slot) => allocator.free(slot),
                Step::Request(slot) => allocator.free_requested(slot),
                Step::Complete(slot) => allocator.free_completed(slot),
                Step::Wait(slot) => allocator.free_by_waiting(slot),
                Step::Flush(scope) => allocator.release_cached(scope),
                Step::FreePool => {
                    let pool = pool_streams.pool(PoolKey(0, 1)).expect("the pool exists");
                    allocator.pool_is_freeable(pool);
                }
            }
            check(&allocator);
        }
        (0..SLOTS).for_each(|slot| allocator.free(slot));
        allocator.release_cached(Scope::Everything);
        check(&allocator);
        prop_assert_eq!(allocator.counters.active_bytes.current, 0);
    }
}
