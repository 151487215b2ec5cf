//! The requests of a program, which stay the same under other settings, apart from what the allocator decided.

mod changed;
mod continued;
mod initial_state;
mod pool_streams;
mod pools_by_address;
mod reader;
mod request;
mod segment_events;

pub(super) use initial_state::{InitialBlock, InitialSegment, InitialState};
pub(super) use pool_streams::{PoolIx, PoolStreams};
pub(super) use request::{Op, Request, Scope};
pub(super) use segment_events::{Cause, FIRST_SIMULATED_ADDRESS, SegmentAction, SegmentEvent};

use super::settings::{MAX_REQUEST_BYTES, Settings};
use super::until::Until;
use oomscope_model::{Context, DeviceId, EventIx, PoolKey, Recording};

/// Everything that a program asked for on one device, and the state before that.
#[derive(Debug, Clone)]
pub(super) struct Requests {
    /// In the order of their events.
    pub(super) all: Vec<Request>,
    pub(super) pool_streams: PoolStreams,
    /// Number of slots, in which the program holds blocks: the distinct addresses of the trace.
    pub(super) slots: usize,
    pub(super) initial: InitialState,
    /// What the recorded allocator did to segments, in the order of their events.
    pub(super) segments: Vec<SegmentEvent>,
    /// Number of events of the trace.
    pub(super) events: usize,
    /// The most bytes that the recording reserved.
    pub(super) recorded_peak: u64,
    /// How far answers reach.
    pub(super) until: Until,
}

impl Requests {
    /// Read the requests of a device's trace. Pinned host memory has another allocator, so that a simulation of it has
    /// none.
    pub(super) fn of(recording: &Recording, settings: &Settings) -> Self {
        let events = &recording.events;
        let mut pool_streams = PoolStreams::default();
        pool_streams.add(PoolKey::DEFAULT, 0);
        let mut pool_stream_of = |context: &Context| {
            pool_streams.add(context.pool.unwrap_or(PoolKey::DEFAULT), context.stream.unwrap_or(0))
        };
        let pool_stream_of_context: Vec<u32> = events.contexts().iter().map(&mut pool_stream_of).collect();
        let (mut all, mut segments) = (Vec::new(), Vec::new());
        if recording.device != DeviceId::HOST {
            segments = segment_events::recorded(events, &pool_stream_of_context);
            all = reader::read(recording, &segments, pool_stream_of_context, &mut pool_streams);
        }
        // PoolStreams get their numbers in the order in which they are added: those of the state before the trace come last.
        let initial = initial_state::find(recording, settings, &mut pool_streams);
        initial_state::find_unsplit_pools(recording, settings, &mut pool_streams);
        let slots = events.address_count();
        let recorded_peak = recording.reserved.peak().1.as_u64();
        Self {
            all,
            pool_streams,
            slots,
            initial,
            segments,
            events: events.len(),
            recorded_peak,
            until: Until::of(recording),
        }
    }

    /// The last event at which a request failed.
    pub(super) fn last_oom(&self) -> Option<EventIx> {
        let last = self.all.iter().rev().find(|request| matches!(request.op, Op::Oom { .. }))?;
        Some(EventIx(last.event))
    }

    /// The segment events from number `from` on that come before `event`.
    pub(super) fn segments_until(&self, from: usize, event: u32) -> &[SegmentEvent] {
        let rest = self.segments.get(from..).unwrap_or_default();
        &rest[..rest.iter().take_while(|segment| segment.event < event).count()]
    }

    /// The requests of the same program with other sizes: each size times a factor. A request for 0 bytes is left out.
    pub(super) fn scaled(&self, factor: impl Fn(EventIx) -> f64) -> Self {
        let change = |request: &Request| {
            let by = |requested: u64| {
                let scaled = requested as f64 * factor(EventIx(request.event)).max(0.0);
                // Whole bytes; the conversion saturates.
                (scaled.ceil() as u64).min(MAX_REQUEST_BYTES)
            };
            let (op, size) = match request.op {
                Op::Alloc { slot, pool_stream, requested } => {
                    let requested = by(requested);
                    (Op::Alloc { slot, pool_stream, requested }, requested)
                }
                Op::Oom { pool_stream, requested } => {
                    let requested = by(requested);
                    (Op::Oom { pool_stream, requested }, requested)
                }
                op => (op, 1),
            };
            (size != 0).then_some(Request { op, ..*request })
        };
        Self { all: self.all.iter().filter_map(change).collect(), ..self.clone() }
    }
}
