//! Any bytes may be a file: loading them gives a model or a typed error, and the model can be asked.
//!
//! ```text
//! cargo +nightly fuzz run load tests/data sample_snapshots -- -max_len=65536 -rss_limit_mb=4096
//! ```
#![no_main]

use libfuzzer_sys::fuzz_target;
use oomscope::analysis::device_stats;
use oomscope::load::{LoadError, Progress, load_from};
use oomscope::model::Moment;

fuzz_target!(|bytes: &[u8]| match load_from(bytes, "fuzz", &Progress::default()) {
    Err(LoadError::Internal { message, .. }) => panic!("{message}"),
    Err(error) => assert!(!error.to_string().is_empty()),
    Ok(snapshot) => {
        for timeline in &snapshot.timelines {
            let figures = device_stats(&snapshot, timeline);
            assert_eq!(figures.events + 1, timeline.moments());
            let end = Moment(timeline.events.len() as u32);
            assert!(timeline.lifetimes.live_at(end).count() <= timeline.lifetimes.len());
        }
    }
});
