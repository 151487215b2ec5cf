//! Any text as a link, a file of notes and a log with an exception: what is read can be written and read again.

use oomscope_diagnosis::OomMessage;
use oomscope_report::notes::{Place, read_notes};

pub(crate) fn body(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match text.parse::<Place>() {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(place) => assert_eq!(place.to_string().parse(), Ok(place)),
    }
    read_notes(&text);
    OomMessage::parse(&text);
    OomMessage::parse(&format!("CUDA out of memory. Tried to allocate {text}"));
}
