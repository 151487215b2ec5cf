//! A flame graph as rectangles: every node of a call tree is as wide as its weight, and stands below its
//! parent.

use oomscope_analysis::{CallTree, NodeIx};
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

/// The part of a call tree that a layout shows, and its measures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FlameView {
    /// The node that fills the whole width.
    pub zoom: NodeIx,
    /// The width in pixels.
    pub width_px: f32,
    /// The largest number of rows, with that of the zoomed node.
    pub max_rows: usize,
    /// The order of nodes with the same parent.
    pub order: FlameOrder,
}

/// The node or nodes that a rectangle stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlameItem {
    /// One node.
    Single(NodeIx),
    /// Neighbours that are each thinner than a pixel.
    Merged {
        /// Their parent.
        parent: NodeIx,
        /// Their number.
        count: u32,
    },
}

/// A rectangle, one row high.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FlameRect {
    /// Rows from the top.
    pub row: usize,
    /// Left and right edge, in pixels.
    pub x: [f32; 2],
    /// Its weight, in the unit of the call tree's weights.
    pub weight: i128,
    /// Its node or nodes.
    pub item: FlameItem,
}

impl FlameRect {
    /// Its width in pixels.
    pub fn width_px(&self) -> f32 {
        self.x[1] - self.x[0]
    }

    /// Its node; `None` if it stands for several.
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
    /// The end of each row in `rects`.
    row_ends: Vec<usize>,
    /// True if the tree has more rows than [`FlameView::max_rows`].
    pub is_cut: bool,
}

/// Thinner nodes are drawn together with their neighbours, since they could not be seen alone.
const MIN_WIDTH_PX: f64 = 1.0;

/// Lay out a node and everything below it. Nodes with a weight of 0 or less are left out.
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
    // Weights below zero, as of negative sizes in the file, can make the children heavier than their
    // parent. Those that do not fit are left out.
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

    /// The rectangles of some rows, as far as they exist.
    pub fn in_rows(&self, rows: Range<usize>) -> &[FlameRect] {
        let end_of = |row: usize| row.checked_sub(1).map_or(0, |row| self.row_ends[row.min(self.rows() - 1)]);
        if self.row_ends.is_empty() || rows.end <= rows.start {
            return &[];
        }
        &self.rects[end_of(rows.start)..end_of(rows.end)]
    }

    /// The rectangle in a row at a number of pixels from the left.
    pub fn at(&self, row: usize, x_px: f32) -> Option<&FlameRect> {
        let rects = self.in_rows(row..row.saturating_add(1));
        let behind = rects.partition_point(|rect| rect.x[0] <= x_px);
        let rect = rects.get(behind.checked_sub(1)?)?;
        // Rectangles are drawn at least a pixel wide.
        (x_px < rect.x[1].max(rect.x[0] + MIN_WIDTH_PX as f32)).then_some(rect)
    }

    /// The rectangle of a node; `None` if it has none of its own.
    pub fn rect_of(&self, node: NodeIx) -> Option<&FlameRect> {
        self.rects.iter().find(|rect| rect.node() == Some(node))
    }
}

#[cfg(test)]
#[path = "layout_tests.rs"]
mod tests;
