//! The kinds of panes.

/// A kind of pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub(in crate::app) enum Pane {
    /// Memory over time.
    Timeline,
    /// The selection, or the memory at the cursor.
    Details,
    /// The segment map: addresses at the cursor.
    Segments,
    /// The segment timeline: addresses over time.
    SegmentTimeline,
    /// Memory by the code that allocated it.
    Stacks,
    /// The totals as lines.
    Curves,
    /// Allocations as a table.
    Allocations,
    /// All events.
    Events,
    /// Iterations as a table.
    Iterations,
    /// Memory by module.
    Modules,
    /// The diagnosis.
    Report,
    /// Simulations of other allocator settings.
    WhatIf,
    /// What changes to the program would have saved.
    Remedies,
}
