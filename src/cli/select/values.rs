//! Parsers of option values.

use super::moment::{NamedMoment, NamedRange};
use clap::builder::TypedValueParser;
use oomscope_analysis::{At, Phase, RangeQuery};
use oomscope_model::{Bytes, DeviceId};
use oomscope_units as units;

/// The name of a moment that is the peak of a range, before the range.
const PEAK_OF: &str = "peak-of:";

/// Parse a moment: `peak`, `oom`, `end`, an event's number, or the peak of a range.
pub(in crate::cli) fn parse_at(text: &str) -> Result<NamedMoment, String> {
    if let Some(range) = text.strip_prefix(PEAK_OF) {
        return parse_range(range).map(NamedMoment::PeakOf);
    }
    let at = match text {
        "peak" => At::Peak,
        "oom" => At::Oom,
        "end" => At::End,
        _ => text.parse().map(At::Event).map_err(|e| {
            let meant = units::did_you_mean(text, ["peak", "oom", "end"]);
            format!("expected peak, oom, end, an event's number or {PEAK_OF} with a range: {e}{meant}")
        })?,
    };
    Ok(NamedMoment::At(at))
}

/// Parse a part of a recording.
pub(in crate::cli) fn parse_range(text: &str) -> Result<NamedRange, String> {
    let query = RangeQuery::parse(text).map_err(|expected| {
        let phase = text.trim().strip_prefix("phase:").unwrap_or_default();
        format!("expected {expected}{}", units::did_you_mean(phase.trim(), Phase::ALL.map(Phase::key)))
    })?;
    Ok(NamedRange { text: text.to_owned(), query })
}

/// Parse a number of bytes, with or without a unit.
pub(in crate::cli) fn parse_bytes(text: &str) -> Result<Bytes, String> {
    units::parse_bytes(text)
        .map(Bytes)
        .ok_or_else(|| "expected a size such as 80GiB, 512MiB or 1024".to_owned())
}

/// A parser of a device's number.
pub(super) fn device_parser() -> impl TypedValueParser<Value = DeviceId> {
    clap::value_parser!(i64).map(DeviceId)
}
