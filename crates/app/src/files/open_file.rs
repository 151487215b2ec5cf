//! A file that is loaded: its devices, and notices about it.

use super::glances::Glance;
use super::{devices, reload};
use crate::device::attributing::FileFacts;
use crate::device::place;
use crate::notebook::Notebook;
use crate::panes::OpenDevice;
use crate::work::setup::Setup;
use eframe::egui;
use oomscope_draw::SparkLine;
use oomscope_model::{DeviceId, Recording, Snapshot};
use oomscope_report::notes::Place;
use oomscope_report::{device_lines, predicted_line, stand_ins};
use oomscope_snapshot::load::{Input, rules_nearby};
use oomscope_units as units;
use std::path::PathBuf;
use std::sync::Arc;
use tr::tr;

/// A loaded file.
pub(crate) struct OpenFile {
    /// One per device, in the snapshot's order.
    pub(crate) devices: Vec<OpenDevice>,
    /// The device that is shown.
    pub(crate) current: usize,
    /// Their active memory as lines, if there are several.
    pub(super) sparks: Vec<SparkLine>,
    /// The notes about the file.
    pub(super) notebook: Notebook,
    /// Sentences about the file that the user must not miss.
    pub(crate) notices: Vec<Notice>,
    /// A file of rules that is not used.
    pub(super) rules_nearby: Option<PathBuf>,
}

/// A sentence about a file that the user must not miss.
pub(crate) struct Notice {
    pub(crate) text: String,
    /// What stood in for values that an estimate could not know.
    pub(crate) stand_ins: Vec<String>,
}

impl From<String> for Notice {
    fn from(text: String) -> Self {
        Self { text, stand_ins: Vec::new() }
    }
}

impl OpenFile {
    pub(super) fn new(
        snapshot: &Arc<Snapshot>,
        input: &Input,
        title: &str,
        ctx: &egui::Context,
        setup: &Setup,
    ) -> Self {
        let rules =
            if setup.rules.is_empty() && setup.rules_file.is_none() { rules_nearby(input) } else { None };
        // Shared, so that the stacks of the file are read once for all of its devices.
        let facts = FileFacts::default();
        let notebook = Notebook::open(input, ctx, setup);
        let main = snapshot.main_timeline().map(|timeline| timeline.device);
        let mut devices: Vec<_> = Recording::all(snapshot)
            .map(|recording| {
                OpenDevice::new(recording, title, notebook.clone(), Arc::clone(&facts), ctx, setup)
            })
            .collect();
        let current = snapshot.timelines.iter().position(|t| Some(t.device) == main).unwrap_or(0);
        devices.get_mut(current).into_iter().for_each(OpenDevice::open_first);
        Self {
            current,
            sparks: devices::sparks(&devices),
            devices,
            notebook,
            notices: notices(snapshot),
            rules_nearby: rules,
        }
    }

    /// Go where the user was in an older version of the file.
    pub(super) fn resume(&mut self, old: &Self) {
        let id = |device: &OpenDevice| device.recording.device;
        for device in &mut self.devices {
            if let Some(old) = old.devices.iter().find(|old| id(old) == id(device)) {
                reload::resume(device, old);
            }
        }
        // Notes that could not be written are in the old one alone.
        self.notebook = old.notebook.clone();
        for device in &mut self.devices {
            device.notebook = old.notebook.clone();
        }
        let shown = old.devices.get(old.current).map(id);
        let place = self.devices.iter().position(|device| Some(id(device)) == shown);
        self.current = place.unwrap_or(self.current);
    }

    /// Go to a place. Words about what the file does not have are shown below.
    pub(super) fn visit(&mut self, place: &Place) {
        let device = place.device.map(DeviceId);
        let at = device.and_then(|id| self.devices.iter().position(|device| device.recording.device == id));
        let mut missing = Vec::new();
        match (device, at) {
            (Some(device), None) => missing.push(device.to_string()),
            (_, at) => self.open_with(at.unwrap_or(self.current)),
        }
        let Some(device) = self.devices.get_mut(self.current) else { return };
        missing.extend(place::visit(&device.recording, &mut device.at, place));
        if !missing.is_empty() {
            device.notice = Some(place::missing_text(&missing));
        }
    }

    /// Show a device in place of the one that the file was to open with.
    fn open_with(&mut self, at: usize) {
        if let Ok([now, before]) = self.devices.get_disjoint_mut([at, self.current]) {
            now.open_instead_of(before);
        }
        self.current = at;
    }

    /// Follow what becomes of the notes.
    pub(super) fn update_notes(&mut self) {
        if let Some(said) = self.notebook.update()
            && let Some(device) = self.device()
        {
            device.notice = Some(said);
        }
    }

    /// Go on where the user was with the same recording.
    pub(super) fn take_over(&mut self, old: Self) {
        self.current = old.current;
        self.notebook = old.notebook;
        for (device, old) in self.devices.iter_mut().zip(old.devices) {
            device.take_over(old);
        }
    }

    /// The verdict on the device that lists show, once it is known.
    pub(super) fn glance(&self) -> Option<Glance> {
        let snapshot = self.devices.first()?.recording.snapshot();
        let main = snapshot.main_timeline()?.device;
        let device = self.devices.iter().find(|device| device.recording.device == main)?;
        let verdict = device.derived.verdict()?;
        Some(Glance::new(&device.recording, &verdict.title, verdict.severity))
    }

    /// The device that is shown.
    pub(crate) fn device(&mut self) -> Option<&mut OpenDevice> {
        self.devices.get_mut(self.current)
    }
}

fn notices(snapshot: &Arc<Snapshot>) -> Vec<Notice> {
    let predicted = |text| Notice { text, stand_ins: stand_ins(snapshot) };
    let mut notices: Vec<Notice> = predicted_line(snapshot).map(predicted).into_iter().collect();
    if let Some(damage) = &snapshot.damage {
        let (offset, reason) = (units::count(damage.offset), units::printable(&damage.reason));
        let text = tr!(
            "The file is damaged at byte {offset} ({reason}). What is whole before it is shown.",
            offset,
            reason
        );
        notices.push(text.into());
    }
    let faults = device_lines(snapshot).into_iter().filter(|(why, _)| why.is_fault());
    notices.extend(faults.map(|(_, line)| format!("{line}.").into()));
    if !snapshot.timelines.is_empty() && snapshot.timelines.iter().all(|timeline| timeline.events.is_empty())
    {
        notices.push(
            tr!("No events were recorded: this is the memory as it was when the snapshot was taken. Call \
             torch.cuda.memory._record_memory_history() before the code to see how it came about.")
            .into(),
        );
    }
    notices
}
