//! Promises that are kept beside a recording: what `oomscope fixes` said of it, read again.
//!
//! The file is the JSON of the fixes. It may come from a stranger or be about another recording of the same name.

use oomscope_model::Bytes;
use oomscope_remedies::{Attributed, Prediction, Trust, Wanted};
use oomscope_units as units;
use serde::Deserialize;
use thiserror::Error;

/// What the JSON of fixes says it is.
pub(super) const SCHEMA: &str = "oomscope-fixes";

/// The version of that JSON; it changes when a key changes its meaning.
pub(super) const VERSION: u32 = 2;

/// The largest file that is read, in bytes: hundreds of fixes.
pub const MAX_PROMISES_BYTES: usize = 4 << 20;

/// What was promised of a fix.
#[derive(Debug, Clone, PartialEq)]
pub struct Promise {
    /// The id, or ids joined by `+`.
    pub id: String,
    /// What to do, in a few words.
    pub title: String,
    /// The most bytes that are requested at once.
    pub peak_requested: u64,
    /// The most bytes that are reserved.
    pub peak_reserved: u64,
    /// Whether the program fits.
    pub fits: Option<bool>,
    /// How far it goes.
    pub basis: Trust,
    /// How surely the purpose of what it changes is known.
    pub attribution: Attributed,
    /// The share by which the peak may be off.
    pub error: Option<f64>,
}

impl From<Prediction> for Promise {
    fn from(found: Prediction) -> Self {
        Self {
            id: found.id,
            title: found.title,
            peak_requested: found.figures.peak_requested,
            peak_reserved: found.figures.peak_reserved,
            fits: found.fits,
            basis: found.basis,
            attribution: found.attribution,
            error: found.error,
        }
    }
}

/// What tells recordings apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct RecordingMark {
    /// The device.
    pub device: i64,
    /// Its events.
    pub recorded_events: u32,
    /// Its most active bytes.
    pub recorded_peak: Bytes,
    /// The event of its last request that failed.
    pub recorded_oom: Option<u32>,
}

/// Promises as they were kept.
#[derive(Debug, Clone, PartialEq)]
pub struct KeptPromises {
    /// The recording that they are about.
    pub of: RecordingMark,
    /// The version of the program that made them.
    pub oomscope: String,
    /// All of them.
    pub promises: Vec<Promise>,
}

/// Why kept promises are not read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum KeptError {
    /// It is no JSON of fixes.
    #[error("it has no promises of fixes: {0}")]
    NoFixes(String),
    /// It was written by a later version.
    #[error("it was written by a later version of oomscope")]
    Later,
}

#[derive(Deserialize)]
struct Record {
    schema: String,
    version: u32,
    oomscope: String,
    #[serde(flatten)]
    of: RecordingMark,
    remedies: Vec<PromiseRecord>,
}

#[derive(Deserialize)]
struct PromiseRecord {
    id: String,
    title: String,
    peak_requested: u64,
    peak_reserved: u64,
    fits: Option<bool>,
    basis: String,
    attribution: String,
    error: Option<f64>,
}

/// Read the JSON of fixes. What is no fix of this version is left out.
///
/// # Errors
/// When it is something else, or of a later version.
pub fn kept_promises(text: &str) -> Result<KeptPromises, KeptError> {
    let odd = |error: String| KeptError::NoFixes(units::printable(&error));
    let record: Record = serde_json::from_str(text).map_err(|error| odd(error.to_string()))?;
    if record.schema != SCHEMA {
        return Err(odd(format!("its schema is not \"{SCHEMA}\"")));
    }
    if VERSION < record.version {
        return Err(KeptError::Later);
    }
    let is_known = |promise: &PromiseRecord| Wanted::parse(&promise.id).is_ok();
    Ok(KeptPromises {
        of: record.of,
        oomscope: units::printable(&record.oomscope),
        promises: record.remedies.into_iter().filter(is_known).map(promise).collect(),
    })
}

fn promise(record: PromiseRecord) -> Promise {
    let is = |word: &str, key: &str| word == key;
    Promise {
        id: record.id,
        title: units::printable(&record.title),
        peak_requested: record.peak_requested,
        peak_reserved: record.peak_reserved,
        fits: record.fits,
        // What is not known to be more promises nothing.
        basis: if is(&record.basis, Trust::Simulated.key()) { Trust::Simulated } else { Trust::Bound },
        attribution: if is(&record.attribution, Attributed::Seen.key()) {
            Attributed::Seen
        } else {
            Attributed::Inferred
        },
        error: record.error.filter(|error| (0.0..=1.0).contains(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(changes: &[(&str, &str)]) -> Result<KeptPromises, KeptError> {
        let mut text = r#"{"schema":"oomscope-fixes","version":2,"oomscope":"0.1.0","device":0,
            "recorded_events":7,"recorded_peak":9,"recorded_oom":5,"file":"a","remedies":[
            {"id":"sgd","title":"train","peak_requested":4,"peak_reserved":5,"fits":true,"basis":"simulated",
             "attribution":"seen","error":0.01}]}"#
            .to_owned();
        for (from, to) in changes {
            assert!(text.contains(from), "{from}");
            text = text.replace(from, to);
        }
        kept_promises(&text)
    }

    #[test]
    fn promises_are_read_again() {
        let found = kept(&[]).expect("it is as it is written");
        assert_eq!(found.of.recorded_oom, Some(5));
        let [promise] = found.promises.as_slice() else { panic!("there is one") };
        assert_eq!((promise.peak_requested, promise.fits, promise.error), (4, Some(true), Some(0.01)));
    }

    #[test]
    fn a_strangers_file_promises_nothing_that_is_not_known() {
        let of = |from, to| kept(&[(from, to)]).map(|found| found.promises);
        assert_eq!(of("\"sgd\"", "\"rm -rf\""), Ok(Vec::new()));
        assert!(of("\"simulated\"", "\"sworn\"").is_ok_and(|all| all[0].basis == Trust::Bound));
        assert!(of("0.01", "-1e300").is_ok_and(|all| all[0].error.is_none()));
        assert_eq!(of("\"version\":2", "\"version\":3"), Err(KeptError::Later));
        for (from, to) in [
            ("oomscope-fixes", "other"),
            ("\"peak_requested\":4", "\"peak_requested\":-4"),
            ("{\"schema", "[{\"schema"),
        ] {
            assert!(matches!(of(from, to), Err(KeptError::NoFixes(_))), "{to}");
        }
    }
}
