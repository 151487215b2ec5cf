//! Painting a flame graph, in the window and in pictures.

use super::layout::{FlameItem, FlameLayout, FlameRect};
use crate::{Palette, Rgb};
use crate::{axis_font, outline};
use egui::epaint::Mesh;
use egui::text::{LayoutJob, TextWrapping};
use egui::{Color32, Galley, Painter, Pos2, Rect, Shape, StrokeKind, pos2};
use oomscope_analysis::{CallTree, FrameNames, NodeIx};
use std::ops::Range;
use std::sync::Arc;

/// Height of a row with the gap below it.
pub const FLAME_ROW_PX: f32 = 20.0;

/// Space between rectangles, so that neighbours of one colour are seen as two.
const GAP_PX: f32 = 1.0;

/// Space around labels.
const LABEL_INSET_PX: f32 = 5.0;

/// Rectangles have a label from this width on: there is room for about three letters.
const MIN_LABEL_PX: f32 = 26.0;

/// Rectangles have a figure beside the label from this width on, where it takes about a third.
const MIN_FIGURE_PX: f32 = 190.0;

/// Share of the ground in the colour of frames that a search does not find, or that lead to nothing that is outlined.
const DIMMED: f32 = 0.75;

/// A flame graph and how to show it.
#[derive(Clone, Copy)]
pub struct FlamePaint<'a> {
    /// The rectangles.
    pub layout: &'a FlameLayout,
    /// The nodes.
    pub tree: &'a CallTree,
    /// The names of frames.
    pub names: &'a FrameNames,
    /// The colour of a node.
    pub color: &'a dyn Fn(NodeIx) -> Rgb,
    /// All other colours.
    pub palette: &'a Palette,
    /// The label of the root.
    pub root_label: &'a str,
    /// The figure of a node with a weight.
    pub figure: &'a dyn Fn(NodeIx, i128) -> String,
    /// The rectangle under the pointer.
    pub hovered: Option<FlameItem>,
    /// The node that is selected.
    pub selected: Option<NodeIx>,
    /// Nodes that are outlined besides, in ascending order. Without a search, what leads to none of them is dimmed.
    pub outlined: &'a [NodeIx],
    /// True for the frames that a search found, by key; all others are dimmed.
    pub found: Option<&'a [bool]>,
}

impl FlamePaint<'_> {
    /// Paint the rows that are in sight, the first one at `origin`.
    pub fn paint(&self, painter: &Painter, origin: Pos2) {
        let rects = self.layout.in_rows(self.rows_in_sight(painter, origin));
        let mut fills = Mesh::default();
        for rect in rects {
            fills.add_colored_rect(place(rect, origin), self.fill(rect).into());
        }
        painter.add(Shape::mesh(fills));
        for rect in rects.iter().filter(|rect| MIN_LABEL_PX <= rect.width_px()) {
            self.label(painter, rect, place(rect, origin));
        }
        let is_outlined =
            |rect: &&FlameRect| rect.node().is_some_and(|node| self.outlined.binary_search(&node).is_ok());
        for rect in rects.iter().filter(is_outlined) {
            for stroke in outline::strokes(self.palette, false) {
                painter.rect_stroke(place(rect, origin), 0.0, stroke, StrokeKind::Inside);
            }
        }
        let outlined = |item: FlameItem| rects.iter().find(|rect| rect.item == item);
        if let Some(rect) = self.selected.and_then(|node| outlined(FlameItem::Single(node))) {
            for stroke in outline::strokes(self.palette, true) {
                painter.rect_stroke(place(rect, origin), 0.0, stroke, StrokeKind::Inside);
            }
        }
        if let Some(rect) = self.hovered.and_then(outlined) {
            for stroke in outline::strokes(self.palette, false) {
                painter.rect_stroke(place(rect, origin), 0.0, stroke, StrokeKind::Inside);
            }
        }
    }

    fn rows_in_sight(&self, painter: &Painter, origin: Pos2) -> Range<usize> {
        let clip = painter.clip_rect();
        let row = |y: f32| ((y - origin.y) / FLAME_ROW_PX).clamp(0.0, self.layout.rows() as f32);
        row(clip.top()).floor() as usize..row(clip.bottom()).ceil() as usize
    }

    fn fill(&self, rect: &FlameRect) -> Rgb {
        let palette = self.palette;
        let dims = self.found.is_some() || !self.outlined.is_empty();
        let (color, is_found) = match rect.item {
            FlameItem::Merged { .. } => (palette.merged, false),
            FlameItem::Single(NodeIx::ROOT) => (palette.line, false),
            FlameItem::Single(node) => {
                let key = self.tree.frame(node).index();
                let is_found = match self.found {
                    Some(found) => found.get(key) == Some(&true),
                    None => self.leads_to_outlined(node),
                };
                ((self.color)(node), is_found)
            }
        };
        let is_selected = rect.node().is_some() && rect.node() == self.selected;
        match (is_selected, dims && !is_found) {
            (true, _) => Palette::lighter(color),
            (false, true) => color.mix(palette.panel, DIMMED),
            (false, false) => color,
        }
    }

    /// Whether an outlined node is this one, or below it.
    fn leads_to_outlined(&self, node: NodeIx) -> bool {
        let below = self.tree.subtree(node);
        let first = self.outlined.partition_point(|outlined| outlined.0 < below.start);
        self.outlined.get(first).is_some_and(|outlined| outlined.0 < below.end)
    }

    fn label(&self, painter: &Painter, rect: &FlameRect, place: Rect) {
        let Some(node) = rect.node() else { return };
        let fill = self.fill(rect);
        let is_dimmed = (self.found.is_some() || !self.outlined.is_empty()) && fill != (self.color)(node);
        let color = if is_dimmed { self.palette.quiet_text_on(fill) } else { Palette::text_on(fill) };
        let mut room = place.width() - 2.0 * LABEL_INSET_PX;
        if MIN_FIGURE_PX <= place.width() {
            let figure = text(painter, &(self.figure)(node, rect.weight), room, color.into());
            room -= figure.size().x + 2.0 * LABEL_INSET_PX;
            let right = place.right() - LABEL_INSET_PX;
            let at = pos2(right - figure.size().x, place.center().y - figure.size().y / 2.0);
            painter.galley(at, figure, color.into());
        }
        let galley = if node == NodeIx::ROOT {
            text(painter, self.root_label, room, color.into())
        } else {
            let name = self.names.get(self.tree.frame(node));
            let whole = text(painter, &self.tree.label(self.names, node), room, color.into());
            if whole.elided { text(painter, name.short(), room, color.into()) } else { whole }
        };
        // An ellipsis with one letter says nothing.
        if galley.elided && galley.rows.first().is_none_or(|row| row.glyphs.len() < 3) {
            return;
        }
        let at = pos2(place.left() + LABEL_INSET_PX, place.center().y - galley.size().y / 2.0);
        painter.galley(at, galley, color.into());
    }
}

/// A line of text that ends with an ellipsis if it does not fit.
fn text(painter: &Painter, text: &str, room_px: f32, color: Color32) -> Arc<Galley> {
    let mut job = LayoutJob::simple_singleline(text.to_owned(), axis_font(), color);
    job.wrap = TextWrapping::truncate_at_width(room_px);
    painter.layout_job(job)
}

/// The place of a rectangle on the screen, at least a point wide.
fn place(rect: &FlameRect, origin: Pos2) -> Rect {
    let top = origin.y + rect.row as f32 * FLAME_ROW_PX;
    let left = origin.x + rect.x[0];
    let right = (origin.x + rect.x[1] - GAP_PX).max(left + GAP_PX);
    Rect::from_min_max(pos2(left, top), pos2(right, top + FLAME_ROW_PX - GAP_PX))
}
