//! Loading an open file again, when it has changed on the disk or the user wants to. The old version stays
//! until the new one is there.

use super::loading;
use super::watch::OnDisk;
use crate::command::Command;
use crate::device::Selection;
use crate::device::history::NavState;
use crate::panes::OpenDevice;
use crate::theme;
use eframe::egui::{self, Panel};
use oomscope_analysis::{MomentRange, same_event};
use oomscope_draw::View;
use oomscope_model::{EventIx, Moment, Snapshot, StackId, Timeline};
use oomscope_snapshot::load::{FileStamp, Input, LoadError, LoadJob};
use oomscope_units as units;
use std::sync::Arc;
use tr::tr;

/// The versions of an open file: the one that is shown, and the one that is loading.
#[derive(Default)]
pub(crate) struct Reload {
    /// The version that is shown.
    pub(crate) shown: Option<FileStamp>,
    /// A version on the disk that the user does not want to see.
    ignored: Option<FileStamp>,
    job: Option<LoadJob>,
    failure: Option<String>,
}

impl Reload {
    /// Start loading, unless a load is going on.
    pub(crate) fn start(&mut self, input: &Input, max_memory: Option<u64>, ctx: &egui::Context) {
        if self.job.is_some() {
            return;
        }
        self.failure = None;
        match loading::start(input, max_memory, ctx) {
            Ok(job) => self.job = Some(job),
            Err(error) => self.failure = Some(tr!("cannot start a thread: {error}", error)),
        }
    }

    /// The new version, once.
    pub(crate) fn poll(&mut self) -> Option<Arc<Snapshot>> {
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

    /// True while a version is loading.
    pub(crate) fn is_running(&self) -> bool {
        self.job.is_some()
    }

    /// A banner about another version, if one is loading, has failed, or is on the disk.
    pub(crate) fn banner_ui(
        &mut self,
        ui: &mut egui::Ui,
        on_disk: OnDisk,
        tab: usize,
        commands: &mut Vec<Command>,
    ) {
        let newer = self.newer(on_disk);
        if self.job.is_none() && self.failure.is_none() && newer.is_none() {
            return;
        }
        let palette = theme::palette(ui);
        let fill = theme::color(palette.message());
        let frame = theme::panel_frame(ui, 12, 5).fill(fill);
        Panel::top("other version").resizable(false).frame(frame).show(ui, |ui| {
            ui.horizontal_wrapped(|ui| match (&self.job, self.failure.take()) {
                (Some(job), _) => loading_ui(ui, job),
                (None, Some(failure)) => {
                    ui.label(tr!("The file could not be loaded again: {failure}", failure));
                    if ui.button(tr!("Try again")).clicked() {
                        commands.push(Command::Reload(tab));
                    }
                    if !ui.button(tr!("Dismiss")).clicked() {
                        self.failure = Some(failure);
                    }
                }
                (None, None) => {
                    ui.label(tr!("The file has changed on the disk."));
                    let hint = tr!("Show the new version at the same event (F5)");
                    if ui.button(tr!("Reload")).on_hover_text(hint).clicked() {
                        commands.push(Command::Reload(tab));
                    }
                    if ui.button(tr!("Ignore")).on_hover_text(tr!("Keep showing this version")).clicked() {
                        self.ignored = newer;
                    }
                }
            });
        });
    }

    /// The version on the disk, if it is another one than that which is shown, and not ignored.
    fn newer(&self, on_disk: OnDisk) -> Option<FileStamp> {
        // Without a stamp of its own, as for standard input, nothing can be compared.
        let shown = self.shown?;
        match on_disk {
            OnDisk::There(stamp) if stamp != shown && Some(stamp) != self.ignored => Some(stamp),
            _ => None,
        }
    }
}

fn loading_ui(ui: &mut egui::Ui, job: &LoadJob) {
    let percent = job.progress().fraction().map(|share| format!(" {:.0} %", share * 100.0));
    ui.label(format!("{}{}", tr!("Loading the file again …"), percent.unwrap_or_default()));
    if ui.button(tr!("Cancel")).clicked() {
        job.progress().cancel();
    }
}

/// Put a device of the new version where the user was in the old one, as far as that place still exists.
pub(crate) fn resume(new: &mut OpenDevice, old: &OpenDevice) {
    new.keep(old);
    new.at.color_by = old.at.color_by;
    new.at.timeline_mode = old.at.timeline_mode;
    new.at.query.clone_from(&old.at.query);
    new.at.filter_mode = old.at.filter_mode;
    new.at.marks_verdict = old.at.marks_verdict;
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
    let moved_moment = |moment: Moment| match moment.event() {
        Some(event) => found(event).map(Moment::after),
        None => Some(Moment::START),
    };
    let range = old.at.range().and_then(|range| {
        moved_moment(range.from).zip(moved_moment(range.to)).and_then(|(a, b)| MomentRange::between(a, b))
    });
    new.at.set_axis(old.at.view.axis);
    let old_view = old.at.view;
    let start = |timeline: &Timeline, moment: Moment| old_view.on(timeline).positions_of(moment).0;
    let view = if old_view == old.at.full {
        new.at.full
    } else {
        let by = start(new_timeline, cursor) - start(old_timeline, old.at.cursor);
        moved(old_view, by, &new.at.full)
    };
    let query = new.at.query.clone();
    // `return_to` leaves no way back to a place that the user has not chosen.
    new.at.return_to(Some(NavState {
        cursor,
        selection,
        range,
        view,
        fits_height: old.at.fits_height,
        query,
        outlined: None,
    }));
}

/// The first event that allocated with a stack.
fn first_with(timeline: &Timeline, stack: StackId) -> Option<EventIx> {
    let id = timeline.ids().find(|&id| timeline.stack(id) == stack)?;
    timeline.lifetimes.origin(id).event()
}

/// The old view, moved by as much as the cursor's event has moved.
fn moved(view: View, by: f64, full: &View) -> View {
    View { y0: view.y0, y1: view.y1, ..*full }.of_range(view.x0 + by, view.x1 + by, full)
}
