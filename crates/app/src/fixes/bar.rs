//! A fix to scale: what is reserved with it, as recorded, and at most.

use crate::theme;
use eframe::egui::{self, Rect, Sense, Stroke, StrokeKind, pos2, vec2};
use oomscope_units as units;
use tr::tr;

/// Height of a bar, in points.
const HEIGHT_PX: f32 = 14.0;

/// Room beyond the largest of all bars, as a factor: the line of the capacity stays in sight.
const AIR: f64 = 1.04;

/// The bytes of a bar.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bar {
    /// Reserved at most with the fix.
    pub(super) predicted: u64,
    /// Reserved at most by the program as it is.
    pub(super) recorded: u64,
    /// What may be reserved, if that is known.
    pub(super) capacity: Option<u64>,
    /// The bytes of the whole width: the most of all bars.
    pub(super) scale: u64,
    /// Whether the fix is enough; `None` if that is not known.
    pub(super) fits: Option<bool>,
}

impl Bar {
    /// Paint it in a width in points: full up to what is predicted, an outline up to what was recorded, and a line at the capacity.
    pub(super) fn ui(&self, ui: &mut egui::Ui, width_px: f32) {
        let (all, response) = ui.allocate_exact_size(vec2(width_px, HEIGHT_PX), Sense::hover());
        let palette = theme::palette(ui);
        let x = |bytes: u64| {
            let share = bytes as f64 / (self.scale.max(1) as f64 * AIR);
            all.left() + (share.min(1.0) * f64::from(all.width())) as f32
        };
        let part = |bytes| Rect::from_min_max(all.min + vec2(0.0, 2.0), pos2(x(bytes), all.bottom() - 2.0));
        let painter = ui.painter();
        let fill = if self.fits == Some(false) { palette.oom } else { palette.accent };
        painter.rect_filled(part(self.predicted), 1.0, theme::color(fill));
        let line = Stroke::new(1.0, theme::color(palette.muted));
        painter.rect_stroke(part(self.recorded), 1.0, line, StrokeKind::Inside);
        if let Some(capacity) = self.capacity {
            let stroke = Stroke::new(2.0, theme::color(palette.text));
            painter.vline(x(capacity), all.y_range(), stroke);
        }
        let words = self.words();
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, &words));
        response.on_hover_text(words);
    }

    /// `13.3 GiB reserved, 22.8 GiB as it is, 23.6 GiB at most`.
    fn words(&self) -> String {
        let bytes = |bytes: u64| units::bytes(i64::try_from(bytes).unwrap_or(i64::MAX));
        let (reserved, as_it_is) = (bytes(self.predicted), bytes(self.recorded));
        match self.capacity {
            Some(most) => tr!(
                "{reserved} reserved, {as_it_is} as it is, {most} at most",
                reserved,
                as_it_is,
                most = bytes(most)
            ),
            None => tr!("{reserved} reserved, {as_it_is} as it is", reserved, as_it_is),
        }
    }
}
