//! A snapshot at a glance: its verdict, its peak, and active memory as a line.

use oomscope_analysis::UserRules;
use oomscope_diagnosis::Severity;
use oomscope_draw::SparkLine;
use oomscope_model::{DeviceId, Recording, Snapshot, TrustedBytes};
use oomscope_report::{GlanceText, predicted_title};
use oomscope_snapshot::load::{Input, LoadError, Progress, load};
use oomscope_units as units;
use serde::{Deserialize, Serialize};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use tr::tr;

/// Longest verdict that is kept, in bytes: titles are sentences.
const MAX_TITLE_BYTES: usize = 1000;

/// What lists show of a snapshot: its device with an OOM, else the one with most events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Glance {
    /// Active memory.
    pub(crate) spark: SparkLine,
    /// The title of the verdict.
    pub(crate) title: String,
    pub(crate) severity: Severity,
    /// The active peak.
    pub(crate) peak: TrustedBytes,
    /// The device, where the file has several.
    #[serde(default)]
    pub(crate) device: Option<String>,
}

/// The outcome of looking at a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Scan {
    Found(Arc<Glance>),
    /// It cannot be read, or is no snapshot. Says why.
    Failed(Arc<str>),
}

impl Glance {
    /// Of a device whose verdict is known.
    pub(crate) fn new(recording: &Recording, title: &str, severity: Severity) -> Self {
        let title = predicted_title(recording.snapshot(), title);
        Self::of_text(recording, title, severity)
    }

    fn of_text(recording: &Recording, title: String, severity: Severity) -> Self {
        let snapshot = recording.snapshot();
        Self {
            spark: SparkLine::of(recording),
            title,
            severity,
            peak: recording.peak_active().1,
            device: (1 < snapshot.timelines.len()).then(|| device_text(recording.device, snapshot)),
        }
    }

    /// Of a snapshot; `None` if it holds no memory of any device. Takes its time.
    fn of(snapshot: &Arc<Snapshot>) -> Option<Self> {
        let recording = Recording::main(snapshot)?;
        let GlanceText { title, severity, .. } = GlanceText::of(&recording, &UserRules::default());
        Some(Self::of_text(&recording, title, severity))
    }

    /// False for a glance that was not made here.
    pub(super) fn is_sound(&self) -> bool {
        self.spark.is_sound()
            && self.title.len() <= MAX_TITLE_BYTES
            && !self.title.contains(units::is_unprintable)
    }
}

/// `device 1 of 2`.
fn device_text(device: DeviceId, snapshot: &Snapshot) -> String {
    tr!("{device} of {}", snapshot.timelines.len(), device)
}

/// Look at a file. `None` if it was told to stop.
pub(super) fn scan(input: &Input, progress: &Progress) -> Option<Scan> {
    let failed = |why: &str| Some(Scan::Failed(units::printable(why).into()));
    // A defect must not end the thread: other files wait for it.
    let found = catch_unwind(AssertUnwindSafe(|| {
        load(input, progress).map(|snapshot| Glance::of(&Arc::new(snapshot)))
    }));
    match found {
        Ok(Ok(Some(glance))) => Some(Scan::Found(Arc::new(glance))),
        Ok(Ok(None)) => failed(&tr!("holds no memory of any device")),
        Ok(Err(LoadError::Cancelled { .. })) => None,
        Ok(Err(error)) => failed(&error.to_string()),
        Err(_) => failed(&tr!("internal error")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::sample;

    fn glance(name: &str) -> Glance {
        match scan(&Input::File(sample(name)), &Progress::default()) {
            Some(Scan::Found(glance)) => glance.as_ref().clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn it_is_of_the_device_that_failed() {
        let glance = glance("two_devices_oom.pickle");
        assert_eq!(glance.device.as_deref(), Some("device 1 of 2"));
        assert_eq!(glance.severity, Severity::Critical);
        assert!(glance.spark.has_oom() && glance.is_sound(), "{glance:?}");
    }

    #[test]
    fn a_recording_without_events_has_one_too() {
        let glance = glance("history_state_only.pickle");
        assert!(
            glance.is_sound()
                && !glance.spark.has_oom()
                && glance.peak.at_least().is_some_and(|peak| 0 < peak),
            "{glance:?}"
        );
    }

    #[test]
    fn other_files_say_why_they_have_none_and_cancelled_ones_nothing() {
        let readme = Input::File(sample("README.md"));
        assert!(matches!(scan(&readme, &Progress::default()), Some(Scan::Failed(_))));
        let progress = Progress::default();
        progress.cancel();
        assert_eq!(scan(&Input::File(sample("frag_oom.pickle")), &progress), None);
    }

    #[test]
    fn it_survives_being_stored() {
        let glance = glance("compact.pickle.gz");
        let text = serde_json::to_string(&glance).expect("plain values");
        assert!(text.len() < 2000, "{text}");
        assert_eq!(serde_json::from_str::<Glance>(&text).expect("plain values"), glance);
    }
}
