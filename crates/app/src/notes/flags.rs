//! Flags on the timeline where there are notes.

use crate::device::{PaneCtx, place};
use crate::theme;
use eframe::egui::{self, Rect, Sense, Shape, Stroke, pos2, vec2};
use oomscope_draw::{MarkLabels, TimelineCanvas};
use oomscope_model::Recording;
use oomscope_report::notes::{Note, Place, Resolver};
use tr::tr;

/// Size of a flag in points: small, but not too small for the pointer.
const FLAG_PX: egui::Vec2 = vec2(9.0, 8.0);

/// Length of the pole in points.
const POLE_PX: f32 = 14.0;

/// Flags nearer than this to another one, in points, could not be told apart.
const MIN_APART_PX: f32 = 3.0;

/// A flag in sight.
struct Flag {
    rect: Rect,
    /// The notes that it stands for, by their numbers.
    notes: Vec<usize>,
}

/// Whether a note is about a device.
fn is_about(recording: &Recording, place: &Place) -> bool {
    match place.device {
        Some(device) => device == recording.device.0,
        None => recording.snapshot().timelines.len() < 2,
    }
}

/// The flags in sight, from left to right.
fn flags(canvas: &TimelineCanvas<'_>, recording: &Recording, notes: &[Note]) -> Vec<Flag> {
    let resolver = Resolver::new(recording);
    let x = |note: &Note| {
        let moment = note.place.moment.filter(|_| is_about(recording, &note.place))?;
        let x = canvas.x_middle(resolver.moment(moment)?).round();
        canvas.rect.x_range().contains(x).then_some(x)
    };
    let mut places: Vec<(f32, usize)> =
        notes.iter().enumerate().filter_map(|(at, note)| Some((x(note)?, at))).collect();
    places.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut flags: Vec<Flag> = Vec::new();
    for (x, at) in places {
        match flags.last_mut() {
            Some(last) if x - last.rect.left() < MIN_APART_PX => last.notes.push(at),
            _ => {
                let rect = Rect::from_min_size(pos2(x, canvas.rect.top()), FLAG_PX);
                flags.push(Flag { rect, notes: vec![at] });
            }
        }
    }
    flags
}

/// Paint the flags. Labels leave room for them.
pub(crate) fn paint(canvas: &TimelineCanvas<'_>, ctx: &PaneCtx<'_>, labels: &mut MarkLabels) {
    let color = theme::color(canvas.palette.accent);
    let painter = canvas.inside();
    for Flag { rect, .. } in flags(canvas, ctx.recording, &ctx.notebook.notes()) {
        painter.vline(rect.left(), rect.top()..=rect.top() + POLE_PX, Stroke::new(1.5, color));
        // At the right edge, the flag flies to the left.
        let tip_px = if canvas.rect.right() < rect.right() { -FLAG_PX.x } else { FLAG_PX.x };
        let tip = rect.left_center() + vec2(tip_px, 0.0);
        let points = vec![rect.left_top(), tip, rect.left_bottom()];
        painter.add(Shape::convex_polygon(points, color, Stroke::NONE));
        labels.reserve(rect);
    }
}

/// Name the notes of the flag under the pointer; a click goes there.
pub(crate) fn ui(ui: &egui::Ui, canvas: &TimelineCanvas<'_>, ctx: &mut PaneCtx<'_>) {
    let (recording, notebook) = (ctx.recording, ctx.notebook);
    let mut wanted = None;
    {
        let notes = notebook.notes();
        for flag in flags(canvas, recording, &notes) {
            let Some(first) = flag.notes.first().and_then(|&at| notes.get(at)) else { continue };
            // For the keyboard there is the pane: Tab is not to stop at every flag.
            let id = ui.scope_id().with(("note", flag.notes.first()));
            let response = ui.interact(flag.rect.expand(2.0), id, Sense::CLICK);
            let name = tr!("Note: {}", first.text);
            response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, &name));
            if response.clicked() {
                wanted = Some(first.place.clone());
            }
            response.on_hover_ui_at_pointer(|ui| {
                for note in flag.notes.iter().filter_map(|&at| notes.get(at)) {
                    ui.label(theme::strong(note.text.clone(), 13.0));
                }
                ui.label(theme::muted(ui, tr!("Click to go there")));
            });
        }
    }
    if let Some(place) = wanted {
        let missing = place::visit(recording, ctx.at, &place);
        if !missing.is_empty() {
            ctx.notify(place::missing_text(&missing));
        }
    }
}
