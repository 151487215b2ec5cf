//! A finding: one statement, with everything that it rests on.

use crate::model::{AllocId, EventIx, StackId};
use crate::units;

/// Lines of code that a verdict names, at most: as many as fit on a screen with the rest.
pub(super) const MAX_SITES: usize = 8;

/// Stacks that a verdict shows whole, at most.
pub(super) const MAX_STACKS: usize = 3;

/// Allocations that a finding lists, at most.
pub(super) const MAX_ALLOCATIONS: usize = 10;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Good to know; nothing is wrong.
    Info,
    /// It costs memory that could be saved.
    Warning,
    /// It is why memory ran out.
    Critical,
}

impl Severity {
    /// `critical`, `warning` or `info`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Critical => "critical",
        }
    }
}

/// A figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// Bytes.
    Bytes(i64),
    /// A number of things.
    Count(u64),
    /// A share, from 0 to 1.
    Share(f64),
    /// An event: its index in the trace.
    Event(EventIx),
}

impl Value {
    /// The figure as text.
    pub fn text(self) -> String {
        match self {
            Self::Bytes(bytes) => units::bytes(bytes),
            Self::Count(n) => units::count(n),
            Self::Share(share) => format!("{:.0} %", share * 100.0),
            Self::Event(event) => format!("event {}", units::count(event.0)),
        }
    }
}

/// A named figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Number {
    /// Its key in JSON, with the unit where it has one.
    pub key: &'static str,
    /// Its name in words.
    pub label: &'static str,
    /// The figure.
    pub value: Value,
}

/// The role of a line's bytes in a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// They are in use.
    Live,
    /// They were requested in vain.
    Requested,
    /// They are free, and the line's blocks keep them from being used or given back.
    KeepsFree,
    /// They are retained from earlier iterations.
    Retained,
    /// They went back to the driver.
    Returned,
    /// They belong to the line's blocks, and nobody requested them.
    Rounding,
}

impl Role {
    /// Its name in JSON.
    pub fn key(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Requested => "requested",
            Self::KeepsFree => "keeps_free",
            Self::Retained => "kept",
            Self::Returned => "returned",
            Self::Rounding => "rounding",
        }
    }

    /// How `count` allocations of a line relate to its bytes.
    pub fn text(self, count: usize) -> String {
        let n = units::count(count as u64);
        let noun = if count == 1 { "allocation" } else { "allocations" };
        match self {
            Self::Live => format!("{n} {noun}"),
            Self::Requested => "requested".to_owned(),
            Self::KeepsFree => {
                format!("free memory that {n} {noun} keep{}", if count == 1 { "s" } else { "" })
            }
            Self::Retained => format!("{n} {noun} from earlier iterations"),
            Self::Rounding => format!("not asked for, in {n} {noun}"),
            Self::Returned => format!("given back, {n} {}", if count == 1 { "time" } else { "times" }),
        }
    }
}

/// A line of code, and bytes that it answers for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// The file as recorded, control characters replaced.
    pub file: String,
    /// The line from 1; 0 where it is not known.
    pub line: i64,
    /// The function.
    pub name: String,
    /// The bytes.
    pub bytes: i64,
    /// Number of allocations that they are in.
    pub count: usize,
    /// The role of the bytes.
    pub role: Role,
}

/// A stack, and bytes that it answers for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StackBytes {
    /// The stack.
    pub stack: StackId,
    /// The bytes.
    pub bytes: i64,
    /// Number of allocations that they are in.
    pub count: usize,
}

/// The facts that a finding rests on.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Evidence {
    /// Figures.
    pub numbers: Vec<Number>,
    /// Lines of code to look at, most important first.
    pub sites: Vec<Site>,
    /// Whole stacks, most bytes first.
    pub stacks: Vec<StackBytes>,
    /// Allocations, largest first.
    pub allocations: Vec<AllocId>,
    /// Events.
    pub events: Vec<EventIx>,
}

impl Evidence {
    /// Add a size.
    pub fn bytes(&mut self, key: &'static str, label: &'static str, bytes: i64) {
        self.numbers.push(Number { key, label, value: Value::Bytes(bytes) });
    }

    /// Add a number of things.
    pub fn count(&mut self, key: &'static str, label: &'static str, n: usize) {
        self.numbers.push(Number { key, label, value: Value::Count(n as u64) });
    }

    /// Add a share, from 0 to 1.
    pub fn share(&mut self, key: &'static str, label: &'static str, share: f64) {
        self.numbers.push(Number { key, label, value: Value::Share(share) });
    }

    /// Add an event as a figure, and to the events.
    pub fn event(&mut self, key: &'static str, label: &'static str, event: EventIx) {
        self.numbers.push(Number { key, label, value: Value::Event(event) });
        self.events.push(event);
    }
}

/// Something to try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// The advice in a sentence.
    pub text: String,
    /// The code or setting to write, where there is one.
    pub code: Option<String>,
}

/// An estimate of the bytes that advice would save.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saving {
    /// Bytes.
    pub bytes: i64,
    /// How they are estimated.
    pub formula: String,
}

/// One statement about a recording.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The kind of finding; stable across versions.
    pub id: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// The statement in a line.
    pub title: String,
    /// What happened, a sentence or two each.
    pub explanation: Vec<String>,
    /// The facts that it rests on.
    pub evidence: Evidence,
    /// Things to try, most promising first.
    pub advice: Vec<Advice>,
    /// How much that would save, if it can be estimated.
    pub saving: Option<Saving>,
    /// An observation that would confirm it.
    pub confirm: Option<String>,
    /// Limits of what the recording shows about it.
    pub limits: Vec<String>,
}

impl Finding {
    /// A finding that has only its statement so far.
    pub fn new(id: &'static str, severity: Severity, title: impl Into<String>) -> Self {
        Self {
            id,
            severity,
            title: title.into(),
            explanation: Vec::new(),
            evidence: Evidence::default(),
            advice: Vec::new(),
            saving: None,
            confirm: None,
            limits: Vec::new(),
        }
    }

    /// Say what happened.
    pub fn explain(&mut self, text: impl Into<String>) {
        self.explanation.push(text.into());
    }

    /// Say what to try.
    pub fn advise(&mut self, text: impl Into<String>) {
        self.advice.push(Advice { text: text.into(), code: None });
    }

    /// Say what to try, and the code for it.
    pub fn advise_code(&mut self, text: impl Into<String>, code: impl Into<String>) {
        self.advice.push(Advice { text: text.into(), code: Some(code.into()) });
    }

    /// Say what is not known.
    pub fn limit(&mut self, text: impl Into<String>) {
        self.limits.push(text.into());
    }
}
