//! A picture of a flame graph.

use super::{LegendEntry, LegendMark, Page, PictureSheet, SiteList};
use crate::software::Pixels;
use crate::{FLAME_ROW_PX, FlameOrder, FlamePaint, FlameView, NodeColors, Palette, axis_font, flame_layout};
use egui::emath::GuiRounding as _;
use egui::{Align2, Color32, pos2};
use oomscope_analysis::{CallTree, FrameNames, NodeIx};

/// Room in points for the note below the graph.
const NOTE_PT: f32 = 18.0;

/// The content of a picture of a flame graph.
#[derive(Clone, Copy)]
pub struct FlamePicture<'a> {
    /// The stacks.
    pub tree: &'a CallTree,
    /// The weight of every node with everything below it.
    pub weights: &'a [i128],
    /// The names of frames.
    pub names: &'a FrameNames,
    /// The colours of nodes.
    pub colors: &'a NodeColors,
    /// The label of the root: the measure and its total.
    pub summary: &'a str,
    /// A weight as text.
    pub figure: &'a dyn Fn(i128) -> String,
    /// The node that fills the whole width.
    pub zoom: NodeIx,
    /// The node that is outlined.
    pub selected: Option<NodeIx>,
    /// Nodes that are outlined besides, in ascending order. Without a search, what leads to none of them is dimmed.
    pub outlined: &'a [NodeIx],
    /// True for the frames that are highlighted, by key; all others are dimmed.
    pub found: Option<&'a [bool]>,
    /// The list of sites beside the graph.
    pub sites: Option<&'a SiteList>,
}

/// The legend of the surfaces.
pub fn flame_legend(palette: &Palette) -> Vec<LegendEntry> {
    vec![LegendEntry::new(LegendMark::Area, palette.merged, "frames thinner than a pixel")]
}

impl FlamePicture<'_> {
    /// Paint it on a sheet.
    pub fn paint(&self, sheet: &PictureSheet<'_>, page: &Page) -> Pixels {
        page.paint(sheet, |ui, rect| {
            let rect = SiteList::beside(self.sites, ui.painter(), rect, sheet.palette);
            let place = rect.with_max_y(rect.bottom() - NOTE_PT).round_to_pixels(sheet.scale);
            let max_rows = (place.height() / FLAME_ROW_PX).max(0.0) as usize;
            let (zoom, width_px) = (self.zoom, place.width());
            let view = FlameView { zoom, width_px, max_rows, order: FlameOrder::ByWeight };
            let layout = flame_layout(self.tree, self.weights, &view);
            let paint = FlamePaint {
                outlined: self.outlined,
                layout: &layout,
                tree: self.tree,
                names: self.names,
                color: &|node| self.colors.get(node),
                palette: sheet.palette,
                root_label: self.summary,
                figure: &|_, weight| (self.figure)(weight),
                hovered: None,
                selected: self.selected.filter(|&node| node != zoom),
                found: self.found,
            };
            paint.paint(&ui.painter().with_clip_rect(place.expand(1.0)), place.min);
            let note = match (layout.rows(), layout.is_cut) {
                (0, _) => "Nothing was allocated here.",
                (_, true) => "Deeper frames do not fit on this picture.",
                (_, false) => "",
            };
            let at = pos2(rect.left(), rect.bottom() - NOTE_PT / 2.0);
            let muted = Color32::from(sheet.palette.muted);
            ui.painter().text(at, Align2::LEFT_CENTER, note, axis_font(), muted);
        })
    }
}
