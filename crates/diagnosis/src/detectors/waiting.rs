//! Blocks that were given back and wait for another stream (`record_stream`).

use crate::assessment::Assessment;
use crate::figure;
use crate::finding::{Finding, Role, Severity};
use crate::findings::FindingId;
use crate::sentence::say;
use oomscope_model::AllocId;
use oomscope_program::share::TRACE;

pub(super) fn find(assessment: &Assessment<'_>) -> Vec<Finding> {
    let case = assessment.case;
    let total = &case.state.total;
    let bytes = total.awaiting_rounded_bytes;
    if !TRACE.is_reached(bytes, total.active_rounded_bytes()) {
        return Vec::new();
    }
    let mut waiting: Vec<AllocId> = case.awaiting().into_iter().collect();
    waiting.sort_unstable_by_key(|&id| (std::cmp::Reverse(case.recording.size(id)), id));
    let severity = case.severity_of(bytes);
    let title = say!(
        "{} are free for the program but wait for another stream ({})",
        figure::bytes(bytes).of(total.active_rounded_bytes()),
        figure::counted(total.awaiting_blocks, "block")
    );
    let mut finding = Finding::new(FindingId::RecordStream, severity, title);
    finding.explain("After record_stream() a block can be used again only when the other stream has passed the point at which it was freed. When the host runs ahead of the device, such blocks pile up.");
    if severity == Severity::Warning {
        finding.explain("They are as large as what the failed request lacked.");
    }
    let stacks = case.stacks_of(waiting.iter().copied());
    let evidence = &mut finding.evidence;
    evidence.part("awaiting_bytes", "waiting for a stream", bytes, total.active_rounded_bytes());
    evidence.count("awaiting_blocks", "blocks", total.awaiting_blocks);
    evidence.sites = case.code.sites(&stacks, Role::Live).into_iter().take(5).collect();
    evidence.stacks = stacks.into_iter().take(2).collect();
    evidence.about(waiting);
    finding.advise("Keep a reference until the side stream is done and wait for it (current_stream().wait_stream(side)) instead of record_stream(), or let the host run ahead less (prefetch fewer batches, synchronise now and then).");
    // oneCCL and HCCL have no such variable.
    if case.words.module == "torch.cuda" {
        finding.advise_code(
            say!("With FSDP, DDP or {} collectives:", case.words.collectives),
            "TORCH_NCCL_AVOID_RECORD_STREAMS=1",
        );
    }
    finding.weighs(bytes);
    finding.limit("When the other stream would have been done is not in the recording.");
    vec![finding]
}
