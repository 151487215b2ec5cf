//! Events: durations, sets of events, matches of a search, and the spans that the program or a profiler
//! named.

mod clock;
mod event_matches;
mod event_set;
pub(super) mod named_spans;
mod same_event;

pub use clock::Clock;
pub use event_matches::EventMatches;
pub use event_set::EventSet;
pub use same_event::same_event;
