//! Which panes there are.

/// A kind of pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub(in crate::app) enum Pane {
    /// Memory over time.
    Timeline,
    /// The selection, or what is at the cursor.
    Details,
    /// Addresses at the cursor.
    Segments,
    /// Addresses over time.
    SegmentTimeline,
    /// Where memory was allocated.
    Stacks,
    /// Total lines.
    Curves,
    /// Allocations as a table.
    Allocations,
    /// All events.
    Events,
    /// What happened and why.
    Report,
    /// Other allocator settings.
    WhatIf,
}
