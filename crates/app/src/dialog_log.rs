//! The reason why no file dialog could open. On a system without dialogs, the library of dialogs answers
//! that nothing was chosen, and writes the reason only to the log. So this listens to the log.

use log::{Log, Metadata, Record};
use std::sync::{Mutex, PoisonError};
use tr::tr;

/// The log target of the library of dialogs.
const LIBRARY: &str = "rfd";

/// The program that the library starts if the desktop has no portal. If that fails, no dialog opens.
const LAST_RESORT: &str = "zenity";

static REASON: Mutex<Option<String>> = Mutex::new(None);

/// A log that hands everything on, and remembers the reason why no dialog could open.
#[derive(Debug)]
pub struct DialogLog<L>(pub L);

impl<L: Log> Log for DialogLog<L> {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        self.0.enabled(metadata)
    }

    fn log(&self, record: &Record<'_>) {
        if record.target().starts_with(LIBRARY) && record.level() == log::Level::Error {
            let text = record.args().to_string();
            if text.contains(LAST_RESORT) {
                *REASON.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
            }
        }
        self.0.log(record);
    }

    fn flush(&self) {
        self.0.flush();
    }
}

/// The reason why the last dialog could not open; once. `None` if it did.
pub(crate) fn take_reason() -> Option<String> {
    REASON.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// A message for the user: the reason, what would help, and what works instead of a dialog.
pub(crate) fn explain(reason: &str) -> String {
    tr!(
        "No system dialog could open ({reason}). Install xdg-desktop-portal or zenity, or write the path in the field.",
        reason
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Log for Count {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }

        fn log(&self, _: &Record<'_>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }

        fn flush(&self) {}
    }

    #[test]
    fn the_reason_is_what_the_last_resort_failed_with() {
        let log = DialogLog(Count::default());
        let say = |target: &str, text: &str| {
            let mut record = Record::builder();
            log.log(&record.target(target).level(log::Level::Error).args(format_args!("{text}")).build());
        };
        say("rfd::backend", "Failed to connect to session bus");
        say("oomscope::app", "zenity is mentioned elsewhere");
        assert_eq!(take_reason(), None);
        say("rfd::backend", "Failed to save file with zenity: No such file");
        assert_eq!(take_reason().as_deref(), Some("Failed to save file with zenity: No such file"));
        assert_eq!(take_reason(), None);
        assert_eq!(log.0.0.load(Ordering::Relaxed), 3);
    }
}
