//! A bar for long exports.

use indicatif::{ProgressBar, ProgressStyle};
use oomscope_export::interchange::Progress;
use oomscope_units as units;
use std::time::{Duration, Instant};

/// Time before a bar is shown: shorter exports never show one.
const PATIENCE: Duration = Duration::from_millis(150);

/// Run something that takes about `total` steps, with a bar on standard error if that is a terminal.
pub(super) fn with_bar<T>(total: u64, unit: &str, run: impl FnOnce(&mut Progress<'_>) -> T) -> T {
    let (start, mut bar) = (Instant::now(), None::<ProgressBar>);
    let mut report = |done: u64| {
        if start.elapsed() < PATIENCE {
            return;
        }
        let bar = bar.get_or_insert_with(|| new_bar(total));
        bar.set_position(done.min(total));
        bar.set_message(format!("{} {unit}", units::count(done)));
    };
    let out = run(&mut Progress::new(&mut report));
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    out
}

fn new_bar(total: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:30} {percent} %, {msg}");
    ProgressBar::new(total).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
