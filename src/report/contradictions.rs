//! Contradictions of a recording, as a sentence.

use crate::model::Timeline;
use crate::units;

/// What a device's part of a recording says that cannot all be true; `None` where nothing is known to be wrong.
pub fn contradictions_text(timeline: &Timeline) -> Option<String> {
    let mut parts: Vec<String> = timeline
        .anomalies
        .iter()
        .map(|(kind, count)| match count {
            1 => kind.describe().to_owned(),
            _ => format!("{} ({} times)", kind.describe(), units::count(count)),
        })
        .collect();
    let least = timeline.reserved.steps().iter().map(|&(_, bytes)| bytes).min().unwrap_or(0);
    if least < 0 {
        parts.push(format!("reserved memory falls to {}", units::bytes(least)));
    }
    (!parts.is_empty()).then(|| {
        format!(
            "The recording contradicts itself, and figures that rest on this may be off: {}.",
            parts.join("; ")
        )
    })
}
