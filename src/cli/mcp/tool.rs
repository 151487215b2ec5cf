//! What a tool is, and the parameters that several tools share.

use super::call::Call;
use super::parameter::{Kind, Parameter};
use super::refusal::Refusal;
use std::io::Write;

/// A question that a client may ask.
pub(super) struct Tool {
    pub(super) name: &'static str,
    /// For the client: which question it answers.
    pub(super) about: &'static str,
    pub(super) parameters: &'static [Parameter],
    /// Writes the answer, a JSON document.
    pub(super) answer: fn(&Call<'_>, &mut dyn Write) -> Result<(), Refusal>,
}

pub(super) const FILE: Parameter =
    Parameter::required("file", Kind::Path, "A snapshot in an allowed folder; list names them");

pub(super) const AT: Parameter = Parameter::optional(
    "at",
    Kind::Text,
    "The moment: peak, oom (the last one), end, after an event by its number, or the peak of a range: \
     peak-of:iteration:3, peak-of:phase:eval, peak-of:100..200, peak-of:NAME of an annotation",
);

pub(super) const DEVICE: Parameter =
    Parameter::optional("device", Kind::Number, "Only this device; -1 is pinned host memory");

pub(super) const FILTER: Parameter = Parameter::optional(
    "filter",
    Kind::Text,
    "Only what matches: 'size>100MB stack:attention category:activation phase:backward iteration:3 -kept'. Terms are \
     separated by spaces and must all hold",
);

pub(super) const CAPACITY: Parameter =
    Parameter::optional("capacity", Kind::Text, "Memory of the device where no OOM shows it: 80GiB");
