//! Segment events, which are decisions of the allocator.

use crate::settings::clamped;
use foldhash::HashMap;
use oomscope_model::{Action, EventTable, StackId};

/// The lowest address of segments that the recording does not have. Recorded ones are below.
pub(crate) const FIRST_SIMULATED_ADDRESS: u64 = 1 << 60;

/// A change of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum SegmentAction {
    Alloc,
    Free,
    Map,
    Unmap,
}

impl SegmentAction {
    #[inline]
    pub(crate) fn of(action: Action) -> Option<Self> {
        match action {
            Action::SegmentAlloc => Some(Self::Alloc),
            Action::SegmentFree => Some(Self::Free),
            Action::SegmentMap => Some(Self::Map),
            Action::SegmentUnmap => Some(Self::Unmap),
            _ => None,
        }
    }

    /// The action of its event.
    pub(crate) fn action(self) -> Action {
        match self {
            Self::Alloc => Action::SegmentAlloc,
            Self::Free => Action::SegmentFree,
            Self::Map => Action::SegmentMap,
            Self::Unmap => Action::SegmentUnmap,
        }
    }

    /// Whether memory goes back to the driver.
    pub(crate) fn gives_back(self) -> bool {
        matches!(self, Self::Free | Self::Unmap)
    }
}

/// The cause of a recorded event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The request that follows, which has the same stack.
    Request,
    /// The program itself: `empty_cache`, or entering a graph capture.
    Program,
    /// The stacks do not say.
    Unknown,
}

/// A segment event, recorded or simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SegmentEvent {
    /// The event of the trace; for a simulated one, the event of the request that led to it.
    pub(crate) event: u32,
    pub(crate) action: SegmentAction,
    pub(crate) addr: u64,
    pub(crate) size: u64,
    pub(crate) cause: Cause,
    /// The pool and stream that own the segment, as far as events say.
    pub(crate) pool_stream: u32,
}

/// The segment events of a trace, in order.
pub(crate) fn recorded(events: &EventTable, pool_stream_of_context: &[u32]) -> Vec<SegmentEvent> {
    let mut found = Vec::new();
    let mut made: HashMap<u64, StackId> = HashMap::default();
    for ix in events.indices() {
        let Some(action) = SegmentAction::of(events.action(ix)) else { continue };
        let (addr, stack) = (events.addr(ix).unwrap_or_default(), events.stack(ix));
        // Without the stack of the free itself, torch writes the one that made the segment.
        let is_own = match action {
            SegmentAction::Alloc | SegmentAction::Map => {
                made.insert(addr, stack);
                true
            }
            _ => made.remove(&addr) != Some(stack),
        };
        let cause = if is_own && stack != StackId::EMPTY { Cause::Program } else { Cause::Unknown };
        let pool_stream = pool_stream_of_context[events.context_index(ix)];
        found.push(SegmentEvent {
            event: ix.0,
            action,
            addr,
            size: clamped(events.size(ix)),
            cause,
            pool_stream,
        });
    }
    mark_those_of_requests(events, &mut found);
    found
}

/// Mark the events that have the stack of the request that follows them: they are the doing of that request.
fn mark_those_of_requests(events: &EventTable, found: &mut [SegmentEvent]) {
    let mut left = found.len();
    let mut request = StackId::EMPTY;
    for ix in events.indices().rev() {
        if left == 0 {
            break;
        }
        match events.action(ix) {
            Action::Alloc | Action::Oom => request = events.stack(ix),
            _ if found[left - 1].event == ix.0 => {
                left -= 1;
                if request != StackId::EMPTY && events.stack(ix) == request {
                    found[left].cause = Cause::Request;
                }
            }
            _ => {}
        }
    }
}
