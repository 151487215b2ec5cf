//! Hours of use in minutes: memory does not grow. Run by hand, in a release build:
//! `cargo test --release --lib -- --ignored --nocapture soak`.

use super::*;

/// Files that are opened and closed again.
const FILES: usize = 200;

/// Tabs that are open at once.
const TABS: usize = 20;

/// Frames with the cursor at another event each.
const SCRUB_STEPS: u32 = 100_000;

/// Growth that is none: caches that are filled once, and pages that the allocator keeps.
const TOLERANCE_KIB: u64 = 32 << 10;

/// Anonymous memory of this process in KiB; `None` where the system does not tell.
fn anonymous_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    line.trim().trim_end_matches("kB").trim().parse().ok()
}

fn samples() -> Vec<PathBuf> {
    let folder = sample("frag_oom.pickle").parent().expect("a folder").to_owned();
    let entries = std::fs::read_dir(folder).expect("the samples");
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.to_string_lossy().contains(".pickle"));
    paths.sort();
    paths
}

/// Run `step` so often, and check that the second half takes no more memory than the first one did.
fn grows_not(what: &str, steps: usize, mut step: impl FnMut(usize)) {
    let mut half = None;
    let start = Instant::now();
    for at in 0..steps {
        if at == steps / 2 {
            half = anonymous_kib();
        }
        step(at);
    }
    let (Some(half), Some(end)) = (half, anonymous_kib()) else {
        eprintln!("SKIPPED: the system does not tell how much memory is used");
        return;
    };
    eprintln!(
        "{what}: {steps} in {:?}, {half} KiB after half of them, {end} KiB at the end",
        start.elapsed()
    );
    assert!(end <= half + TOLERANCE_KIB, "{what}: {half} KiB grew to {end} KiB");
}

#[test]
#[ignore = "takes minutes"]
fn soak_files_tabs_and_scrubbing() {
    let mut harness = harness();
    let paths = samples();
    grows_not("files opened and closed", FILES, |at| {
        open_path(&mut harness, paths[at % paths.len()].clone());
        harness.state_mut().commands.push(crate::command::Command::Close(0));
        harness.run_steps(3);
    });
    let large = ["frag_oom.pickle", "kv_cache_oom.pickle", "streams.pickle", "gpt_oom_forward.pickle"];
    for name in large.iter().cycle().take(TABS) {
        open_path(&mut harness, sample(name));
    }
    assert_eq!(harness.state().documents.len(), TABS);
    let mut place = 1u32;
    grows_not("scrub steps over all tabs", SCRUB_STEPS as usize, |at| {
        harness.state_mut().current = at / 50 % TABS;
        let device = device(&mut harness);
        let last = device.recording.events.len() as u32;
        // Steps along the axis, and a jump now and then.
        place = if at % 50 == 0 {
            place.wrapping_mul(2_654_435_761).wrapping_add(7)
        } else {
            place.wrapping_add(13)
        };
        device.at.go_to(Moment(place % (last + 1)));
        harness.step();
    });
}
