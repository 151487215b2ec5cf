//! A picture of the timeline: stacked bands with their axes, totals and marks.

use super::{Entry, Mark, Page, Sheet, SiteList};
use crate::draw::software::Pixels;
use crate::draw::{Axis, Bands, Canvas, Labels, Painted, Palette, View};
use crate::model::{AllocId, Moment, Timeline};
use egui::emath::GuiRounding as _;
use egui::{Color32, ColorImage, Rect, Stroke, TextureHandle, TextureOptions, Ui, pos2};
use std::ops::Range;

/// Room for the labels of the axes.
const LEFT: f32 = 64.0;
const BOTTOM: f32 = 24.0;

/// Air above the highest total.
const HEADROOM: f64 = 1.06;

/// What is shown.
#[derive(Clone, Copy)]
pub struct TimelinePicture<'a, B> {
    /// Of which device.
    pub timeline: &'a Timeline,
    /// Which part of it.
    pub view: View,
    /// What is stacked.
    pub bands: &'a B,
    /// Where the cursor is, if one is shown.
    pub cursor: Option<Moment>,
    /// The allocation that is outlined.
    pub selected: Option<AllocId>,
    /// What fills the memory, beside the timeline.
    pub sites: Option<&'a SiteList>,
}

/// Part of a timeline: some moments, and as many bytes as there are in them.
pub fn view_of(timeline: &Timeline, axis: Axis, moments: Option<Range<Moment>>) -> View {
    let full = View::fit_on(timeline, axis);
    let Some(Range { start, end }) = moments else { return full };
    let position = |moment: Moment| full.on(timeline).position_from_moment(f64::from(moment.0));
    let view = full.of_range(position(start), position(end), &full);
    let moments = start.index()..end.index().min(timeline.moments());
    let active = timeline.active.peak_in(moments.clone()).map_or(0, |(_, bytes)| bytes);
    let failed = timeline.ooms.iter().map(|oom| (Moment::after(oom.event), oom.requested.max(0)));
    let failed = failed
        .filter(|(at, _)| moments.contains(&at.index()))
        .map(|(at, requested)| timeline.active.at(at).saturating_add(requested));
    let top = failed.fold(active.max(timeline.reserved.max_in(moments.clone())), i64::max);
    View { y1: (top as f64 * HEADROOM).max(view.y0 + 512.0).min(full.y1), ..view }
}

/// What the lines mean, and the colours of blocks that have none of their own. `by_stack` says
/// whether colours stand for stacks.
pub fn timeline_legend(timeline: &Timeline, view: &View, palette: &Palette, by_stack: bool) -> Vec<Entry> {
    let mut entries = vec![
        Entry::new(Mark::Line, palette.allocated, "allocated"),
        Entry::new(Mark::Line, palette.reserved, "reserved"),
        Entry::new(Mark::Area, palette.merged, "thinner than a pixel"),
    ];
    if by_stack {
        entries.push(Entry::new(Mark::Area, palette.unknown, "no stack"));
    }
    entries.extend(mark_legend(timeline, view, palette));
    entries
}

/// The marks that are in a view.
pub(super) fn mark_legend(timeline: &Timeline, view: &View, palette: &Palette) -> Vec<Entry> {
    let scale = view.on(timeline);
    let is_shown = |moment: Moment| {
        let (from, to) = scale.positions_of(moment);
        view.x0 <= to && from < view.x1
    };
    let mut entries = Vec::new();
    if !timeline.events.is_empty() && is_shown(timeline.active.peak().0) {
        entries.push(Entry::new(Mark::Dashes, palette.peak, "peak"));
    }
    if timeline.ooms.iter().any(|oom| is_shown(Moment::after(oom.event))) {
        entries.push(Entry::new(Mark::Line, palette.oom, "out of memory"));
    }
    entries
}

impl<B: Bands> TimelinePicture<'_, B> {
    /// Paint it on a sheet.
    pub fn paint(&self, sheet: &Sheet<'_>, page: &Page) -> Pixels {
        // Both passes of the layout come to the same place.
        let mut painted: Option<(Rect, Painted, TextureHandle)> = None;
        page.paint(sheet, |ui, rect| {
            let rect = self.beside(ui, rect, sheet);
            let known = painted.take().filter(|(at, ..)| *at == rect);
            let (_, picture, texture) = painted.insert(known.unwrap_or_else(|| self.raster(ui, rect, sheet)));
            self.shapes(ui, rect, sheet.palette, picture, texture);
        })
    }

    /// The list of sites at the right where there is room; returns the place of the view.
    fn beside(&self, ui: &Ui, rect: Rect, sheet: &Sheet<'_>) -> Rect {
        let mut view = rect;
        if let Some((sites, width)) = self.sites.and_then(|sites| Some((sites, SiteList::width(rect)?))) {
            view.max.x -= width + 20.0;
            sites.paint(ui.painter(), rect.with_min_x(rect.right() - width), sheet.palette);
        }
        let min = pos2(view.left() + LEFT, view.top() + 1.0);
        Rect::from_min_max(min, pos2(view.right() - 1.0, view.bottom() - BOTTOM)).round_to_pixels(sheet.scale)
    }

    fn raster(&self, ui: &Ui, rect: Rect, sheet: &Sheet<'_>) -> (Rect, Painted, TextureHandle) {
        let size_px =
            [rect.width(), rect.height()].map(|side| (side * sheet.scale).round().max(1.0) as usize);
        let picture = Painted::paint(self.timeline, &self.view, size_px, sheet.palette, self.bands);
        // Pixels are opaque or empty, for which both ways to multiply are the same.
        let image = ColorImage::from_rgba_premultiplied(size_px, &picture.raster.rgba);
        let texture = ui.ctx().load_texture("timeline", image, TextureOptions::NEAREST);
        (rect, picture, texture)
    }

    fn shapes(&self, ui: &Ui, rect: Rect, palette: &Palette, picture: &Painted, texture: &TextureHandle) {
        let timeline = self.timeline;
        let canvas = Canvas { painter: ui.painter(), rect, view: &self.view, timeline, palette };
        canvas.grid();
        canvas.picture(picture, texture.id());
        if let Some(id) = self.selected {
            canvas.outline(picture, &picture.raster.spans(id), true);
        }
        let allocated = Color32::from(palette.allocated).gamma_multiply(0.55);
        canvas.total(picture, &picture.totals.reserved, Stroke::new(1.5, Color32::from(palette.reserved)));
        canvas.total(picture, &picture.totals.allocated, Stroke::new(1.0, allocated));
        marks(&canvas, self.cursor);
    }
}

/// Frame, OOMs, peak and cursor.
pub(super) fn marks(canvas: &Canvas<'_>, cursor: Option<Moment>) {
    canvas.frame();
    let mut labels = Labels::default();
    canvas.ooms(&mut labels);
    if !canvas.timeline.events.is_empty() {
        canvas.peak(canvas.timeline.active.peak(), &mut labels);
    }
    if let Some(moment) = cursor {
        canvas.cursor(moment);
    }
    canvas.labels(labels);
}
