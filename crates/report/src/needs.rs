//! What a program needs of a device, in a sentence. Everybody who says it has it from here.

use super::stated_error::stated_error;
use oomscope_model::{Bytes, Estimate, NeededMemory};
use oomscope_units as units;
use serde::Serialize;

/// The most devices that a line has; JSON has all.
const MAX_SAID: usize = 4;

/// What is needed of a device, as JSON has it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct NeedsRecord {
    /// The same in words.
    text: String,
    name: String,
    total_bytes: Bytes,
    context_bytes: Bytes,
    needed_bytes: Bytes,
    fits: bool,
    /// The share of it by which it may be off; null where the file does not say it.
    error_share: Option<f64>,
}

impl NeedsRecord {
    /// What an estimate says of every device that was asked about.
    pub(super) fn all(estimate: &Estimate<'_>) -> Vec<Self> {
        let record = |needed: &NeededMemory<'_>| Self {
            text: needs_text(estimate, needed),
            name: units::printable(needed.name),
            total_bytes: needed.total_bytes,
            context_bytes: needed.context_bytes,
            needed_bytes: needed.needed_bytes,
            fits: needed.fits,
            error_share: estimate.error_share,
        };
        estimate.needed.iter().map(record).collect()
    }

    /// The same with texts that may name users changed.
    pub(super) fn cleaned(self, clean: impl Fn(&str) -> String) -> Self {
        Self { text: clean(&self.text), name: clean(&self.name), ..self }
    }
}

/// `Needs 61.3 GiB (±3 %) of 79.1 GiB (NVIDIA H100 80GB HBM3): fits`.
pub(super) fn needs_text(estimate: &Estimate<'_>, needed: &NeededMemory<'_>) -> String {
    let least = if estimate.lower_bound.is_some() { "at least " } else { "" };
    let error = estimate.error_share.map_or_else(String::new, |share| format!(" ({})", stated_error(share)));
    let name = match needed.name {
        "" => String::new(),
        name => format!(" ({})", units::printable(name)),
    };
    let [bytes, total] = [needed.needed_bytes, needed.total_bytes].map(units::bytes);
    format!("Needs {least}{bytes}{error} of {total}{name}: {}", verdict(estimate, needed))
}

/// Whether it fits, and whether that lies within the error.
fn verdict(estimate: &Estimate<'_>, needed: &NeededMemory<'_>) -> &'static str {
    let off_bytes = (needed.needed_bytes - needed.total_bytes).abs().as_f64();
    let is_close =
        estimate.error_share.is_some_and(|share| off_bytes <= share * needed.needed_bytes.as_f64());
    match (needed.fits, is_close) {
        (true, false) => "fits",
        (true, true) => "fits, but only just",
        (false, true) => "does not fit, by little",
        (false, false) => "does not fit",
    }
}

/// A sentence for each device that was asked about, up to a few; empty where none was.
pub(super) fn needs_sentences(estimate: &Estimate<'_>) -> String {
    let (said, more) = estimate.needed.split_at(estimate.needed.len().min(MAX_SAID));
    let mut sentences: Vec<String> =
        said.iter().map(|needed| format!("{}.", needs_text(estimate, needed))).collect();
    if !more.is_empty() {
        sentences.push(format!("{} in the JSON.", units::counted(more.len(), "more device")));
    }
    sentences.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: i64 = 1 << 30;

    fn needed(needed_bytes: i64, fits: bool) -> NeededMemory<'static> {
        NeededMemory {
            name: "NVIDIA H100 80GB HBM3",
            total_bytes: Bytes(84_978_499_584),
            context_bytes: Bytes(500 << 20),
            needed_bytes: Bytes(needed_bytes),
            fits,
        }
    }

    fn estimate(error_share: Option<f64>, lower_bound: Option<&'static str>) -> Estimate<'static> {
        let (notes, would_write) = (Vec::new(), Vec::new());
        Estimate {
            program: "",
            steps: None,
            lower_bound,
            notes,
            would_write,
            error_share,
            needed: Vec::new(),
        }
    }

    #[test]
    fn a_need_is_one_sentence() {
        let sure = estimate(Some(0.03), None);
        assert_eq!(
            needs_text(&sure, &needed(61 * GIB, true)),
            "Needs 61.0 GiB (±3 %) of 79.1 GiB (NVIDIA H100 80GB HBM3): fits"
        );
        let least = estimate(Some(0.03), Some("it was ended"));
        assert_eq!(
            needs_text(&least, &needed(100 * GIB, false)),
            "Needs at least 100 GiB (±3 %) of 79.1 GiB (NVIDIA H100 80GB HBM3): does not fit"
        );
        let nameless = NeededMemory { name: "", ..needed(61 * GIB, true) };
        assert_eq!(needs_text(&estimate(None, None), &nameless), "Needs 61.0 GiB of 79.1 GiB: fits");
        let hostile = NeededMemory { name: "a\u{1b}[31m", ..nameless };
        assert!(!needs_text(&sure, &hostile).contains('\u{1b}'));
    }

    #[test]
    fn what_lies_within_the_error_is_said_to() {
        let ends = |share, bytes, fits| {
            let text = needs_text(&estimate(share, None), &needed(bytes, fits));
            text.rsplit_once(": ").expect("a verdict").1.to_owned()
        };
        assert_eq!(ends(Some(0.03), 78 * GIB, true), "fits, but only just");
        assert_eq!(ends(Some(0.03), 80 * GIB, false), "does not fit, by little");
        assert_eq!(ends(Some(0.03), 70 * GIB, true), "fits");
        assert_eq!(ends(None, 79 * GIB, true), "fits");
    }

    #[test]
    fn a_line_has_a_few_devices_and_says_that_there_are_more() {
        let of = |devices: usize| {
            let needed = vec![needed(GIB, true); devices];
            needs_sentences(&Estimate { needed, ..estimate(None, None) })
        };
        assert_eq!(of(0), "");
        assert!(of(1).ends_with("(NVIDIA H100 80GB HBM3): fits."), "{}", of(1));
        assert_eq!(of(6).matches("Needs ").count(), MAX_SAID);
        assert!(of(6).ends_with(": fits. 2 more devices in the JSON."), "{}", of(6));
    }
}
