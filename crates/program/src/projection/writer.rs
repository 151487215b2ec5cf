//! Writes projected events.

use super::likeness::ROUNDING;
use foldhash::HashSet;
use oomscope_model::{Action, Bytes, Event};

/// Where the addresses of what is projected begin: beyond those of any device.
const FIRST_ADDRESS: u64 = 1 << 62;

/// Events after a request that failed.
pub(super) struct Writer {
    events: Vec<Event>,
    /// The next address.
    next: u64,
    /// The addresses that were given back.
    gone: HashSet<u64>,
    failed: Event,
}

impl Writer {
    /// Nothing, after a request that failed.
    pub(super) fn new(failed: Event) -> Self {
        Self { events: Vec::new(), next: FIRST_ADDRESS, gone: HashSet::default(), failed }
    }

    /// How many events were written.
    pub(super) fn written(&self) -> usize {
        self.events.len()
    }

    /// What was written.
    pub(super) fn into_events(self) -> Vec<Event> {
        self.events
    }

    /// Write an allocation like another, at an address of its own.
    pub(super) fn alloc(&mut self, like: &Event, bytes: Bytes) -> u64 {
        let addr = self.next;
        self.next += ROUNDING;
        self.push(like, Action::Alloc, addr, bytes);
        addr
    }

    /// Write that something is given back as `like` says, once.
    pub(super) fn free(&mut self, like: &Event, addr: u64, bytes: Bytes) {
        let is_there = match like.action {
            Action::FreeCompleted => self.gone.insert(addr),
            _ => !self.gone.contains(&addr),
        };
        if is_there {
            self.push(like, like.action, addr, bytes);
        }
    }

    /// When it would be is not known, and texts that the program attaches say where it was then.
    fn push(&mut self, like: &Event, action: Action, addr: u64, size: Bytes) {
        let user_metadata = self.failed.user_metadata;
        let (time_us, device_free) = (None, None);
        self.events.push(Event {
            action,
            addr: Some(addr),
            size,
            time_us,
            user_metadata,
            device_free,
            ..*like
        });
    }
}
