//! Exporting the current view as a picture: the dialog and the painting happen on a thread of their own,
//! and the status bar shows the outcome.

use crate::analysis::module_table;
use crate::app::device::Selection;
use crate::app::device::attributing::AttributionCell;
use crate::app::device::filtering::FilterMode;
use crate::app::panes::OpenDevice;
use crate::app::{dialog_log, theme};
use crate::diagnosis::{DiagnosisRequest, diagnose};
use crate::draw::picture::Selected;
use crate::export::{Filtered, Format, PictureKind, PictureSpec, report_parts};
use crate::load::Input;
use crate::remedies::predict_all;
use crate::report::{Document, ReportInput, report_html};
use crate::save::{self, Existing, NewFile, SaveError};
use crate::units;
use eframe::egui;
use std::future::Future;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::thread;

/// Smallest number of pixels per point, so that pictures stay sharp when they are enlarged.
const MIN_SCALE: f32 = 2.0;

/// The advice if there is no dialog.
const INSTEAD: &str = "use 'oomscope render' and 'oomscope report', which write the same files";

/// Lines, stacks and allocations that each finding of a report lists: as many as those of
/// `oomscope report`.
const REPORT_LISTS: usize = 8;

/// An entry of the menu.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ExportChoice {
    product: Product,
    /// Its name in the menu.
    pub(super) name: &'static str,
    /// The part of the file's name that stands between the recording's name and the extension.
    file_stem: &'static str,
}

/// The contents of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Product {
    Picture(PictureKind, Format),
    /// The diagnosis as a page, with pictures.
    Report,
}

impl Product {
    fn extension(self) -> &'static str {
        match self {
            Self::Picture(_, format) => format.extension(),
            Self::Report => "html",
        }
    }

    /// Its name in messages.
    fn noun(self) -> &'static str {
        match self {
            Self::Picture(..) => "picture",
            Self::Report => "report",
        }
    }
}

const fn picture(
    kind: PictureKind,
    format: Format,
    name: &'static str,
    file_stem: &'static str,
) -> ExportChoice {
    ExportChoice { product: Product::Picture(kind, format), name, file_stem }
}

/// Everything that can be exported, in the order of the menu.
pub(super) const EXPORT_CHOICES: [ExportChoice; 8] = [
    picture(PictureKind::Timeline, Format::Png, "Timeline…", "timeline"),
    picture(PictureKind::Reserved, Format::Png, "Reserved memory over time…", "reserved"),
    picture(PictureKind::Curves, Format::Png, "Curves…", "curves"),
    picture(PictureKind::SegmentMap, Format::Png, "Segment map at the cursor…", "segments"),
    picture(PictureKind::SegmentTimeline, Format::Png, "Segment timeline…", "segment_timeline"),
    picture(PictureKind::Stacks, Format::Png, "Flame graph…", "stacks"),
    picture(PictureKind::Stacks, Format::Svg, "Flame graph for browsers (SVG)…", "stacks"),
    ExportChoice { product: Product::Report, name: "Report (HTML)…", file_stem: "report" },
];

/// One picture or report to write.
pub(super) struct ExportJob {
    choice: ExportChoice,
    spec: PictureSpec,
    /// The recording's file, which is never written.
    input: Input,
    size_points: [f32; 2],
    /// Pixels per point.
    scale: f32,
    /// The request that a report answers.
    diagnosis_request: DiagnosisRequest,
    /// The categories that a report and a picture show.
    attribution: AttributionCell,
}

/// A message about an export, if there is one; an error says why no dialog could open.
type Outcome = Result<Option<String>, String>;

/// Exports; at most one runs.
#[derive(Default)]
pub(super) struct Exporter {
    running: Option<Receiver<Outcome>>,
}

impl ExportJob {
    /// A picture of a device as the window shows it now, as large as the window.
    pub(super) fn new(choice: ExportChoice, input: Input, device: &OpenDevice, ctx: &egui::Context) -> Self {
        let palette = theme::palette_of(ctx.theme());
        let OpenDevice { recording, derived, at, states, .. } = device;
        let size = ctx.viewport_rect().size();
        let selected = match at.selection() {
            Selection::Allocation(id) => Selected::Allocation(id),
            Selection::Stack(stack) => Selected::Stack(stack),
            Selection::None | Selection::Segment { .. } => Selected::None,
        };
        let spec = PictureSpec {
            recording: recording.clone(),
            name: input.name(),
            kind: match choice.product {
                Product::Picture(kind, _) => kind,
                Product::Report => PictureKind::Timeline,
            },
            view: at.view,
            // Put in when the picture is painted: finding it may take long.
            attribution: None,
            coloring: derived.coloring(at.color_by, palette),
            moment: at.cursor,
            has_cursor: true,
            selected,
            filter: derived.filtering.found().map(|found| Filtered {
                query: derived.filtering.answered().unwrap_or("as it was before it was changed").to_owned(),
                matches: Arc::clone(&found.matches.0),
                hides_rest: at.filter_mode == FilterMode::Only,
            }),
            map: states.segments.exported(),
            rows: states.segment_timeline.exported(),
            stacks: states.stacks.exported(derived, at, recording),
            capacity: derived.capacity(),
            is_redacted: false,
            palette,
        };
        let scale = ctx.pixels_per_point().max(MIN_SCALE);
        Self {
            choice,
            spec,
            input,
            size_points: [size.x, size.y],
            scale,
            diagnosis_request: derived.diagnosis_request(at.report_at),
            attribution: derived.attribution_cell(),
        }
    }

    /// The name that the dialog offers for the file.
    fn file_name(&self) -> String {
        let name = units::basename(&self.spec.name);
        let stem = name.split_once(".pickle").map_or(name, |(stem, _)| stem);
        format!("{stem}.{}.{}", self.choice.file_stem, self.choice.product.extension())
    }

    /// Paint and write it; returns a message about the outcome.
    fn write(&self, chosen: &Path) -> String {
        let (path, is_as_chosen) = with_extension(chosen, self.choice.product.extension());
        let shown = units::printable(&path.display().to_string());
        let noun = self.choice.product.noun();
        let file = match self.contents() {
            Ok(file) => file,
            Err(error) => return format!("No {noun}: {error}"),
        };
        // The dialog has only asked whether to replace what was chosen.
        let existing = if is_as_chosen { Existing::Replace } else { Existing::Keep };
        match self.save(&path, &file, existing) {
            Ok(()) => format!("{}{} written to {shown}", noun[..1].to_uppercase(), &noun[1..]),
            Err(error) => format!("No {noun}: {error}"),
        }
    }

    fn save(&self, path: &Path, contents: &[u8], existing: Existing) -> Result<(), SaveError> {
        save::refuse_inputs(path, self.input.path())?;
        let mut file = NewFile::create(path)?;
        let refused = |source| SaveError::Refused { path: path.to_owned(), source };
        file.write_all(contents).map_err(refused)?;
        file.finish(existing)
    }

    fn contents(&self) -> Result<Vec<u8>, String> {
        match self.choice.product {
            Product::Picture(_, format) => {
                let spec = PictureSpec { attribution: Some(self.attribution.get()), ..self.spec.clone() };
                let file = spec.file(format, self.size_points, self.scale);
                file.map_err(|error| error.to_string())
            }
            Product::Report => self.report(),
        }
    }

    fn report(&self) -> Result<Vec<u8>, String> {
        let PictureSpec { recording, name, .. } = &self.spec;
        let snapshot = recording.snapshot();
        let attribution = self.attribution.get();
        let diagnosis = diagnose(snapshot, recording, &attribution, self.diagnosis_request);
        let diagnosis = diagnosis.map_err(|error| error.to_string())?;
        let moment = diagnosis.at.moment;
        let parts = report_parts(recording, &attribution, moment, name, false);
        let parts = parts.map_err(|error| error.to_string())?;
        let capacity = self.diagnosis_request.device_memory;
        let remedies = predict_all(snapshot, recording, &attribution, capacity);
        let modules = module_table(snapshot, recording, &attribution, moment);
        let input = ReportInput {
            name,
            snapshot,
            timeline: recording,
            diagnosis: &diagnosis,
            remedies: remedies.as_ref(),
            modules: Some(&modules),
            top: REPORT_LISTS,
            redacted: false,
        };
        Ok(report_html(&Document::new(&input), &parts).into_bytes())
    }
}

impl Exporter {
    /// Ask for a path, then paint and write the picture. Returns a message if that cannot be done now.
    pub(super) fn ask(&mut self, job: ExportJob, ctx: &egui::Context) -> Option<String> {
        if self.running.is_some() {
            return Some("One at a time: the last export is not written yet".to_owned());
        }
        // Some systems want dialogs to be made on the window's thread, and all block while waiting.
        let (extension, noun) = (job.choice.product.extension(), job.choice.product.noun());
        let dialog = rfd::AsyncFileDialog::new()
            .set_title(format!("Export {noun}"))
            .set_file_name(job.file_name())
            .add_filter(extension.to_uppercase(), &[extension])
            .save_file();
        let chosen = async {
            match dialog.await {
                Some(file) => Ok(Some(file.path().to_owned())),
                None => match dialog_log::take_reason() {
                    Some(reason) => Err(dialog_log::explain(&reason, INSTEAD)),
                    None => Ok(None),
                },
            }
        };
        self.start(job, chosen, ctx)
    }

    /// Paint and write a picture to a path that is still to come, if one comes. Returns a message if there
    /// is no thread for that.
    pub(super) fn start(
        &mut self,
        job: ExportJob,
        path: impl Future<Output = Result<Option<PathBuf>, String>> + Send + 'static,
        ctx: &egui::Context,
    ) -> Option<String> {
        let (sender, outcome) = sync_channel(1);
        let ctx = ctx.clone();
        let work = move || {
            let said = pollster::block_on(path).map(|path| path.map(|path| job.write(&path)));
            // The window may be gone.
            sender.send(said).ok();
            ctx.request_repaint();
        };
        match thread::Builder::new().name("oomscope-export".to_owned()).spawn(work) {
            Ok(_) => {
                self.running = Some(outcome);
                None
            }
            Err(error) => Some(format!("No picture: a thread cannot be started ({error})")),
        }
    }

    /// True while an export is not finished.
    #[cfg(test)]
    pub(super) fn is_busy(&self) -> bool {
        self.running.is_some()
    }

    /// The message about an export that is finished; once.
    pub(super) fn outcome(&mut self) -> Outcome {
        let Some(running) = &self.running else { return Ok(None) };
        let outcome = match running.try_recv() {
            Err(TryRecvError::Empty) => return Ok(None),
            Err(TryRecvError::Disconnected) => Ok(Some("No picture: painting it failed".to_owned())),
            Ok(outcome) => outcome,
        };
        self.running = None;
        outcome
    }
}

/// The path with the extension that some dialogs leave to the program, and whether it had it.
fn with_extension(chosen: &Path, extension: &str) -> (PathBuf, bool) {
    if chosen.extension().is_some_and(|found| found.eq_ignore_ascii_case(extension)) {
        return (chosen.to_owned(), true);
    }
    let mut name = chosen.as_os_str().to_owned();
    name.push(".");
    name.push(extension);
    (name.into(), false)
}
