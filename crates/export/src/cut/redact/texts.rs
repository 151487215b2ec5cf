//! Texts of every kind, without what names users, hosts and projects.

use super::paths::Folders;
use oomscope_analysis::{Category, Phase, declared_category, named_module, named_step_and_phase};
use oomscope_model::{FrameId, MAX_MEANT_BYTES, Snapshot, StrId};
use oomscope_snapshot::write::{Rewrite, TextKind};
use oomscope_snapshot::{TracebackLine, traceback_lines};
use oomscope_units as units;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// A snapshot's texts as they may be shown to strangers.
#[derive(Debug)]
pub(crate) struct Redaction {
    folders: Folders,
}

impl Redaction {
    /// The redaction of a snapshot's texts: folders of all its frames are numbered, written or not.
    pub(crate) fn of(snapshot: &Snapshot) -> Self {
        let ids = (0..snapshot.frames.len() as u32).map(FrameId);
        let files: BTreeSet<StrId> = ids.map(|id| snapshot.frames.get(id).file).collect();
        let paths: Vec<Cow<'_, str>> = files.into_iter().map(|id| snapshot.strings.path(id)).collect();
        Self { folders: Folders::of(paths.iter().map(AsRef::as_ref)) }
    }

    fn file(&self, path: &[u8]) -> String {
        let path = &path[path.len().saturating_sub(MAX_MEANT_BYTES)..];
        self.folders.redacted(&String::from_utf8_lossy(path))
    }

    /// The frames that a text names, without their code. `None` if it names none.
    fn traceback(&self, text: &[u8]) -> Option<String> {
        let mut out = String::new();
        for TracebackLine { file, line, function: name } in traceback_lines(text) {
            let (file, name) = (self.file(file), function(name));
            // A string takes every text.
            let _written = writeln!(out, "  File \"{file}\", line {line}, in {name}");
        }
        (!out.is_empty()).then_some(out)
    }
}

/// The part of a text that rules read: of one of megabytes, no more is kept.
fn shown(text: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(&text[..text.len().min(MAX_MEANT_BYTES)])
}

/// A function's name, which rules read. Those of Python and C++ have no form of a path, an address or a host.
fn function(name: &[u8]) -> String {
    units::without_names(&shown(name))
}

impl Rewrite for Redaction {
    fn text<'t>(&self, kind: TextKind, text: &'t [u8]) -> Option<Cow<'t, [u8]>> {
        let shown = || shown(text);
        let owned = |text: String| Some(Cow::Owned(text.into_bytes()));
        match kind {
            TextKind::File => owned(self.file(text)),
            TextKind::Function => owned(function(text)),
            // The lines after the first are source code.
            TextKind::TraceLine => owned(
                self.traceback(text)
                    .unwrap_or_else(|| units::without_names(shown().lines().next().unwrap_or_default())),
            ),
            TextKind::Generated | TextKind::Annotation | TextKind::Setting => {
                owned(units::without_names(&shown()))
            }
            TextKind::Source => self.traceback(text).and_then(owned),
            TextKind::SegmentType => Some(Cow::Borrowed(&text[..text.len().min(MAX_MEANT_BYTES)])),
            TextKind::Metadata => owned(metadata(&shown())),
            TextKind::CompileContext => is_compile_id(&shown()).then_some(Cow::Borrowed(text)),
            TextKind::Category => {
                Category::from_key(&shown()).map(|category| Cow::Owned(category.key().as_bytes().to_vec()))
            }
        }
    }
}

/// What is understood of metadata: a step, a phase, a module and a category.
fn metadata(text: &str) -> String {
    let (step, phase) = named_step_and_phase(text);
    let step = step.map(|step| format!("\"step\": {step}"));
    let phase = phase.map(Phase::key).map(|phase| format!("\"phase\": \"{phase}\""));
    let module = named_module(text).map(|name| format!("\"module\": \"{}\"", units::without_names(name)));
    let category = declared_category(text).map(|category| format!("\"category\": \"{}\"", category.key()));
    let known: Vec<String> = [step, phase, module, category].into_iter().flatten().collect();
    if known.is_empty() { String::new() } else { format!("{{{}}}", known.join(", ")) }
}

/// Whether a compiled region is named by torch's numbers, as in `0/1_2`, or by none (`N/A`).
fn is_compile_id(text: &str) -> bool {
    text == "N/A" || text.chars().all(|c| c.is_ascii_digit() || "/_!-[] ".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_keeps_what_is_understood() {
        let text = "{'step': 3, 'phase': 'backward', 'user': 'alice', 'category': 'kv_cache'}";
        assert_eq!(metadata(text), "{\"step\": 3, \"phase\": \"backward\", \"category\": \"kv_cache\"}");
        let module = "{'module': 'h.0.attn', 'user': 'alice'}";
        assert_eq!(metadata(module), "{\"module\": \"h.0.attn\"}");
        assert_eq!(metadata("alice@host"), "");
        assert_eq!(declared_category(&metadata("gradient")), declared_category("gradient"));
    }

    #[test]
    fn regions_with_names_are_left_out() {
        assert!(is_compile_id("0/1_2") && is_compile_id("N/A") && is_compile_id(""));
        assert!(!is_compile_id("alice/model"));
    }
}
