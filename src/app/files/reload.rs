//! Loading an open file again: when it changed on the disk, or when the user wants to. The old
//! version stays until the new one is there.

use super::watch::OnDisk;
use crate::analysis::same_event;
use crate::app::device::DeviceState;
use crate::app::navigation::{Place, Selection};
use crate::app::{Command, theme};
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
pub(in crate::app) fn resume(new: &mut DeviceState, old: &DeviceState) {
    new.color_by = old.color_by;
    new.mode = old.mode;
    new.filter_query.clone_from(&old.filter_query);
    new.filter_mode = old.filter_mode;
    new.shows_internal_frames = old.shows_internal_frames;
    new.panels.keep(&old.panels);
    let (old_events, new_events) = (&old.timeline().events, &new.timeline().events);
    let found = |event: EventIx| same_event(old_events, event, new_events);
    let Some(cursor) = old.cursor.event().and_then(found).map(Moment::after) else { return };
    let selection = match old.selection() {
        Selection::Allocation(id) => {
            let event = old.timeline().lifetimes.origin(id).event().and_then(found);
            let id = event.and_then(|event| new.timeline().lifetimes.of_alloc_event(event));
            id.map_or(Selection::None, Selection::Allocation)
        }
        Selection::Segment { addr } => Selection::Segment { addr },
        // Stacks have other numbers in the new version, but the same allocations.
        Selection::Stack(stack) => {
            let event = first_with(old.timeline(), stack).and_then(found);
            let id = event.and_then(|event| new.timeline().lifetimes.of_alloc_event(event));
            let stack = id.map(|id| new.timeline().lifetimes.stack(id, new_events));
            stack.map_or(Selection::None, Selection::Stack)
        }
        Selection::None => Selection::None,
    };
    new.set_axis(old.view.axis);
    let view = if old.view == old.full { new.full } else { moved(old, new, cursor) };
    new.return_to(Some(Place { cursor, selection, view, query: new.filter_query.clone() }));
}

/// The first event that allocated with a stack.
fn first_with(timeline: &Timeline, stack: StackId) -> Option<EventIx> {
    let Timeline { lifetimes, events, .. } = timeline;
    let id = lifetimes.ids().find(|&id| lifetimes.stack(id, events) == stack)?;
    lifetimes.origin(id).event()
}

/// The old part of the timeline, with the cursor at the same place in it.
fn moved(old: &DeviceState, new: &DeviceState, cursor: Moment) -> View {
    let before = old.view.on(old.timeline()).positions_of(old.cursor).0;
    let after = old.view.on(new.timeline()).positions_of(cursor).0;
    let (x0, x1) = (old.view.x0 + after - before, old.view.x1 + after - before);
    View { y0: old.view.y0, y1: old.view.y1, ..new.full }.of_range(x0, x1, &new.full)
}
