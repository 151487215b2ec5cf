//! Fonts, sizes and colours of the window. No other file of the window makes colours.

use eframe::egui::{self, Color32, CornerRadius, FontFamily, FontId, Stroke, TextStyle, Theme};
use oomscope_draw::{Palette, Raster, Rgb, axis_font as small_font, fonts};

/// Set up both themes. The system decides between them until the user does.
pub(super) fn install(ctx: &egui::Context) {
    ctx.set_fonts(fonts::definitions());
    for (theme, palette) in [(Theme::Dark, &Palette::DARK), (Theme::Light, &Palette::LIGHT)] {
        ctx.style_mut_of(theme, |style| restyle(style, palette));
    }
}

/// The palette of the theme in use.
pub(super) fn palette(ui: &egui::Ui) -> &'static Palette {
    if ui.visuals().dark_mode { &Palette::DARK } else { &Palette::LIGHT }
}

/// The palette of a theme.
pub(super) fn palette_of(theme: Theme) -> &'static Palette {
    if theme == Theme::Dark { &Palette::DARK } else { &Palette::LIGHT }
}

/// A palette colour for egui.
pub(super) fn color(rgb: Rgb) -> Color32 {
    rgb.into()
}

/// A palette colour that the ground shines through; `opacity` is from 0 to 1.
pub(super) fn faded(rgb: Rgb, opacity: f32) -> Color32 {
    color(rgb).gamma_multiply(opacity)
}

/// Text that stands out.
pub(super) fn strong(text: impl Into<String>, size: f32) -> egui::RichText {
    egui::RichText::new(text).font(FontId::new(size, FontFamily::Name(fonts::SEMIBOLD.into())))
}

/// Text of the tools above a pane, smaller than that of its contents.
pub(super) fn small(text: impl Into<String>) -> egui::RichText {
    egui::RichText::new(text).size(12.0)
}

/// Less important text.
pub(super) fn muted(ui: &egui::Ui, text: impl Into<String>) -> egui::RichText {
    egui::RichText::new(text).color(color(palette(ui).muted))
}

/// The font of axes and markers.
pub(super) fn axis_font() -> FontId {
    small_font()
}

/// A frame for a panel.
pub(super) fn panel_frame(ui: &egui::Ui, margin_x: i8, margin_y: i8) -> egui::Frame {
    egui::Frame::NONE.fill(color(palette(ui).panel)).inner_margin(egui::Margin::symmetric(margin_x, margin_y))
}

/// Space above and below the contents of a pane, in points.
pub(super) const PANE_MARGIN_PX: i8 = 8;

/// A frame for the contents of a pane.
pub(super) fn pane_frame(ui: &egui::Ui) -> egui::Frame {
    panel_frame(ui, 10, PANE_MARGIN_PX)
}

/// A frame around code or a list.
pub(super) fn well_frame(ui: &egui::Ui) -> egui::Frame {
    let palette = palette(ui);
    egui::Frame::NONE
        .fill(color(palette.window))
        .stroke(Stroke::new(1.0, color(palette.line)))
        .corner_radius(6.0)
        .inner_margin(egui::Margin::symmetric(12, 10))
}

fn restyle(style: &mut egui::Style, palette: &Palette) {
    style.text_styles = [
        (TextStyle::Small, FontId::proportional(11.0)),
        (TextStyle::Body, FontId::proportional(13.0)),
        (TextStyle::Button, FontId::proportional(13.0)),
        (TextStyle::Heading, FontId::new(18.0, FontFamily::Name(fonts::SEMIBOLD.into()))),
        (TextStyle::Monospace, FontId::monospace(12.0)),
    ]
    .into();
    style.spacing.item_spacing = egui::vec2(8.0, 4.0);
    style.spacing.button_padding = egui::vec2(10.0, 4.0);
    style.spacing.interact_size.y = 24.0;
    // Figures under the pointer are read by moving it, so tooltips come at once.
    style.interaction.tooltip_delay = 0.0;
    style.interaction.selectable_labels = true;
    recolor(&mut style.visuals, palette);
}

fn recolor(visuals: &mut egui::Visuals, palette: &Palette) {
    let (panel, line, text) = (color(palette.panel), color(palette.line), color(palette.text));
    visuals.panel_fill = panel;
    visuals.window_fill = panel;
    visuals.window_stroke = Stroke::new(1.0, line);
    visuals.extreme_bg_color = color(palette.window);
    visuals.code_bg_color = color(palette.window);
    visuals.faint_bg_color = color(palette.faint());
    visuals.hyperlink_color = color(palette.accent);
    visuals.error_fg_color = color(palette.oom);
    visuals.warn_fg_color = color(palette.peak);
    visuals.weak_text_color = Some(color(palette.muted));
    visuals.selection.bg_fill = color(palette.chosen());
    visuals.selection.stroke = Stroke::new(1.0, text);
    let widgets = &mut visuals.widgets;
    let [flat, resting, open, hovered] = Palette::WIDGET_SHARES;
    let shades = [
        (&mut widgets.noninteractive, flat, line),
        (&mut widgets.inactive, resting, line),
        (&mut widgets.hovered, hovered, color(palette.muted)),
        (&mut widgets.active, hovered, color(palette.accent)),
        (&mut widgets.open, open, color(palette.muted)),
    ];
    for (widget, share, border) in shades {
        let fill = color(palette.widget(share));
        widget.bg_fill = fill;
        widget.weak_bg_fill = fill;
        widget.bg_stroke = Stroke::new(1.0, border);
        widget.fg_stroke = Stroke::new(1.0, text);
        widget.corner_radius = CornerRadius::same(5);
        widget.expansion = 0.0;
    }
}

/// A picture for egui.
pub(super) fn image(raster: &Raster) -> egui::ColorImage {
    // Pixels are opaque or empty, for which both ways to multiply are the same.
    egui::ColorImage::from_rgba_premultiplied(raster.size_px, &raster.rgba)
}
