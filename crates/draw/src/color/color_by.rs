//! What colours can show, and what the legend says of them.

use super::palette::Rgb;

/// The property of allocations that colours show.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum ColorBy {
    /// The code that allocated.
    #[default]
    Stack,
    /// The allocation itself, so that it differs from its neighbours.
    Allocation,
    /// Its size.
    Size,
    /// The time of its allocation.
    Age,
    /// Its stream.
    Stream,
    /// Its pool.
    Pool,
    /// Its category.
    Category,
}

/// An entry of the legend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColorKey {
    /// The meaning of the colour.
    pub label: String,
    /// Its colour.
    pub color: Rgb,
    /// The filter that keeps just the allocations of this colour; `None` if there is none.
    pub query: Option<String>,
}
