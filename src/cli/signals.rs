//! Signals that end the program. Outputs that are not complete go first; then the signal does what it always does.

use oomscope_export::save;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use std::fs;
use std::thread;

/// Watch for signals, on a thread of its own, until the program ends.
pub(super) fn watch() {
    let Some(ignored) = ignored() else { return };
    let watched =
        [SIGHUP, SIGINT, SIGTERM].into_iter().filter(move |signal| ignored >> (signal - 1) & 1 == 0);
    // Where there is no such thread, signals end the program at once, and the next output sweeps up.
    let thread = thread::Builder::new().name("oomscope-signals".to_owned());
    thread
        .spawn(move || {
            let mut signals = Signals::new(watched);
            for signal in signals.iter_mut().flat_map(Signals::forever) {
                save::abandon(|| _ = emulate_default_handler(signal));
            }
        })
        .ok();
}

/// The signals that whoever started the program has told it to ignore, as `nohup` does, by their bits. They stay ignored.
fn ignored() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(mask.trim(), 16).ok()
}
