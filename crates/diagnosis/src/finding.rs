//! A finding: one statement, with everything that it rests on.

use super::figure::{self, Figure};
use super::findings::FindingId;
use super::sentence::Sentence;
use oomscope_analysis::segment_state::GroupKey;
use oomscope_model::{AllocId, Bytes, EventIx, StackId};
use oomscope_program::share::share;
use oomscope_units as units;

/// Lines of code that a verdict names, at most: as many as fit on a screen with the rest.
pub(super) const MAX_SITES: usize = 8;

/// Stacks that a verdict shows whole, at most.
pub(super) const MAX_STACKS: usize = 3;

/// Allocations that a finding lists, at most.
pub(super) const MAX_ALLOCATIONS: usize = 10;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
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

/// A named figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Number {
    /// Its key in JSON, with the unit where it has one.
    pub key: &'static str,
    /// Its name in words.
    pub label: &'static str,
    /// The figure.
    pub figure: Figure,
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
    /// They are retained from before.
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
            Self::Retained => format!("kept, {n} {noun}"),
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
    pub bytes: Bytes,
    /// Number of allocations that they are in.
    pub count: usize,
    /// The role of the bytes.
    pub role: Role,
}

impl Site {
    /// The line as text: `train.py:55 attention`.
    pub(super) fn label(&self) -> String {
        format!("{} {}", self.place(), self.name)
    }

    /// The file and the line alone: `train.py:55`.
    pub(super) fn place(&self) -> String {
        format!("{}:{}", units::basename(&self.file), self.line)
    }
}

/// Memory by the user's own lines, as a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeTree {
    /// The memory that it divides, to be read as a title.
    pub title: &'static str,
    /// All bytes of it.
    pub bytes: Bytes,
    /// Its rows in depth-first order, at each depth most bytes first.
    pub rows: Vec<CodeRow>,
}

impl CodeTree {
    /// The share of all bytes that a row has, from 0 to 1.
    pub fn share_of(&self, row: &CodeRow) -> f64 {
        share(row.bytes, self.bytes)
    }
}

/// A row of a [`CodeTree`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeRow {
    /// Rows above it that called it.
    pub depth: usize,
    /// Lines that called each other, outermost first, each with nearly all bytes of the one before. None: small branches
    /// together, or memory without a line of code.
    pub lines: Vec<Site>,
    /// Whether the last line belongs to a package that the own line before it, or above it, called.
    pub is_package: bool,
    /// Whether it stands for small branches together, each with lines of its own.
    pub is_rest: bool,
    /// The bytes below the last of them.
    pub bytes: Bytes,
    /// Number of allocations that they are in.
    pub count: usize,
}

/// A stack, and bytes that it answers for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StackBytes {
    /// The stack.
    pub stack: StackId,
    /// The bytes.
    pub bytes: Bytes,
    /// Number of allocations that they are in.
    pub count: usize,
}

/// The facts that a finding rests on.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Evidence {
    /// Figures.
    pub numbers: Vec<Number>,
    /// The pool, the stream and the size class that the request's holes are of.
    pub largest_hole_of: Option<GroupKey>,
    /// Lines of code to look at, most important first.
    pub sites: Vec<Site>,
    /// Whole stacks, most bytes first.
    pub stacks: Vec<StackBytes>,
    /// The largest allocations, largest first.
    pub allocations: Vec<AllocId>,
    /// All allocations that the finding is about, where it is about some more than about others.
    pub about: Vec<AllocId>,
    /// Events.
    pub events: Vec<EventIx>,
    /// The memory that the finding is about, by lines of code.
    pub tree: Option<CodeTree>,
}

impl Evidence {
    /// The allocations that the finding is about, largest first, of which the first are listed.
    pub(super) fn about(&mut self, ids: impl IntoIterator<Item = AllocId>) {
        self.about = ids.into_iter().collect();
        self.allocations = self.about.iter().take(MAX_ALLOCATIONS).copied().collect();
    }

    /// Add a size.
    pub(super) fn bytes(&mut self, key: &'static str, label: &'static str, bytes: Bytes) {
        self.number(key, label, figure::bytes(bytes));
    }

    /// Add a size that is a part of another. It is left out if it is larger, which only a damaged or contradictory
    /// recording shows.
    pub(super) fn part(&mut self, key: &'static str, label: &'static str, bytes: Bytes, whole_bytes: Bytes) {
        self.number(key, label, figure::bytes(bytes).of(whole_bytes));
    }

    /// Add a number of things.
    pub(super) fn count(&mut self, key: &'static str, label: &'static str, n: usize) {
        self.number(key, label, figure::count(n));
    }

    /// Add an event as a figure, and to the events.
    pub(super) fn event(&mut self, key: &'static str, label: &'static str, event: EventIx) {
        self.number(key, label, figure::event(event));
        self.events.push(event);
    }

    /// Add a figure, unless it is larger than its whole.
    pub(super) fn number(&mut self, key: &'static str, label: &'static str, figure: Figure) {
        if !figure.is_refused() {
            self.numbers.push(Number { key, label, figure });
        }
    }
}

/// Something to try.
#[derive(Debug, Clone, PartialEq)]
pub struct Advice {
    /// The advice in a sentence.
    pub text: Sentence,
    /// The code or setting to write, where there is one.
    pub code: Option<String>,
    /// The id of the remedy that simulates this very change, where there is one.
    pub remedy: Option<&'static str>,
}

/// What a picture says of the blocks that a finding is about.
#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    /// What they are, in a few words.
    pub label: Sentence,
    /// The parts of them that repetitions of the program left one after another, in that order.
    pub steps: Vec<MarkStep>,
}

/// What one repetition left behind.
#[derive(Debug, Clone, PartialEq)]
pub struct MarkStep {
    /// The first event of the repetition.
    pub start: EventIx,
    /// How much, and in which iteration.
    pub label: Sentence,
}

impl From<Sentence> for Mark {
    fn from(label: Sentence) -> Self {
        Self { label, steps: Vec::new() }
    }
}

/// One statement about a recording.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The kind of finding.
    pub id: FindingId,
    /// How much it matters.
    pub severity: Severity,
    /// The statement in a line.
    pub title: Sentence,
    /// What a picture says of the blocks of [`field@Evidence::about`]. Only verdicts have it.
    pub mark: Option<Mark>,
    /// Why, in one sentence.
    pub why: Option<Sentence>,
    /// What happened in detail, a sentence or two each.
    pub explanation: Vec<Sentence>,
    /// The facts that it rests on.
    pub evidence: Evidence,
    /// Things to try, most promising first.
    pub advice: Vec<Advice>,
    /// Bytes that it is about, by which findings that matter equally are in order. What a change would save, only remedies say.
    pub(super) weight_bytes: Bytes,
    /// Of a verdict: so many bytes more than the median of the job's ranks would be the verdict instead; `None` where they would not.
    pub(crate) uneven_from_bytes: Option<Bytes>,
    /// An observation that would confirm it.
    pub confirm: Option<Sentence>,
    /// Limits of what the recording shows about it.
    pub limits: Vec<Sentence>,
}

impl Finding {
    /// A finding that has only its statement so far.
    pub(super) fn new(id: FindingId, severity: Severity, title: impl Into<Sentence>) -> Self {
        Self {
            id,
            severity,
            title: title.into(),
            mark: None,
            why: None,
            explanation: Vec::new(),
            evidence: Evidence::default(),
            advice: Vec::new(),
            weight_bytes: Bytes::ZERO,
            uneven_from_bytes: None,
            confirm: None,
            limits: Vec::new(),
        }
    }

    /// Say why, in one sentence: with the statement and the first advice, it is what a reader sees first.
    pub(super) fn because(&mut self, text: impl Into<Sentence>) {
        self.why = stated(text);
    }

    /// Say what happened, unless a figure in it contradicts another.
    pub(super) fn explain(&mut self, text: impl Into<Sentence>) {
        self.explanation.extend(stated(text));
    }

    /// Say what happened, if there is something to say.
    pub(super) fn explain_if(&mut self, text: Option<impl Into<Sentence>>) {
        self.explanation.extend(text.and_then(stated));
    }

    /// Say what to try.
    pub(super) fn advise(&mut self, text: impl Into<Sentence>) {
        self.advice.extend(stated(text).map(|text| Advice { text, code: None, remedy: None }));
    }

    /// Say what to try, and the code for it.
    pub(super) fn advise_code(&mut self, text: impl Into<Sentence>, code: impl Into<String>) {
        let code = Some(code.into());
        self.advice.extend(stated(text).map(|text| Advice { text, code, remedy: None }));
    }

    /// Say what to try, the code for it, and the id of the remedy that simulates it.
    pub(super) fn advise_remedy(
        &mut self,
        remedy: &'static str,
        text: impl Into<Sentence>,
        code: impl Into<String>,
    ) {
        let code = Some(code.into());
        self.advice.extend(stated(text).map(|text| Advice { text, code, remedy: Some(remedy) }));
    }

    /// Set the bytes that it is about.
    pub(super) fn weighs(&mut self, bytes: Bytes) {
        self.weight_bytes = bytes;
    }

    /// Say what would confirm it.
    pub(super) fn confirm(&mut self, text: impl Into<Sentence>) {
        self.confirm = stated(text);
    }

    /// Say what is not known.
    pub(super) fn limit(&mut self, text: impl Into<Sentence>) {
        self.limits.extend(stated(text));
    }

    /// Whether its statement has a figure that is larger than its whole.
    pub(super) fn is_refused(&self) -> bool {
        self.title.is_refused()
    }

    /// Every sentence of it that may have figures, the statement first.
    pub fn sentences(&self) -> impl Iterator<Item = &Sentence> {
        let advice = self.advice.iter().map(|advice| &advice.text);
        std::iter::once(&self.title)
            .chain(&self.why)
            .chain(&self.explanation)
            .chain(advice)
            .chain(&self.confirm)
            .chain(&self.limits)
    }
}

/// A command or a setting with its value, to be copied.
pub(super) fn command(words: &'static str, value: impl std::fmt::Display) -> String {
    format!("{words} {value}")
}

/// The sentence, unless a figure in it is larger than its whole.
fn stated(text: impl Into<Sentence>) -> Option<Sentence> {
    Some(text.into()).filter(|sentence| !sentence.is_refused())
}
