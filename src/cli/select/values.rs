//! Parsers of option values.

use crate::analysis::At;
use crate::model::DeviceId;
use crate::units;
use clap::builder::TypedValueParser;

/// Parse a moment: `peak`, `oom`, `end` or an event's number.
pub(super) fn parse_at(text: &str) -> Result<At, String> {
    match text {
        "peak" => Ok(At::Peak),
        "oom" => Ok(At::Oom),
        "end" => Ok(At::End),
        _ => text
            .parse()
            .map(At::Event)
            .map_err(|e| format!("expected peak, oom, end or an event's number: {e}")),
    }
}

/// Parse a number of bytes, with or without a unit.
pub(in crate::cli) fn parse_bytes(text: &str) -> Result<i64, String> {
    units::parse_bytes(text).ok_or_else(|| "expected a size such as 80GiB, 512MiB or 1024".to_owned())
}

/// A parser of a device's number.
pub(super) fn device_parser() -> impl TypedValueParser<Value = DeviceId> {
    clap::value_parser!(i64).map(DeviceId)
}
