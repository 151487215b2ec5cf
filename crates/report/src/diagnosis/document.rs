//! A diagnosis with everything looked up: plain texts and figures, ready for any medium.
//!
//! Texts are cleaned here ([`Clean`]). Each medium escapes what has a meaning for it.

use super::answer::{Answer, answer};
use super::clean::Clean;
use super::facts::facts;
use super::fix::{Fix, fix};
use super::quoted::{RemedyText, quoted};
use super::simulated::{simulated_by, text_of};
use crate::damage::DamageRecord;
use crate::notes::{Note, Place};
use crate::predicted::PredictedRecord;
use crate::stand_ins::stand_ins;
use crate::trust::TrustRecord;
use crate::{moment_text, non_default_settings, place_words};
use oomscope_analysis::segment_state::GroupKey;
use oomscope_analysis::{ModuleTable, SiteFrame, site_frame, site_label};
use oomscope_diagnosis::{
    CodeTree, Diagnosis, Figure, Finding, FindingId, MomentPosition, Number, Severity, Site,
};
use oomscope_model::{AllocId, Bytes, Recording, Snapshot, StackId};
use oomscope_remedies::Predictions;
use oomscope_units as units;
use std::sync::Arc;

/// Input of a report.
#[derive(Debug, Clone, Copy)]
pub struct ReportInput<'a> {
    /// The file's name.
    pub name: &'a str,
    /// The device.
    pub recording: &'a Recording,
    /// The diagnosis of the device.
    pub diagnosis: &'a Diagnosis,
    /// Remedies that were simulated; the report quotes the best.
    pub remedies: Option<&'a Predictions>,
    /// The memory of modules at the moment.
    pub modules: Option<&'a ModuleTable>,
    /// The most lines, stacks and allocations that each finding lists.
    pub top: usize,
    /// Notes about the file.
    pub notes: &'a [Note],
    /// Whether to leave out folders, which may name users and hosts.
    pub redacted: bool,
}

/// A whole report.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    pub(super) name: String,
    pub(super) device: i64,
    pub(super) device_name: String,
    pub(super) at: MomentPosition,
    pub(super) dump: MomentPosition,
    pub(super) moment_text: String,
    /// What the verdict comes down to; `None` where nothing is wrong.
    pub(super) answer: Option<Answer>,
    /// Facts about the recording, each with its label.
    pub(super) facts: Vec<(&'static str, String)>,
    pub(super) settings: Vec<String>,
    pub(super) has_settings: bool,
    pub(super) damage: Option<DamageRecord>,
    pub(super) predicted: Option<PredictedRecord>,
    /// What stood in for values that an estimate could not know.
    pub(super) stand_ins: Vec<String>,
    pub(super) trust: TrustRecord,
    pub(super) events: usize,
    /// The memory of modules.
    pub(super) modules: Option<ModuleTable>,
    /// The verdict, and further findings in the order of their weight.
    pub(super) findings: Vec<FindingText>,
    /// Notes about the file.
    pub(super) notes: Vec<NoteText>,
    /// Sentences about the other ranks of the job.
    pub(super) ranks: Vec<String>,
}

/// A note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NoteText {
    pub(super) text: String,
    /// Its place in words; empty if it has none.
    pub(super) place: String,
    pub(super) event: Option<u32>,
    /// Its place for `--go`.
    pub(super) go: String,
}

impl NoteText {
    /// The note with its place: `why is this here? (event 2,528)`.
    pub(super) fn line(&self) -> String {
        match self.place.as_str() {
            "" => self.text.clone(),
            place => format!("{} ({place})", self.text),
        }
    }
}

/// A finding.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FindingText {
    pub(super) is_verdict: bool,
    pub(super) id: FindingId,
    pub(super) severity: Severity,
    pub(super) title: String,
    pub(super) why: Option<String>,
    pub(super) explanation: Vec<String>,
    pub(super) tree: Option<CodeTree>,
    pub(super) numbers: Vec<Number>,
    pub(super) largest_hole_of: Option<GroupKey>,
    pub(super) sites: Vec<Site>,
    pub(super) stacks: Vec<StackText>,
    pub(super) allocations: Vec<AllocationText>,
    pub(super) events: Vec<u32>,
    pub(super) advice: Vec<AdviceText>,
    /// What to change; only the verdict has it.
    pub(super) fix: Option<Fix>,
    /// The best remedies that were simulated; only the verdict has them.
    pub(super) remedies: Vec<RemedyText>,
    /// The ids of the remedies that simulate the advice.
    pub(super) simulated_by: Vec<&'static str>,
    /// These remedies in words.
    pub(super) simulated: Option<String>,
    pub(super) confirm: Option<String>,
    pub(super) limits: Vec<String>,
    /// The figures of all sentences, in the order of [`Finding::sentences`], then those of the evidence.
    pub(super) figures: Vec<Figure>,
}

/// Something to try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AdviceText {
    pub(super) text: String,
    pub(super) code: Option<String>,
}

/// A stack, innermost frame first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StackText {
    pub(super) bytes: Bytes,
    pub(super) count: usize,
    pub(super) frames: Vec<SiteFrame>,
    /// Whether no earlier finding shows the same frames.
    pub(super) is_new: bool,
}

/// An allocation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AllocationText {
    pub(super) address: u64,
    pub(super) bytes: Bytes,
    pub(super) event: Option<u32>,
    pub(super) site: String,
}

impl Document {
    /// The line of code that the verdict comes down to.
    pub(super) fn line(&self) -> Option<&Site> {
        self.findings.first()?.sites.get(self.answer.as_ref()?.site?)
    }

    /// What to change; `None` where nothing is wrong.
    pub(super) fn fix(&self) -> Option<&Fix> {
        self.findings.first().filter(|verdict| verdict.severity != Severity::Info)?.fix.as_ref()
    }
}

impl FindingText {
    /// What to change comes first; these are the remedies that are quoted besides.
    pub(super) fn other_remedies(&self) -> Vec<&RemedyText> {
        let all = || self.remedies.iter().collect();
        self.fix.as_ref().map_or_else(all, |fix| fix.others(&self.remedies))
    }

    /// The advice besides what to change.
    pub(super) fn other_advice(&self) -> &[AdviceText] {
        let is_first = self.fix.as_ref().is_some_and(|fix| fix.is_advice);
        self.advice.get(usize::from(is_first)..).unwrap_or_default()
    }
}

impl Document {
    /// Look everything up.
    pub fn new(input: &ReportInput<'_>) -> Self {
        let ReportInput { recording, diagnosis, .. } = *input;
        let snapshot = recording.snapshot();
        let clean = Clean { redacted: input.redacted };
        let settings = non_default_settings(snapshot);
        Self {
            name: clean.text(if input.redacted { units::basename(input.name) } else { input.name }),
            device: recording.device.0,
            device_name: recording.device.to_string(),
            at: diagnosis.at,
            dump: diagnosis.dump,
            moment_text: moment_text(recording, diagnosis.at.moment),
            facts: facts(recording, diagnosis)
                .into_iter()
                .map(|(label, text)| (label, clean.text(&text)))
                .collect(),
            settings: settings.iter().map(|text| clean.text(text)).collect(),
            has_settings: !snapshot.settings.is_empty(),
            damage: DamageRecord::of(snapshot),
            predicted: PredictedRecord::in_full(snapshot)
                .map(|record| record.cleaned(|text| clean.prose(text))),
            stand_ins: stand_ins(snapshot).iter().map(|text| clean.prose(text)).collect(),
            trust: TrustRecord::of(recording),
            events: recording.events.len(),
            modules: input.modules.map(|table| clean.modules(table)),
            findings: findings(input, clean),
            answer: diagnosis
                .verdict()
                .and_then(answer)
                .map(|found| Answer { culprit: found.culprit.map(|text| clean.text(&text)), ..found }),
            notes: input.notes.iter().map(|note| note_text(snapshot, clean, note)).collect(),
            ranks: Vec::new(),
        }
    }

    /// Add sentences about the other ranks of the job.
    pub fn among_ranks(self, sentences: &[String], redacted: bool) -> Self {
        let clean = Clean { redacted };
        Self { ranks: sentences.iter().map(|sentence| clean.text(sentence)).collect(), ..self }
    }

    /// The best remedies that were simulated.
    pub(super) fn remedies(&self) -> &[RemedyText] {
        self.findings.first().map_or(&[], |verdict| &verdict.remedies)
    }

    /// The id of the verdict.
    pub fn verdict(&self) -> &'static str {
        self.findings.first().map_or("none", |finding| finding.id.name())
    }

    /// That no device recorded the file; `None` if one did.
    pub(super) fn predicted_text(&self) -> Option<&str> {
        self.predicted.as_ref().map(PredictedRecord::text)
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

/// What to change. Where nothing is wrong, that is what the verdict itself advises.
fn fix_text(input: &ReportInput<'_>, verdict: &Finding, clean: Clean) -> Option<Fix> {
    let predictions = input.remedies.filter(|_| verdict.severity != Severity::Info);
    let found = fix(verdict.id, verdict.advice.first(), predictions)?;
    let short = clean.text(&found.short);
    let code = found.code.as_ref().map(|code| clean.code(code));
    let simulated = found.simulated.map(|remedy| remedy.cleaned(clean));
    Some(Fix { short, text: clean.prose(&found.text), code, simulated, ..found })
}

fn note_text(snapshot: &Arc<Snapshot>, clean: Clean, note: &Note) -> NoteText {
    let filter = note.place.filter.as_ref().map(|filter| clean.prose(filter));
    let place = Place { filter, unknown: Vec::new(), ..note.place.clone() };
    NoteText {
        text: clean.prose(&note.text),
        place: clean.prose(&place_words(snapshot, &place)),
        event: place.event(),
        go: place.to_string(),
    }
}

fn findings(input: &ReportInput<'_>, clean: Clean) -> Vec<FindingText> {
    let mut findings: Vec<FindingText> =
        input.diagnosis.findings.iter().map(|finding| finding_text(input, clean, finding)).collect();
    let verdict = input.diagnosis.findings.first();
    let fix = verdict.and_then(|verdict| fix_text(input, verdict, clean));
    if let Some(verdict) = findings.first_mut() {
        verdict.fix = fix;
        verdict.is_verdict = true;
        let quoted = input.remedies.map(|all| quoted(all, verdict.id)).unwrap_or_default();
        verdict.remedies = quoted.into_iter().map(|remedy| remedy.cleaned(clean)).collect();
    }
    let mut seen: Vec<Vec<SiteFrame>> = Vec::new();
    for stack in findings.iter_mut().flat_map(|finding| &mut finding.stacks) {
        stack.is_new = !seen.contains(&stack.frames);
        if stack.is_new {
            seen.push(stack.frames.clone());
        }
    }
    findings
}

fn finding_text(input: &ReportInput<'_>, clean: Clean, finding: &Finding) -> FindingText {
    let top = input.top;
    let evidence = &finding.evidence;
    let simulated_by = simulated_by(finding, input.remedies);
    FindingText {
        is_verdict: false,
        id: finding.id,
        severity: finding.severity,
        title: clean.text(finding.title.text()),
        why: finding.why.as_ref().map(|why| clean.prose(why.text())),
        tree: evidence.tree.as_ref().map(|tree| clean.tree(tree)),
        explanation: finding.explanation.iter().map(|line| clean.prose(line.text())).collect(),
        numbers: evidence.numbers.clone(),
        largest_hole_of: evidence.largest_hole_of,
        sites: evidence.sites.iter().take(top).map(|site| clean.site(site)).collect(),
        stacks: evidence
            .stacks
            .iter()
            .filter(|row| row.stack != StackId::EMPTY)
            .take(top)
            .map(|row| StackText {
                bytes: row.bytes,
                count: row.count,
                frames: frames(input.recording.snapshot(), clean, row.stack),
                is_new: true,
            })
            .collect(),
        allocations: evidence.allocations.iter().take(top).map(|&id| allocation(input, clean, id)).collect(),
        // One event in any case: without it, a finding would not say where to look.
        events: evidence.events.iter().take(top.max(1)).map(|event| event.0).collect(),
        advice: finding
            .advice
            .iter()
            .map(|advice| AdviceText {
                text: clean.prose(advice.text.text()),
                code: advice.code.as_ref().map(|code| clean.code(code)),
            })
            .collect(),
        fix: None,
        remedies: Vec::new(),
        simulated: text_of(&simulated_by, input.remedies),
        simulated_by,
        confirm: finding.confirm.as_ref().map(|text| clean.text(text.text())),
        limits: finding.limits.iter().map(|line| clean.prose(line.text())).collect(),
        figures: figures(finding),
    }
}

fn figures(finding: &Finding) -> Vec<Figure> {
    let said = finding.sentences().flat_map(|sentence| sentence.figures().iter().copied());
    said.chain(finding.evidence.numbers.iter().map(|number| number.figure)).collect()
}

fn frames(snapshot: &Snapshot, clean: Clean, stack: StackId) -> Vec<SiteFrame> {
    snapshot.stacks.frames(stack).iter().map(|&id| clean.frame(&site_frame(snapshot, id))).collect()
}

fn allocation(input: &ReportInput<'_>, clean: Clean, id: AllocId) -> AllocationText {
    let timeline = input.recording.timeline();
    let allocation = timeline.allocation(id);
    AllocationText {
        address: allocation.addr,
        bytes: allocation.size,
        event: allocation.alloc_event().map(|event| event.0),
        site: clean.text(&site_label(input.recording.snapshot(), allocation.stack)),
    }
}
