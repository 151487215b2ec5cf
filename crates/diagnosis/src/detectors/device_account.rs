//! The whole device, by what the exception's text states and the recording has.

use crate::assessment::Assessment;
use crate::case::Shortage;
use crate::figure;
use crate::finding::{Finding, Severity};
use crate::findings::FindingId;
use crate::oom_message::OomMessage;
use crate::sentence::{Sentence, say};
use crate::words::Words;
use oomscope_model::Bytes;

/// The device's memory, each byte once.
struct Account {
    capacity: Bytes,
    others: Bytes,
    /// Held by nobody that the driver names.
    rest: Bytes,
    /// The parts that are there, with the key and the label of each.
    parts: Vec<(&'static str, &'static str, Bytes)>,
}

pub(super) fn find(assessment: &Assessment<'_>) -> Vec<Finding> {
    let case = assessment.case;
    let Some((message, shortage)) = case.message.zip(case.shortage.as_ref()) else { return Vec::new() };
    if let Some(other) = other_moment(&message, shortage) {
        return vec![other];
    }
    Account::of(&message, shortage)
        .map(|account| finding(&account, &message, case.words))
        .into_iter()
        .collect()
}

impl Account {
    fn of(message: &OomMessage, shortage: &Shortage) -> Option<Self> {
        let (capacity, free) = message.capacity_bytes.zip(message.free_bytes)?;
        // That is exact, from the recording. The rest of the process is its context and its libraries.
        let reserved = shortage.reserved_bytes;
        let process = message.process_bytes.map_or(Bytes::ZERO, |bytes| (bytes - reserved).or_zero());
        let others = message.other_bytes;
        let known = [reserved, process, others, free].into_iter().sum::<Bytes>();
        let rest = capacity - known;
        // Differences within the rounding of the text are none.
        let rest = if message.agrees(rest, Bytes::ZERO) { Bytes::ZERO } else { rest.or_zero() };
        let mut parts = vec![
            ("account_pytorch_bytes", "reserved by PyTorch", reserved),
            ("account_process_bytes", "of this process outside of PyTorch", process),
            ("account_others_bytes", "of other processes", others),
            ("account_free_bytes", "free", free),
            ("account_rest_bytes", "of nobody that the driver names", rest),
        ];
        parts.retain(|&(.., bytes)| bytes != 0);
        Some(Self { capacity, others, rest, parts })
    }
}

/// The finding that the text is about another moment than the report.
fn other_moment(message: &OomMessage, shortage: &Shortage) -> Option<Finding> {
    if message.is_about(shortage.oom.requested, shortage.reserved_bytes) {
        return None;
    }
    let title = "The message is about another failure than this report";
    let mut finding = Finding::new(FindingId::DeviceAccount, Severity::Info, title);
    finding.explain(say!(
        "It states a request of {}; this report is about one of {}, with {} reserved.",
        figure::bytes(message.requested_bytes),
        figure::bytes(shortage.oom.requested),
        figure::bytes(shortage.reserved_bytes)
    ));
    finding.advise(
        "Give the event of the failure that the message is about with --at, or the message of this one.",
    );
    Some(finding)
}

fn finding(account: &Account, message: &OomMessage, words: Words) -> Finding {
    let all = account.capacity;
    let said =
        account.parts.iter().map(|&(_, label, bytes)| say!("{} {}", figure::bytes(bytes).of(all), label));
    let title = say!("The device's {}: {}", figure::bytes(all), Sentence::joined(said, ", "));
    let mut finding = Finding::new(FindingId::DeviceAccount, Severity::Info, title);
    finding.evidence.bytes("device_memory_bytes", "memory of the device, as the message states", all);
    for &(key, label, bytes) in &account.parts {
        finding.evidence.part(key, label, bytes, all);
    }
    if let Some(bytes) = message.private_bytes {
        finding.evidence.bytes("account_private_bytes", "allocated in private pools", bytes);
    }
    if let Some(allowed) = message.allowed_bytes {
        finding.explain(say!(
            "A limit lets this process have {} of the device (per_process_memory_fraction).",
            figure::bytes(allowed).of(all)
        ));
    }
    if 0 < account.others {
        finding.explain(match message.other_processes {
            1 => "Another process uses the device as well.".into(),
            n => say!("{} other processes use the device as well.", figure::count(n)),
        });
        finding.advise_code("End the other processes, or use another device:", words.monitor);
    } else if account.rest == 0 {
        finding.advise("No other process uses the device: only what PyTorch reserved can be made smaller.");
    }
    finding.limit(say!(
        "The message has two decimals, so its sizes may be off by {} together; what PyTorch reserved is exact.",
        figure::bytes(message.rounding_bytes)
    ));
    finding
}
