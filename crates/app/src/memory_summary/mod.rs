//! The pane *Memory summary*: the table of `torch.cuda.memory_summary()` as it would have read at the cursor.

use crate::device::{Pane, PaneCtx};
use crate::theme;
use crate::work::background::Background;
use crate::work::worker::Task;
use eframe::egui::{self, FontSelection, RichText, ScrollArea, TextStyle};
use oomscope_model::{DeviceId, Moment, Recording};
use oomscope_report::{MemorySummary, summary_text};
use oomscope_simulator::Subject;
use std::sync::{Arc, OnceLock};
use tr::tr;

/// The pane's own state, kept between frames.
#[derive(Default)]
pub(crate) struct State {
    tables: Background<TableTask>,
}

/// The table at a moment, and why figures are bounds or missing.
#[derive(Clone)]
struct Table {
    text: Arc<str>,
    limits: Option<&'static str>,
}

/// Replays one device up to a moment.
#[derive(Clone)]
struct TableTask {
    recording: Recording,
    subject: Arc<OnceLock<Subject>>,
}

impl Task for TableTask {
    type Request = Moment;
    type Response = Table;

    fn run(&self, moment: &Moment) -> Table {
        let subject = self.subject.get_or_init(|| Subject::new(&self.recording));
        let summary = MemorySummary::of(&self.recording, subject, *moment);
        Table { text: summary_text(&summary).into(), limits: summary.limits() }
    }
}

impl Pane for State {
    fn ui(&mut self, ui: &mut egui::Ui, ctx: &mut PaneCtx<'_>) {
        if ctx.recording.device == DeviceId::HOST {
            ui.label(tr!(
                "Pinned host memory has another allocator, whose statistics are not in a snapshot."
            ));
            return;
        }
        let task = || TableTask { recording: ctx.recording.clone(), subject: Arc::default() };
        let asked = ctx.at.cursor;
        let found = self.tables.ask(&asked, ui.ctx(), ctx.derived.work_mode, "memory summary", task).cloned();
        // While the cursor moves, the last table stays.
        let Some(table) = found.or_else(|| self.tables.latest().cloned()) else {
            ui.spinner();
            return;
        };
        if let Some(limits) = table.limits {
            ui.label(theme::small(tr!("≥ and –: {limits}.", limits)));
        }
        if ui.button(tr!("Copy")).on_hover_text(tr!("Copy the table as text")).clicked() {
            ui.ctx().copy_text(table.text.to_string());
        }
        ScrollArea::both().auto_shrink([false; 2]).show(ui, |ui| {
            let font = FontSelection::Style(TextStyle::Monospace).resolve(ui.style());
            ui.add(egui::Label::new(RichText::new(&*table.text).font(font)).extend().selectable(true));
        });
    }
}
