//! The recording that others are held against: a snapshot, or the JSON of `stats`.

use crate::cli::failure::Failure;
use crate::cli::loading;
use oomscope_analysis::comparison::{GateRow, PeakSummary, Side, held_against, peak_summary};
use oomscope_analysis::{Attribution, UserRules};
use oomscope_model::Recording;
use oomscope_report::read_baseline;
use oomscope_snapshot::load::{Utf8, open_regular, text_of};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// The most bytes of a JSON file: hundreds of devices with a thousand lines each.
const MAX_BYTES: u64 = 64 << 20;

/// The figures of a baseline.
pub(super) struct Baseline {
    path: PathBuf,
    devices: Vec<PeakSummary>,
    /// Those of the user, for categories on both sides.
    rules: UserRules,
}

impl Baseline {
    pub(super) fn read(path: &Path, rules: UserRules, allows_contradictions: bool) -> Result<Self, Failure> {
        let text = json_of(path).map_err(|error| unreadable(path, &error.to_string()))?;
        let devices = if let Some(text) = text {
            read_baseline(&text).map_err(|error| unreadable(path, &error))?
        } else {
            let snapshot = loading::load(path)?;
            Recording::all(&snapshot).map(|recording| summary(&recording, &rules)).collect()
        };
        if !allows_contradictions && devices.iter().any(|device| !device.is_complete) {
            return Err(unreadable(
                path,
                "it is of a damaged file, or of one that contradicts itself, so its figures are not known",
            ));
        }
        Ok(Self { path: path.to_owned(), devices, rules })
    }

    /// The figures of a device beside those of the same device here.
    pub(super) fn rows(&self, recording: &Recording, tolerance: f64) -> Result<Vec<GateRow>, Failure> {
        let same = self.devices.iter().find(|device| device.device == recording.device);
        let same =
            same.ok_or_else(|| unreadable(&self.path, &format!("it does not have {}", recording.device)))?;
        Ok(held_against(same, &summary(recording, &self.rules), tolerance))
    }
}

fn unreadable(path: &Path, why: &str) -> Failure {
    Failure::new(
        format_args!("the baseline {}: {why}", path.display()),
        "name a snapshot, or write the JSON of one with 'oomscope stats FILE --format json'",
    )
}

fn summary(recording: &Recording, rules: &UserRules) -> PeakSummary {
    let attribution = Attribution::of(recording, rules);
    peak_summary(&Side { recording, attribution: &attribution, moment: recording.active.peak().0 })
}

/// The text of a file that begins as the array that `stats` writes; `None` for anything else.
fn json_of(path: &Path) -> io::Result<Option<String>> {
    let mut file = Utf8::new(open_regular(path)?);
    let mut first = [0u8];
    if file.read(&mut first)? == 0 || first != *b"[" {
        return Ok(None);
    }
    Ok(Some(format!("[{}", text_of(file, MAX_BYTES)?)))
}
