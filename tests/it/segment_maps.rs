//! Memory maps of real recordings: their figures are those of the file and of the curves.

use crate::support::{pickles_in, sample};
use oomscope_analysis::segment_state::Content;
use oomscope_analysis::{SegmentIndex, device_stats};
use oomscope_model::{DeviceId, Moment, Recording, Snapshot};
use oomscope_snapshot::load::{Input, Progress, load};
use std::sync::Arc;

/// Every sample that is committed.
fn samples() -> Vec<(String, Arc<Snapshot>)> {
    let read = |path: std::path::PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        (name, Arc::new(load(&Input::File(path), &Progress::default()).expect("a sample loads")))
    };
    pickles_in(&sample(""), false).into_iter().map(read).collect()
}

#[test]
fn the_end_of_every_sample_has_the_figures_of_its_final_state() {
    let samples = samples();
    assert!(10 < samples.len());
    for (name, snapshot) in samples {
        for recording in Recording::all(&snapshot) {
            let index = SegmentIndex::new(&recording);
            let found = index.at(&recording, Moment(recording.events.len() as u32));
            let stats = device_stats(&recording).r#final;
            let total = &found.total;
            assert_eq!(total.reserved_bytes, stats.reserved, "{name}");
            assert_eq!(total.allocated_rounded_bytes, stats.allocated_rounded, "{name}");
            assert_eq!(total.active_rounded_bytes(), stats.active_rounded, "{name}");
            assert_eq!(total.active_bytes(), stats.active, "{name}");
            assert_eq!(total.blocks, stats.live_blocks, "{name}");
            assert_eq!(total.holes, stats.holes, "{name}");
            assert_eq!(total.hole_bytes, stats.hole_bytes, "{name}");
            assert_eq!(total.largest_hole_bytes, stats.largest_hole, "{name}");
            assert_eq!(total.segments, recording.segments.segments.len(), "{name}");
            assert!(found.contradictions.is_empty(), "{name}: {:?}", found.contradictions);
            assert!(
                found
                    .groups
                    .iter()
                    .all(|group| group.key.class.is_some() || recording.device == DeviceId::HOST)
            );
        }
    }
}

#[test]
fn every_moment_of_the_samples_fits_together() {
    for (name, snapshot) in samples() {
        for recording in Recording::all(&snapshot) {
            let index = SegmentIndex::new(&recording);
            for moment in (0..recording.moments() as u32).step_by(37).map(Moment) {
                let found = index.at(&recording, moment);
                assert!(found.contradictions.is_empty(), "{name} {moment:?}: {:?}", found.contradictions);
                assert_eq!(found.total.active_bytes(), recording.active.at(moment), "{name}");
                assert_eq!(found.total.allocated_bytes, recording.allocated.at(moment), "{name}");
                assert_eq!(found.total.reserved_bytes, recording.reserved.at(moment), "{name}");
            }
        }
    }
}

#[test]
fn the_fragmented_sample_has_no_hole_for_its_request() {
    let (_, snapshot) =
        samples().into_iter().find(|(name, _)| name == "frag_oom.pickle").expect("the sample");
    let recording = Recording::main(&snapshot).expect("a device");
    let oom = recording.ooms.last().expect("an OOM");
    let index = SegmentIndex::new(&recording);
    let found = index.at(&recording, Moment::after(oom.event));
    let fit = found.fit(&index, &recording, oom);
    assert_eq!(fit.requested_bytes, oom.requested);
    assert!(fit.largest_bytes < fit.requested_bytes);
    assert!(fit.requested_bytes < fit.hole_bytes, "enough is free in all");
    assert_eq!((fit.too_small, fit.too_small_bytes), (fit.holes, fit.hole_bytes));
    let (row, part) = fit.largest.expect("a hole");
    assert!(found.rows[row].parts.contains(&part));
    assert_eq!((found.parts[part].content, found.parts[part].size), (Content::Hole, fit.largest_bytes));
    assert_eq!(fit.hole_bytes + fit.other_bytes, found.total.hole_bytes);
}
