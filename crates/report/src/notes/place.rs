//! A place in a recording, in terms that outlive the program: events and addresses, not ids.

/// Where a user is in a recording. Whatever is left out is as it is when the file is opened.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Place {
    /// The device's number, in files of several devices.
    pub device: Option<i64>,
    /// The moment of the cursor.
    pub moment: Option<PlaceMoment>,
    /// The part of the timeline in sight; everything if left out.
    pub range: Option<PlaceRange>,
    /// The bytes in sight, from the bottom to the top; everything if left out.
    pub bytes: Option<[u64; 2]>,
    /// The selection.
    pub selection: Option<Selected>,
    /// The filter as it is written.
    pub filter: Option<String>,
    /// Whether everything that the filter does not match is left out.
    pub hides_rest: bool,
    /// The property that colours show.
    pub colour: Option<String>,
    /// Words that this version does not know, as they are written. They are kept.
    pub unknown: Vec<String>,
}

/// A moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PlaceMoment {
    /// Before the first event.
    Start,
    /// After an event.
    Event(u32),
    /// At the peak of active memory.
    Peak,
    /// At the last out-of-memory event.
    Oom,
    /// After the last event.
    End,
}

/// A part of the timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PlaceRange {
    /// From the state before one event to that after another.
    Events([u32; 2]),
    /// Microseconds since the first recorded time, on the axis of time.
    TimeUs([u64; 2]),
    /// Everything, on the axis of time.
    AllTime,
}

/// A selection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Selected {
    /// An allocation.
    Allocation(BlockRef),
    /// Everything that was allocated with the stack of an allocation.
    StackOf(BlockRef),
    /// The segment at an address.
    Segment(u64),
}

/// An allocation as every version of a program names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BlockRef {
    /// The one that an event made.
    Event(u32),
    /// The one that was at an address before the first event.
    Address(u64),
}
