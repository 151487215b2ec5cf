//! A diagnosis with everything looked up: plain texts and figures, ready for any medium.
//!
//! Control characters are replaced and long texts cut here; what else a medium must not see is its
//! own affair.

use super::redact;
use crate::analysis::{Phase, PhaseBasis, SiteFrame, site_frame};
use crate::diagnosis::{Advice, Diagnosis, Finding, Number, Place, Saving, Severity, Site};
use crate::model::{AllocId, Anchor, Moment, Snapshot, StackId, Timeline};
use crate::report::{moment_text, non_default_settings};
use crate::units;

/// The longest text that is taken from a file, in characters.
const MAX_TEXT: usize = 300;

/// What a report is made of.
#[derive(Debug, Clone, Copy)]
pub struct ReportInput<'a> {
    /// The file's name.
    pub name: &'a str,
    /// The file.
    pub snapshot: &'a Snapshot,
    /// The device.
    pub timeline: &'a Timeline,
    /// What was found about it.
    pub diagnosis: &'a Diagnosis,
    /// How many lines, stacks and allocations each finding lists.
    pub top: usize,
    /// Whether to leave out what tells who and where: paths, user names, hosts.
    pub redacted: bool,
}

/// A whole report.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    pub(super) name: String,
    pub(super) device: i64,
    pub(super) device_name: String,
    pub(super) at: Place,
    pub(super) dump: Place,
    pub(super) moment_text: String,
    pub(super) facts: Vec<(&'static str, String)>,
    pub(super) settings: Vec<String>,
    pub(super) has_settings: bool,
    pub(super) events: usize,
    pub(super) cards: Vec<Card>,
}

/// A finding.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Card {
    pub(super) is_verdict: bool,
    pub(super) id: &'static str,
    pub(super) severity: Severity,
    pub(super) title: String,
    pub(super) explanation: Vec<String>,
    pub(super) numbers: Vec<Number>,
    pub(super) sites: Vec<Site>,
    pub(super) stacks: Vec<StackText>,
    pub(super) allocations: Vec<AllocationText>,
    pub(super) events: Vec<u32>,
    pub(super) advice: Vec<Advice>,
    pub(super) saving: Option<Saving>,
    pub(super) confirm: Option<String>,
    pub(super) limits: Vec<String>,
}

/// A stack, innermost frame first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StackText {
    pub(super) bytes: i64,
    pub(super) count: usize,
    pub(super) frames: Vec<SiteFrame>,
    /// Whether no finding before has it.
    pub(super) is_new: bool,
}

/// An allocation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AllocationText {
    pub(super) address: u64,
    pub(super) bytes: i64,
    pub(super) event: Option<u32>,
    pub(super) site: String,
}

impl Document {
    /// Look everything up.
    pub fn new(input: &ReportInput<'_>) -> Self {
        let ReportInput { snapshot, timeline, diagnosis, .. } = *input;
        let clean = Clean { redacted: input.redacted };
        let settings = non_default_settings(snapshot);
        Self {
            name: clean.text(if input.redacted { units::basename(input.name) } else { input.name }),
            device: timeline.device.0,
            device_name: timeline.device.to_string(),
            at: diagnosis.at,
            dump: diagnosis.dump,
            moment_text: moment_text(timeline, diagnosis.at.moment),
            facts: facts(snapshot, timeline, diagnosis),
            settings: settings.iter().map(|text| clean.text(text)).collect(),
            has_settings: !snapshot.settings.is_empty(),
            events: timeline.events.len(),
            cards: cards(input, clean),
        }
    }

    /// The id of the verdict.
    pub fn verdict(&self) -> &'static str {
        self.cards.first().map_or("none", |card| card.id)
    }

    /// The allocator's settings, in a line.
    pub(super) fn settings_text(&self) -> String {
        match (self.has_settings, self.settings.is_empty()) {
            (false, _) => "settings not recorded".to_owned(),
            (true, true) => "default settings".to_owned(),
            (true, false) => self.settings.join(" · "),
        }
    }
}

/// How texts of the file are changed.
#[derive(Debug, Clone, Copy)]
struct Clean {
    redacted: bool,
}

impl Clean {
    fn text(self, text: &str) -> String {
        let text = units::printable(text);
        let text = if self.redacted { redact::paths(&text) } else { text };
        shortened(text)
    }

    /// Code has lines of its own.
    fn code(self, text: &str) -> String {
        text.lines().map(|line| self.text(line)).collect::<Vec<_>>().join("\n")
    }

    fn file(self, file: &str) -> String {
        let file = units::printable(if self.redacted { units::basename(file) } else { file });
        shortened(file)
    }

    fn frame(self, frame: &SiteFrame) -> SiteFrame {
        SiteFrame { file: self.file(&frame.file), line: frame.line, name: self.text(&frame.name) }
    }
}

fn shortened(text: String) -> String {
    match text.char_indices().nth(MAX_TEXT) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

/// How it was recorded.
fn facts(snapshot: &Snapshot, timeline: &Timeline, diagnosis: &Diagnosis) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    facts.extend(doing(diagnosis.at).map(|text| ("At this moment", text)));
    if diagnosis.dump.moment != diagnosis.at.moment {
        facts.extend(doing(diagnosis.dump).map(|text| ("At the dump", text)));
    }
    let events = units::count(timeline.events.len() as u64);
    let mut recorded =
        vec![if timeline.events.len() == 1 { "1 event".to_owned() } else { format!("{events} events") }];
    if let Some((first, last)) = timeline.events.time_range_us() {
        recorded.push(format!("{} long", units::duration_us(last.saturating_sub(first))));
        recorded.push(format!("started {}", units::date_time_us(first)));
    }
    let before = timeline.active.at(Moment::START);
    let is_partial = timeline.anchor == Anchor::TraceOnly;
    if is_partial {
        recorded.push("what was in use before the first event is unknown".to_owned());
    } else if !timeline.events.is_empty() {
        recorded.push(format!("{} in use before the first event", units::bytes(before)));
    }
    facts.push(("Recorded", recorded.join(" · ")));
    facts.push(("Stacks", stacks(snapshot).to_owned()));
    let (active, reserved) = (timeline.active.peak().1, timeline.reserved.peak().1);
    let least = if is_partial { "at least " } else { "" };
    facts.push((
        "Peaks",
        format!("{least}{} in use · {least}{} reserved", units::bytes(active), units::bytes(reserved)),
    ));
    let others: Vec<String> = snapshot
        .timelines
        .iter()
        .filter(|other| other.device != timeline.device)
        .map(|other| format!("{}: peak {}", other.device, units::bytes(other.active.peak().1)))
        .collect();
    if !others.is_empty() {
        facts.push(("Other memory", others.join(" · ")));
    }
    facts
}

fn doing(place: Place) -> Option<String> {
    let position = place.position;
    let phase = match position.phase {
        Phase::Init => "building the model",
        Phase::Data => "loading data",
        Phase::Forward => "forward pass",
        Phase::Backward => "backward pass",
        Phase::Optimizer => "optimizer step",
        Phase::Eval => "evaluation",
        Phase::Unknown => return None,
    };
    let after = if position.basis == Some(PhaseBasis::LiveMemory) && position.phase == Phase::Optimizer {
        "after an "
    } else {
        ""
    };
    let iteration = match (position.iteration, position.iteration_of_recording) {
        (Some(number), _) => format!(" of iteration {}, counted from 0", units::count(number)),
        (None, Some(number)) => {
            format!(" of iteration {} of the recording, counted from 0", units::count(number))
        }
        (None, None) => String::new(),
    };
    let least = position.iteration_at_least.map(|number| {
        let number = units::count(number);
        format!("; at least iteration {number} of the training, as an optimizer had stepped before")
    });
    let basis = position.basis.and_then(PhaseBasis::text).map(|text| format!(", {text}"));
    Some([after, phase, &iteration, &least.unwrap_or_default(), &basis.unwrap_or_default()].concat())
}

fn stacks(snapshot: &Snapshot) -> &'static str {
    let (mut python, mut native) = (false, false);
    for id in 0..snapshot.frames.len() as u32 {
        let frame = snapshot.frames.get(crate::model::FrameId(id));
        let file = snapshot.strings.get(frame.file);
        // Names such as <frozen runpy> are Python's, too.
        let is_python = file.ends_with(".py") || file.starts_with('<');
        python |= is_python;
        native |= !is_python;
        if python && native {
            break;
        }
    }
    match (python, native) {
        (true, true) => "Python and C++ frames",
        (true, false) => "Python frames only",
        (false, true) => "C++ frames only",
        (false, false) => "none recorded",
    }
}

fn cards(input: &ReportInput<'_>, clean: Clean) -> Vec<Card> {
    let mut cards: Vec<Card> =
        input.diagnosis.findings.iter().map(|finding| card(input, clean, finding)).collect();
    if let Some(verdict) = cards.first_mut() {
        verdict.is_verdict = true;
    }
    let mut seen: Vec<Vec<SiteFrame>> = Vec::new();
    for stack in cards.iter_mut().flat_map(|card| &mut card.stacks) {
        stack.is_new = !seen.contains(&stack.frames);
        if stack.is_new {
            seen.push(stack.frames.clone());
        }
    }
    cards
}

fn card(input: &ReportInput<'_>, clean: Clean, finding: &Finding) -> Card {
    let top = input.top;
    let text = |text: &String| clean.text(text);
    let evidence = &finding.evidence;
    Card {
        is_verdict: false,
        id: finding.id,
        severity: finding.severity,
        title: clean.text(&finding.title),
        explanation: finding.explanation.iter().map(|line| prose(clean, line)).collect(),
        numbers: evidence.numbers.clone(),
        sites: evidence.sites.iter().take(top).map(|site| clean_site(clean, site)).collect(),
        stacks: evidence
            .stacks
            .iter()
            .filter(|row| row.stack != StackId::EMPTY)
            .take(top)
            .map(|row| StackText {
                bytes: row.bytes,
                count: row.count,
                frames: frames(input.snapshot, clean, row.stack),
                is_new: true,
            })
            .collect(),
        allocations: evidence.allocations.iter().take(top).map(|&id| allocation(input, clean, id)).collect(),
        events: evidence.events.iter().take(top.max(1)).map(|event| event.0).collect(),
        advice: finding
            .advice
            .iter()
            .map(|advice| Advice {
                text: prose(clean, &advice.text),
                code: advice.code.as_ref().map(|code| clean.code(code)),
            })
            .collect(),
        saving: finding.saving.clone(),
        confirm: finding.confirm.as_ref().map(text),
        limits: finding.limits.iter().map(|line| prose(clean, line)).collect(),
    }
}

/// Sentences are ours, but for the names in them, which were cut where they came from.
fn prose(clean: Clean, text: &str) -> String {
    let text = units::printable(text);
    if clean.redacted { redact::paths(&text) } else { text }
}

fn clean_site(clean: Clean, site: &Site) -> Site {
    Site { file: clean.file(&site.file), name: clean.text(&site.name), ..site.clone() }
}

fn frames(snapshot: &Snapshot, clean: Clean, stack: StackId) -> Vec<SiteFrame> {
    snapshot.stacks.frames(stack).iter().map(|&id| clean.frame(&site_frame(snapshot, id))).collect()
}

fn allocation(input: &ReportInput<'_>, clean: Clean, id: AllocId) -> AllocationText {
    let timeline = input.timeline;
    let allocation = timeline.lifetimes.get(id, &timeline.events);
    AllocationText {
        address: allocation.addr,
        bytes: allocation.size,
        event: allocation.alloc_event().map(|event| event.0),
        site: clean.text(&crate::analysis::site_label(input.snapshot, allocation.stack)),
    }
}
