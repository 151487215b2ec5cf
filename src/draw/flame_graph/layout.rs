//! A flame graph as rectangles: every node of a call tree as wide as what it weighs, below the node
//! that called it.

use crate::analysis::{CallTree, NodeIx};
use std::cmp::Reverse;
use std::ops::Range;

/// The order of nodes with the same parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum FlameOrder {
    /// Most weight first, then by name.
    #[default]
    ByWeight,
    /// By name, so that nodes stay where they are while weights change.
    ByName,
}

/// What a layout shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FlameView {
    /// The node that fills the whole width.
    pub zoom: NodeIx,
    /// The width in pixels.
    pub width_px: f32,
    /// The most rows, that of the zoomed node included.
    pub max_rows: usize,
    /// The order of nodes with the same parent.
    pub order: FlameOrder,
}

/// What a rectangle stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlameItem {
    /// One node.
    Single(NodeIx),
    /// Neighbours that are each thinner than a pixel.
    Merged {
        /// The node above all of them.
        parent: NodeIx,
        /// How many they are.
        count: u32,
    },
}

/// A rectangle, one row high.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FlameRect {
    /// Rows from the top.
    pub row: usize,
    /// From left to right, in pixels.
    pub x: [f32; 2],
    /// What it weighs.
    pub weight: i128,
    /// What it stands for.
    pub item: FlameItem,
}

impl FlameRect {
    /// Pixels from left to right.
    pub fn width_px(&self) -> f32 {
        self.x[1] - self.x[0]
    }

    /// The node, unless it stands for several.
    pub fn node(&self) -> Option<NodeIx> {
        match self.item {
            FlameItem::Single(node) => Some(node),
            FlameItem::Merged { .. } => None,
        }
    }
}

/// A flame graph of a certain width.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FlameLayout {
    rects: Vec<FlameRect>,
    /// Where each row ends in `rects`.
    row_ends: Vec<usize>,
    /// Whether there are more rows than were asked for.
    pub is_cut: bool,
}

/// A node that is thinner is drawn together with its neighbours.
const MIN_WIDTH_PX: f64 = 1.0;

/// Lay out a node and everything below it. Nodes that weigh nothing, or less, are not there.
pub fn flame_layout(tree: &CallTree, weights: &[i128], view: &FlameView) -> FlameLayout {
    let mut layout = FlameLayout::default();
    let total = weight(weights, view.zoom);
    if total <= 0 || !(MIN_WIDTH_PX..f64::INFINITY).contains(&f64::from(view.width_px)) {
        return layout;
    }
    let px_per_weight = f64::from(view.width_px) / total as f64;
    let mut row = vec![Placed { item: FlameItem::Single(view.zoom), left: 0.0, weight: total }];
    while !row.is_empty() {
        if layout.rows() == view.max_rows {
            layout.is_cut = true;
            break;
        }
        layout.push_row(&row, px_per_weight, view.width_px);
        let mut next = Vec::new();
        for placed in &row {
            if let FlameItem::Single(node) = placed.item {
                place_children(tree, weights, view.order, (node, placed), px_per_weight, &mut next);
            }
        }
        row = next;
    }
    layout
}

/// A rectangle before its edges are rounded.
struct Placed {
    item: FlameItem,
    left: f64,
    weight: i128,
}

fn weight(weights: &[i128], node: NodeIx) -> i128 {
    weights.get(node.index()).copied().unwrap_or(0)
}

fn place_children(
    tree: &CallTree,
    weights: &[i128],
    order: FlameOrder,
    (parent, place): (NodeIx, &Placed),
    px_per_weight: f64,
    out: &mut Vec<Placed>,
) {
    let children = tree.children(parent).map(|child| (child, weight(weights, child)));
    let mut children: Vec<(NodeIx, i128)> = children.filter(|&(_, weight)| 0 < weight).collect();
    if order == FlameOrder::ByWeight {
        children.sort_by_key(|&(child, weight)| (Reverse(weight), child));
    }
    // Below zero and above it can only come together where sizes are negative: then what does not
    // fit is left out.
    let mut room = place.weight;
    let mut done = 0i128;
    for (child, weight) in children {
        let weight = weight.min(room);
        if weight <= 0 {
            break;
        }
        let at = place.left + done as f64 * px_per_weight;
        let is_thin = weight as f64 * px_per_weight < MIN_WIDTH_PX;
        match out.last_mut() {
            Some(Placed { item: FlameItem::Merged { parent: of, count }, weight: merged, .. })
                if is_thin && *of == parent =>
            {
                *count += 1;
                *merged += weight;
            }
            _ if is_thin => {
                out.push(Placed { item: FlameItem::Merged { parent, count: 1 }, left: at, weight });
            }
            _ => out.push(Placed { item: FlameItem::Single(child), left: at, weight }),
        }
        room -= weight;
        done += weight;
    }
}

impl FlameLayout {
    fn push_row(&mut self, placed: &[Placed], px_per_weight: f64, width_px: f32) {
        let row = self.row_ends.len();
        let edge = |x: f64| (x as f32).min(width_px);
        self.rects.extend(placed.iter().map(|p| FlameRect {
            row,
            x: [edge(p.left), edge(p.left + p.weight as f64 * px_per_weight)],
            weight: p.weight,
            item: p.item,
        }));
        self.row_ends.push(self.rects.len());
    }

    /// All rectangles, row by row and from left to right.
    pub fn rects(&self) -> &[FlameRect] {
        &self.rects
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.row_ends.len()
    }

    /// The rectangles of some rows.
    pub fn in_rows(&self, rows: Range<usize>) -> &[FlameRect] {
        let end_of = |row: usize| row.checked_sub(1).map_or(0, |row| self.row_ends[row.min(self.rows() - 1)]);
        if self.row_ends.is_empty() || rows.end <= rows.start {
            return &[];
        }
        &self.rects[end_of(rows.start)..end_of(rows.end)]
    }

    /// The rectangle at a number of pixels from the left of a row.
    pub fn at(&self, row: usize, x_px: f32) -> Option<&FlameRect> {
        let rects = self.in_rows(row..row.saturating_add(1));
        let behind = rects.partition_point(|rect| rect.x[0] <= x_px);
        let rect = rects.get(behind.checked_sub(1)?)?;
        // What is drawn is never thinner than a pixel.
        (x_px < rect.x[1].max(rect.x[0] + MIN_WIDTH_PX as f32)).then_some(rect)
    }

    /// The rectangle of a node.
    pub fn rect_of(&self, node: NodeIx) -> Option<&FlameRect> {
        self.rects.iter().find(|rect| rect.node() == Some(node))
    }
}

#[cfg(test)]
#[path = "layout_tests.rs"]
mod tests;
