//! A trace of torch.profiler in Chrome's JSON format, as far as Perfetto's tracks can show it.
//!
//! Times are microseconds: since 1970 or, where the file has `baseTimeNanoseconds`, since then. An event takes 40 bytes and its
//! name is kept once, so memory stays well below the size of the file. Arguments of events are left out.

use foldhash::HashMap;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt::{self, Formatter};
use std::io::Read;
use thiserror::Error;

/// Why a trace cannot be read.
#[derive(Debug, Error)]
#[error("it is no trace in Chrome's JSON format: {0}")]
pub struct ProfileError(#[from] serde_json::Error);

/// A span, or an instant if it has no duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ProfileEvent {
    /// Its row, as an index into [`Profile::rows`].
    pub(super) row: u32,
    /// Its name, as an index into [`Profile::names`].
    pub(super) name: u32,
    /// Its category, as an index into the same.
    pub(super) category: u32,
    /// Nanoseconds since [`Profile::base_ns`].
    pub(super) start_ns: i64,
    /// Nanoseconds; `None` for an instant.
    pub(super) duration_ns: Option<i64>,
}

/// A process or a thread: numbers, or texts such as `Spans`.
pub(super) type Id = String;

/// The events of a trace.
#[derive(Debug, Default)]
pub struct Profile {
    /// Nanoseconds since 1970 from which times count.
    pub(super) base_ns: i64,
    /// Spans and instants, by row and start; the outer of two comes first.
    pub(super) events: Vec<ProfileEvent>,
    /// Different names and categories.
    pub(super) names: Vec<String>,
    /// Process and thread of each row.
    pub(super) rows: Vec<[Id; 2]>,
    /// Names of processes, and of threads, by their ids.
    pub(super) process_names: HashMap<Id, String>,
    pub(super) thread_names: HashMap<[Id; 2], String>,
    /// Number of events of kinds that are not shown: counters, flows.
    left_out: u64,
    name_index: HashMap<String, u32>,
    row_index: HashMap<[Id; 2], u32>,
}

impl Profile {
    /// Read a trace.
    ///
    /// # Errors
    /// If it is not in Chrome's JSON format.
    pub fn read(input: impl Read) -> Result<Self, ProfileError> {
        let mut profile = Self::default();
        let mut reader = serde_json::Deserializer::from_reader(input);
        TopLevel(&mut profile).deserialize(&mut reader)?;
        profile.events.sort_by_key(|event| {
            (event.row, event.start_ns, std::cmp::Reverse(event.duration_ns.unwrap_or_default()))
        });
        Ok(profile)
    }

    /// The first and the last time in microseconds since 1970; `None` without events.
    pub fn time_range_us(&self) -> Option<(i64, i64)> {
        let first = self.events.iter().map(|event| event.start_ns).min()?;
        let end = |event: &ProfileEvent| event.start_ns.saturating_add(event.duration_ns.unwrap_or_default());
        let last = self.events.iter().map(end).max()?;
        let us = |ns: i64| ns.saturating_add(self.base_ns) / 1000;
        Some((us(first), us(last)))
    }

    /// Number of events of kinds that are not shown: counters, flows.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    fn name(&mut self, text: &str) -> u32 {
        if let Some(&at) = self.name_index.get(text) {
            return at;
        }
        let at = self.names.len() as u32;
        self.names.push(text.to_owned());
        self.name_index.insert(text.to_owned(), at);
        at
    }

    fn row(&mut self, id: [Id; 2]) -> u32 {
        let next = self.rows.len() as u32;
        let at = *self.row_index.entry(id.clone()).or_insert(next);
        if at == next {
            self.rows.push(id);
        }
        at
    }

    fn add(&mut self, event: Event<'_>) {
        let id = [event.pid.0, event.tid.0];
        let duration_ns = match event.ph.as_ref() {
            "X" => Some(event.dur.0.max(0)),
            "i" | "I" | "R" => None,
            "M" => {
                let Some(name) = event.args.and_then(|args| args.name) else { return };
                match event.name.as_ref() {
                    "process_name" => _ = self.process_names.insert(id[0].clone(), name),
                    "thread_name" => _ = self.thread_names.insert(id, name),
                    _ => {}
                }
                return;
            }
            _ => {
                self.left_out += 1;
                return;
            }
        };
        let (row, name, category) = (self.row(id), self.name(&event.name), self.name(&event.cat));
        self.events.push(ProfileEvent { row, name, category, start_ns: event.ts.0, duration_ns });
    }
}

/// An event as the file has it.
#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, default)]
    ph: Cow<'a, str>,
    #[serde(borrow, default)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    cat: Cow<'a, str>,
    #[serde(default)]
    pid: Text,
    #[serde(default)]
    tid: Text,
    #[serde(default)]
    ts: Micros,
    #[serde(default)]
    dur: Micros,
    #[serde(default)]
    args: Option<Args>,
}

/// The one argument that is read: the name of a process or a thread.
#[derive(Deserialize)]
struct Args {
    #[serde(default, deserialize_with = "any_text")]
    name: Option<String>,
}

fn any_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let value = serde_json::Value::deserialize(deserializer)?;
    Ok(value.as_str().map(str::to_owned))
}

/// A number or a text, as a text.
#[derive(Default)]
struct Text(String);

/// A number of microseconds, or a text of one, in nanoseconds.
#[derive(Default)]
struct Micros(i64);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::String(text) => text,
            other => other.to_string(),
        }))
    }
}

impl<'de> Deserialize<'de> for Micros {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::Number(number) => Ok(Self(nanoseconds(&number))),
            serde_json::Value::String(text) => {
                text.parse().map(|us: f64| Self((us * 1000.0) as i64)).map_err(D::Error::custom)
            }
            _ => Ok(Self(0)),
        }
    }
}

/// Whole microseconds exactly; parts of one only as far as a double has them, which for times since 1970 is a quarter of one.
fn nanoseconds(us: &serde_json::Number) -> i64 {
    let whole = us.as_i64().map(|us| us.saturating_mul(1000));
    whole.unwrap_or_else(|| us.as_f64().map_or(0, |us| (us * 1000.0) as i64))
}

/// The object around the events, or the events alone.
struct TopLevel<'a>(&'a mut Profile);

impl<'de> DeserializeSeed<'de> for TopLevel<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for TopLevel<'_> {
    type Value = ();

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("an object with traceEvents, or a list of events")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut has_events = false;
        while let Some(key) = map.next_key::<Cow<'_, str>>()? {
            match key.as_ref() {
                "traceEvents" => {
                    has_events = true;
                    map.next_value_seed(TopLevel(&mut *self.0))?;
                }
                "baseTimeNanoseconds" => self.0.base_ns = map.next_value()?,
                _ => _ = map.next_value::<IgnoredAny>()?,
            }
        }
        if has_events { Ok(()) } else { Err(A::Error::missing_field("traceEvents")) }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut events: A) -> Result<(), A::Error> {
        while let Some(event) = events.next_element::<Event<'_>>()? {
            self.0.add(event);
        }
        Ok(())
    }
}
