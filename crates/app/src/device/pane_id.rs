//! The names of panes, and what they ask of each other.

/// What a pane asks of the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    /// Bring a pane to the front, with room to read it.
    Show(PaneId),
    /// The same of the stacks that changed over the marked range.
    ShowChange,
}

/// A kind of pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub(crate) enum PaneId {
    /// Memory over time.
    Timeline,
    /// The totals and the meanings of colours, with their bytes at the cursor.
    Legend,
    /// The selection, or the lines of code that hold the memory at the cursor.
    Details,
    /// The segment map: addresses at the cursor.
    Segments,
    /// The segment timeline: addresses over time.
    SegmentTimeline,
    /// Memory by the code that allocated it.
    Stacks,
    /// Holes and totals as lines.
    Holes,
    /// Allocations as a table.
    Allocations,
    /// All events.
    Events,
    /// Iterations as a table.
    Iterations,
    /// Memory by module.
    Modules,
    /// All findings with their evidence.
    Report,
    /// The marked range in figures.
    Range,
    /// The verdict, and what changes would come to.
    Fixes,
    /// Another recording, or another moment, beside this one.
    Compare,
    /// Notes about the file.
    Notes,
    /// The statistics of PyTorch's allocator at the cursor.
    MemorySummary,
}
