//! The detectors. Each answers one question, and finds nothing where there is nothing to say.

mod activations;
mod autocast_copies;
mod breakdown;
mod cache_churn;
mod contributors;
mod copies;
mod device_account;
mod evaluation;
mod frozen_models;
mod gap;
mod gradients;
mod graphs;
mod host_memory;
mod ignored_settings;
mod large_block;
mod master_weights;
mod optimizer;
mod optimizers;
mod other_devices;
mod place;
mod prefetched;
mod private_pools;
mod quadratic;
mod recording;
mod retained;
mod rounding;
mod segment_waste;

mod waiting;

use super::assessment::Assessment;
use super::finding::Finding;
use super::findings::FindingId::{self, self as Id};

/// Looks at a case for some kinds of findings.
pub(super) struct Detector {
    /// The kinds that it makes.
    pub(super) makes: &'static [FindingId],
    find: fn(&Assessment<'_>) -> Vec<Finding>,
}

/// Every detector. The order is kept among findings that matter equally.
pub(super) const DETECTORS: [Detector; 27] = [
    Detector { makes: &[Id::Breakdown], find: breakdown::find },
    Detector { makes: &[Id::TopContributors, Id::Rise], find: contributors::find },
    Detector { makes: &[Id::MemoryGrowth], find: retained::find },
    Detector { makes: &[Id::Activations, Id::AttentionScores], find: activations::find },
    Detector { makes: &[Id::SecondModel, Id::SameParametersTwice], find: copies::find },
    Detector { makes: &[Id::FrozenModels], find: frozen_models::find },
    Detector { makes: &[Id::MasterWeights], find: master_weights::find },
    Detector { makes: &[Id::OptimizerState, Id::OptimizerTemporaries], find: optimizer::find },
    Detector { makes: &[Id::UnusedOptimizerState, Id::TwoOptimizers], find: optimizers::find },
    Detector { makes: &[Id::GradientsNotZeroed, Id::GradientsKept], find: gradients::find },
    Detector { makes: &[Id::CallsBeforeBackward, Id::TwoGraphs], find: graphs::find },
    Detector { makes: &[Id::EvaluationGraph, Id::TrainingResident], find: evaluation::find },
    Detector { makes: &[Id::AutocastCopies], find: autocast_copies::find },
    Detector { makes: &[Id::PrefetchedBatches], find: prefetched::find },
    Detector { makes: &[Id::QuadraticLength], find: quadratic::find },
    Detector { makes: &[Id::LargeBlock], find: large_block::find },
    Detector { makes: &[Id::PinnedSegments, Id::CachedSegments], find: segment_waste::find },
    Detector { makes: &[Id::Rounding], find: rounding::find },
    Detector { makes: &[Id::GrowingGap], find: gap::find },
    Detector { makes: &[Id::RecordStream], find: waiting::find },
    Detector { makes: &[Id::AllocationRetries, Id::EmptyCache], find: cache_churn::find },
    Detector { makes: &[Id::PrivatePools], find: private_pools::find },
    Detector { makes: &[Id::SettingNotInEffect], find: ignored_settings::find },
    Detector { makes: &[Id::PinnedHostMemory], find: host_memory::find },
    Detector { makes: &[Id::DeviceAccount], find: device_account::find },
    Detector { makes: &[Id::OtherDevices], find: other_devices::find },
    Detector { makes: &[Id::RecordingLimits], find: recording::find },
];

/// What all detectors find, without findings whose statement its own figures refute.
pub(super) fn detect(assessment: &Assessment<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for detector in &DETECTORS {
        let found = (detector.find)(assessment);
        debug_assert!(
            found.iter().all(|finding| detector.makes.contains(&finding.id)),
            "{:?}",
            detector.makes
        );
        findings.extend(found.into_iter().filter(|finding| !finding.is_refused()));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_kind_is_made_by_one_detector_or_is_a_verdict() {
        let made: Vec<FindingId> = DETECTORS.iter().flat_map(|detector| detector.makes).copied().collect();
        let verdicts = FindingId::ALL.into_iter().filter(|id| id.kind().section == "the-verdict");
        let all: BTreeSet<FindingId> = made.iter().copied().chain(verdicts.clone()).collect();
        assert_eq!(all.len(), made.len() + verdicts.count(), "one is made twice");
        assert_eq!(all, FindingId::ALL.into_iter().collect());
    }
}
