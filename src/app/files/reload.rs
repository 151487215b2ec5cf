//! Loading an open file again: when it changed on the disk, or when the user wants to. The old
//! version stays until the new one is there.

use super::watch::OnDisk;
use crate::analysis::same_event;
use crate::app::command::Command;
use crate::app::device::history::NavState;
use crate::app::device::{Selection, Standpoint};
use crate::app::panes::OpenDevice;
use crate::app::theme;
use crate::draw::View;
use crate::load::{FileStamp, Input, LoadError, LoadJob};
use crate::model::{EventIx, Moment, Snapshot, StackId, Timeline};
use crate::units;
use eframe::egui::{self, Panel};
use std::sync::Arc;

/// What is known of the file's versions.
#[derive(Default)]
pub(in crate::app) struct Reload {
    /// The version that is shown.
    pub(in crate::app) shown: Option<FileStamp>,
    /// A version that the user does not want to see.
    ignored: Option<FileStamp>,
    job: Option<LoadJob>,
    failure: Option<String>,
}

impl Reload {
    /// Start loading, unless that is going on.
    pub(in crate::app) fn start(&mut self, input: &Input, ctx: &egui::Context) {
        if self.job.is_some() {
            return;
        }
        let waker = ctx.clone();
        self.failure = None;
        match LoadJob::start(input.clone(), move || waker.request_repaint()) {
            Ok(job) => self.job = Some(job),
            Err(error) => self.failure = Some(format!("cannot start a thread: {error}")),
        }
    }

    /// The new version, once.
    pub(in crate::app) fn poll(&mut self) -> Option<Arc<Snapshot>> {
        let job = self.job.as_ref()?;
        if job.progress().is_cancelled() {
            self.job = None;
            return None;
        }
        let outcome = job.poll()?;
        let stamp = job.stamp();
        self.job = None;
        match outcome {
            Ok(snapshot) => {
                self.shown = stamp;
                Some(snapshot)
            }
            Err(LoadError::Cancelled { .. }) => None,
            Err(error) => {
                self.failure = Some(units::printable(&error.to_string()));
                None
            }
        }
    }

    /// Whether a version is loading.
    pub(in crate::app) fn is_running(&self) -> bool {
        self.job.is_some()
    }

    /// What there is to say about another version, given what is on the disk.
    pub(in crate::app) fn banner_ui(
        &mut self,
        ui: &mut egui::Ui,
        on_disk: OnDisk,
        tab: usize,
        commands: &mut Vec<Command>,
    ) {
        let other = match on_disk {
            OnDisk::There(stamp) if self.shown.is_some() => Some(stamp),
            _ => None,
        };
        let other = other.filter(|_| other != self.shown && other != self.ignored);
        if self.job.is_none() && self.failure.is_none() && other.is_none() {
            return;
        }
        let palette = theme::palette(ui);
        let fill = theme::color(palette.panel.mix(palette.accent, 0.16));
        let frame = theme::panel_frame(ui, 12, 5).fill(fill);
        Panel::top("other version").resizable(false).frame(frame).show(ui, |ui| {
            ui.horizontal_wrapped(|ui| match (&self.job, self.failure.take()) {
                (Some(job), _) => {
                    let percent = job.progress().fraction().map(|share| format!(" {:.0} %", share * 100.0));
                    ui.label(format!("Loading the file again …{}", percent.unwrap_or_default()));
                    if ui.button("Cancel").clicked() {
                        job.progress().cancel();
                    }
                }
                (None, Some(failure)) => {
                    ui.label(format!("The file could not be loaded again: {failure}"));
                    if ui.button("Try again").clicked() {
                        commands.push(Command::Reload(tab));
                    }
                    if !ui.button("Dismiss").clicked() {
                        self.failure = Some(failure);
                    }
                }
                (None, None) => {
                    ui.label("The file has changed on the disk.");
                    if ui
                        .button("Reload")
                        .on_hover_text("Show the new version at the same event (F5)")
                        .clicked()
                    {
                        commands.push(Command::Reload(tab));
                    }
                    if ui.button("Ignore").on_hover_text("Keep showing this version").clicked() {
                        self.ignored = other;
                    }
                }
            });
        });
    }
}

/// Put a device of the new version where the user was in the old one, as far as that is still there.
pub(in crate::app) fn resume(new: &mut OpenDevice, old: &OpenDevice) {
    new.states.keep(&old.states);
    new.at.color_by = old.at.color_by;
    new.at.timeline_mode = old.at.timeline_mode;
    new.at.query.clone_from(&old.at.query);
    new.at.filter_mode = old.at.filter_mode;
    let (old_timeline, new_timeline) = (&old.recording, &new.recording);
    let found = |event: EventIx| same_event(&old_timeline.events, event, &new_timeline.events);
    let Some(cursor) = old.at.cursor.event().and_then(found).map(Moment::after) else { return };
    // Allocations and stacks have other numbers in the new version, but the same events made them.
    let same = |event: Option<EventIx>| {
        event.and_then(found).and_then(|event| new_timeline.lifetimes.of_alloc_event(event))
    };
    let selection = match old.at.selection() {
        Selection::Allocation(id) => {
            same(old_timeline.lifetimes.origin(id).event()).map_or(Selection::None, Selection::Allocation)
        }
        Selection::Segment { addr } => Selection::Segment { addr },
        Selection::Stack(stack) => {
            let stack = same(first_with(old_timeline, stack)).map(|id| new_timeline.stack(id));
            stack.map_or(Selection::None, Selection::Stack)
        }
        Selection::None => Selection::None,
    };
    new.at.set_axis(old.at.view.axis);
    let is_whole = old.at.view == old.at.full;
    let view = if is_whole { new.at.full } else { moved(old, &new.at, new_timeline, cursor) };
    let query = new.at.query.clone();
    new.at.return_to(Some(NavState { cursor, selection, view, query }));
}

/// The first event that allocated with a stack.
fn first_with(timeline: &Timeline, stack: StackId) -> Option<EventIx> {
    let id = timeline.ids().find(|&id| timeline.stack(id) == stack)?;
    timeline.lifetimes.origin(id).event()
}

/// The old part of the timeline, with the cursor at the same place in it.
fn moved(old: &OpenDevice, new: &Standpoint, timeline: &Timeline, cursor: Moment) -> View {
    let view = old.at.view;
    let before = view.on(&old.recording).positions_of(old.at.cursor).0;
    let after = view.on(timeline).positions_of(cursor).0;
    let (x0, x1) = (view.x0 + after - before, view.x1 + after - before);
    View { y0: view.y0, y1: view.y1, ..new.full }.of_range(x0, x1, &new.full)
}
