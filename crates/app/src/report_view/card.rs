//! One finding as a card: the lines of code, what to change, and the evidence folded.

use super::parts;
use super::target::Target;
use crate::device::Outline;
use crate::theme;
use eframe::egui::{self, Rect, pos2, vec2};
use oomscope_diagnosis::{Finding, Severity};
use oomscope_draw::Rgb;
use oomscope_model::{StackId, Timeline};
use oomscope_remedies::Predictions;
use oomscope_report::{Fix, kind_text};
use oomscope_units as units;
use tr::tr;

/// Width of the coloured left edge, in points.
const EDGE_PX: f32 = 3.0;

/// Lines of code that the verdict names before it is unfolded: with these it fits on a screen.
const FIRST_LINES: usize = 4;

/// A finding with everything that its card needs.
pub(super) struct Card<'a> {
    pub(super) finding: &'a Finding,
    /// The stack that each of its lines of code selects.
    pub(super) site_stacks: &'a [Option<StackId>],
    pub(super) timeline: &'a Timeline,
    /// The memory that is outlined, if any is.
    pub(super) outlined: Option<&'a Outline>,
    /// What was simulated, once it is.
    pub(super) predictions: Option<&'a Predictions>,
}

impl Card<'_> {
    /// The verdict: why, which line, what to change; the evidence is folded. The header says the title of the verdict on
    /// the whole recording, so it is not said again.
    pub(super) fn verdict_ui(
        &self,
        ui: &mut egui::Ui,
        fix: Option<&Fix>,
        is_in_header: bool,
    ) -> Option<Target> {
        let mut target = None;
        self.edge_ui(ui, |ui| {
            if !is_in_header {
                ui.add(egui::Label::new(theme::strong(self.finding.title.text(), 14.0)).wrap());
            }
            ui.label(theme::muted(ui, kind_text(self.finding.severity, self.finding.id)).size(11.0));
            if let Some(why) = &self.finding.why {
                parts::text_ui(ui, why.text());
            }
            self.outline_ui(ui, &mut target);
            parts::sites_ui(ui, self.finding, self.site_stacks, FIRST_LINES, &mut target);
            let is_advised = fix.is_some_and(|fix| fix.is_advice);
            let others = self.finding.advice.get(usize::from(is_advised)..).unwrap_or_default();
            if let Some(fix) = fix {
                parts::fix_ui(ui, fix);
                parts::simulated_ui(ui, fix, &mut target);
            }
            ui.add_space(4.0);
            parts::fold_ui(ui, egui::RichText::new(tr!("Evidence")), |ui| {
                self.finding.explanation.iter().for_each(|sentence| parts::text_ui(ui, sentence.text()));
                parts::advice_ui(ui, &tr!("What else to try"), others);
                if FIRST_LINES < self.finding.evidence.sites.len() {
                    parts::sites_ui(ui, self.finding, self.site_stacks, parts::MAX_ROWS, &mut target);
                }
                self.evidence_ui(ui, &mut target);
            });
        });
        target
    }

    /// The verdict in short: why, the first lines, and what it advises, unless that was simulated.
    pub(super) fn short_ui(&self, ui: &mut egui::Ui, fix: Option<&Fix>) -> Option<Target> {
        let mut target = None;
        self.edge_ui(ui, |ui| {
            if let Some(why) = &self.finding.why {
                parts::text_ui(ui, why.text());
            }
            parts::first_sites_ui(ui, self.finding, self.site_stacks, &mut target);
            self.outline_ui(ui, &mut target);
            if let Some(fix) = fix.filter(|fix| fix.is_advice && fix.simulated.is_none()) {
                parts::fix_ui(ui, fix);
            }
        });
        target
    }

    /// Another finding: its title, and the rest below it once it is unfolded.
    pub(super) fn folded_ui(&self, ui: &mut egui::Ui) -> Option<Target> {
        let mut target = None;
        self.edge_ui(ui, |ui| {
            let title = format!("{}: {}", severity_text(self.finding.severity), self.finding.title.text());
            parts::fold_ui(ui, egui::RichText::new(title), |ui| {
                let words = self.finding.why.iter().chain(&self.finding.explanation);
                words.for_each(|sentence| parts::text_ui(ui, sentence.text()));
                self.outline_ui(ui, &mut target);
                parts::sites_ui(ui, self.finding, self.site_stacks, parts::MAX_ROWS, &mut target);
                parts::advice_ui(ui, &tr!("What to do"), &self.finding.advice);
                self.evidence_ui(ui, &mut target);
            });
        });
        target
    }

    fn evidence_ui(&self, ui: &mut egui::Ui, target: &mut Option<Target>) {
        parts::numbers_ui(ui, self.finding, target);
        parts::allocations_ui(ui, self.finding, self.timeline, target);
        parts::events_ui(ui, self.finding, target);
        parts::notes_ui(ui, self.finding, self.predictions);
    }

    /// The switch that shows the memory of the finding in all views.
    fn outline_ui(&self, ui: &mut egui::Ui, target: &mut Option<Target>) {
        let about = &self.finding.evidence.about;
        if about.is_empty() {
            return;
        }
        let is_shown = self.outlined.is_some_and(|outline| outline.is_of(self.finding));
        let text = tr!(
            "Show this {} block in all views" | "Show these {} blocks in all views" % about.len(),
            units::count(about.len() as u64)
        );
        let hint = tr!(
            "Outline the blocks that this is about in the timeline, the segment map and the flame graph, \
                    zoom to their lifetime, and fade all others"
        );
        let switch = egui::Button::selectable(is_shown, theme::small(text)).frame_when_inactive(true);
        if ui.add(switch).on_hover_text(hint).clicked() {
            *target = Some(Target::Outline);
        }
    }

    /// Contents with the colour of the severity at their left.
    fn edge_ui(&self, ui: &mut egui::Ui, contents: impl FnOnce(&mut egui::Ui)) {
        let frame = egui::Frame::NONE.inner_margin(egui::Margin { left: 12, right: 0, top: 2, bottom: 8 });
        let area = frame.show(ui, |ui| {
            ui.set_width(ui.available_width());
            contents(ui);
        });
        let all = area.response.rect;
        let edge = Rect::from_min_size(all.min, vec2(EDGE_PX, (all.height() - 4.0).max(0.0)));
        debug_assert!(edge.contains(pos2(all.left(), all.top())));
        ui.painter().rect_filled(edge, 1.0, theme::color(edge_color(ui, self.finding.severity)));
    }
}

fn severity_text(severity: Severity) -> String {
    units::capitalised(severity.name())
}

/// The colour of a severity. Red is kept for memory that ran out.
fn edge_color(ui: &egui::Ui, severity: Severity) -> Rgb {
    let palette = theme::palette(ui);
    match severity {
        Severity::Critical => palette.oom,
        Severity::Warning => palette.text,
        Severity::Info => palette.line,
    }
}
