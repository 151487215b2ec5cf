//! One export: what is painted or written, and to where.

use super::choice::{ExportChoice, Product};
use super::outcome::{Outcome, Watch};
use super::preset::{free, with_extension};
use crate::device::attributing::AttributionCell;
use crate::device::filtering::FilterMode;
use crate::device::{Derived, Selection, Standpoint};
use crate::panes::OpenDevice;
use crate::texts::marked;
use crate::theme;
use eframe::egui;
use oomscope_analysis::module_table;
use oomscope_diagnosis::{DiagnosisRequest, diagnose_workload};
use oomscope_draw::Future;
use oomscope_draw::picture::Selected;
use oomscope_export::save;
use oomscope_export::save::{Existing, NewFile, SaveError};
use oomscope_export::{
    Filtered, Marked, PageSubject, PictureKind, PictureSpec, PictureVerdict, future_of, report_parts,
};
use oomscope_program::{Run, Workload};
use oomscope_remedies::predict_all_while;
use oomscope_report::notes::Note;
use oomscope_report::{Document, ReportInput, answer, fix_of, report_html};
use oomscope_snapshot::load::Input;
use oomscope_units as units;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tr::tr;

/// Smallest number of pixels per point, so that pictures stay sharp when they are enlarged.
const MIN_SCALE: f32 = 2.0;

/// Lines, stacks and allocations that each finding of a report lists: as many as those of
/// `oomscope report`.
const REPORT_LISTS: usize = 8;

/// Where an export goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    File(PathBuf, Existing),
    Clipboard,
}

/// What the user wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ExportOrder {
    pub(crate) choice: ExportChoice,
    pub(crate) target: Target,
    /// Folders are left out of names.
    pub(crate) redacts: bool,
}

/// One picture or report to make.
pub(crate) struct ExportJob {
    order: ExportOrder,
    spec: PictureSpec,
    /// The recording's file, which is never written.
    input: Input,
    size_points: [f32; 2],
    /// Pixels per point.
    scale: f32,
    /// The request that a report answers.
    diagnosis_request: DiagnosisRequest<'static>,
    /// The categories that a report and a picture show.
    attribution: AttributionCell,
    /// The notes that a report has.
    notes: Vec<Note>,
}

impl ExportJob {
    /// A picture of a device as the window shows it now, as large as the window.
    pub(crate) fn new(order: ExportOrder, input: Input, device: &OpenDevice, ctx: &egui::Context) -> Self {
        let size = ctx.viewport_rect().size();
        let OpenDevice { derived, at, notebook, .. } = device;
        Self {
            spec: spec(&order, &input, device, ctx),
            order,
            input,
            size_points: [size.x, size.y],
            scale: ctx.pixels_per_point().max(MIN_SCALE),
            diagnosis_request: derived.diagnosis_request(at.report_at),
            attribution: derived.attribution_cell(),
            notes: notebook.notes().to_vec(),
        }
    }

    /// Make it, and put it where it belongs.
    pub(super) fn run(&self, watch: &Watch) -> Outcome {
        let outcome = match &self.order.target {
            Target::Clipboard => self.pixels(watch),
            Target::File(chosen, existing) => self.write(chosen, *existing, watch),
        };
        outcome.unwrap_or_else(|Stopped(why)| match (why, self.order.choice.product) {
            (Some(why), Product::Picture(..)) => Outcome::Failed(tr!("No picture: {why}", why)),
            (Some(why), Product::Report) => Outcome::Failed(tr!("No report: {why}", why)),
            (None, _) => Outcome::Cancelled,
        })
    }

    fn pixels(&self, watch: &Watch) -> Result<Outcome, Stopped> {
        let spec = self.complete_spec(watch)?;
        enter(watch, marked!("Painting"))?;
        let pixels = spec.pixels(self.size_points, self.scale);
        let image = egui::ColorImage::from_rgba_premultiplied(pixels.size, &pixels.rgba);
        enter(watch, marked!("Copying"))?;
        Ok(Outcome::Copied(Arc::new(image)))
    }

    fn write(&self, chosen: &Path, existing: Existing, watch: &Watch) -> Result<Outcome, Stopped> {
        let product = self.order.choice.product;
        let path = with_extension(chosen, product.extension());
        save::refuse_inputs(&path, self.input.path())?;
        // Asked before anything is made, since that may take long.
        if existing == Existing::Keep && path.symlink_metadata().is_ok() {
            return Ok(exists(path));
        }
        let contents = match product {
            Product::Picture(_, format) => {
                let spec = self.complete_spec(watch)?;
                enter(watch, marked!("Painting"))?;
                spec.file(format, self.size_points, self.scale).map_err(|error| Stopped::because(&error))?
            }
            Product::Report => self.report(watch)?,
        };
        enter(watch, marked!("Writing"))?;
        match write(&path, &contents, existing) {
            // Another program was faster.
            Err(SaveError::Refused { source, .. }) if source.kind() == io::ErrorKind::AlreadyExists => {
                Ok(exists(path))
            }
            Err(error) => Err(error.into()),
            Ok(()) => Ok(Outcome::Written { product, path }),
        }
    }

    /// The picture with what takes long to find.
    fn complete_spec(&self, watch: &Watch) -> Result<PictureSpec, Stopped> {
        enter(watch, marked!("Finding out what memory is for"))?;
        let attribution = self.attribution.get();
        enter(watch, marked!("Finding the verdict"))?;
        let spec = &self.spec;
        let verdict = spec.verdict.clone().or_else(|| {
            let request = DiagnosisRequest { at: None, ..self.diagnosis_request };
            let workload = Workload::of(Run { recording: &spec.recording, attribution: &attribution });
            let found = diagnose_workload(&workload, request).ok()?;
            let verdict = found.verdict()?;
            let capacity = self.diagnosis_request.device_memory;
            let predict = || predict_all_while(&workload, capacity, &|_, _| true);
            let fix = fix_of(verdict, predict);
            Some(PictureVerdict::new(verdict.title.to_string(), answer(verdict).as_ref(), fix.as_ref()))
        });
        Ok(PictureSpec { attribution: Some(attribution), verdict, ..spec.clone() })
    }

    fn report(&self, watch: &Watch) -> Result<Vec<u8>, Stopped> {
        let PictureSpec { recording, name, .. } = &self.spec;
        let redacted = self.order.redacts;
        let name = if redacted { units::basename(name) } else { name };
        enter(watch, marked!("Finding out what memory is for"))?;
        let attribution = self.attribution.get();
        enter(watch, marked!("Finding the verdict"))?;
        let workload = Workload::of(Run { recording, attribution: &attribution });
        let diagnosis = diagnose_workload(&workload, self.diagnosis_request);
        let diagnosis = diagnosis.map_err(|error| Stopped::because(&error))?;
        let moment = diagnosis.at.moment;
        enter(watch, marked!("Simulating fixes"))?;
        let capacity = self.diagnosis_request.device_memory;
        let remedies = predict_all_while(&workload, capacity, &|_, _| true);
        enter(watch, marked!("Painting"))?;
        let fix = diagnosis.verdict().and_then(|verdict| fix_of(verdict, || remedies.clone()));
        let future = remedies.as_ref().map(|all| future_of(all, fix.as_ref())).unwrap_or_default();
        let (future, attribution) = (&future, &attribution);
        let marked = diagnosis.verdict().and_then(|verdict| Marked::of(verdict, recording, moment));
        let marked = marked.as_ref();
        let subject = PageSubject { recording, attribution, future, moment, marked, name, redacts: redacted };
        let parts = report_parts(subject).map_err(|error| Stopped::because(&error))?;
        enter(watch, marked!("Putting the page together"))?;
        let modules = module_table(recording, attribution, moment);
        let input = ReportInput {
            name,
            recording,
            diagnosis: &diagnosis,
            remedies: remedies.as_ref(),
            modules: Some(&modules),
            top: REPORT_LISTS,
            notes: &self.notes,
            redacted,
        };
        Ok(report_html(&Document::new(&input), &parts).into_bytes())
    }
}

/// Why an export stopped: an error, or else the user.
struct Stopped(Option<String>);

impl Stopped {
    fn because(error: &impl ToString) -> Self {
        Self(Some(error.to_string()))
    }
}

impl From<SaveError> for Stopped {
    fn from(error: SaveError) -> Self {
        Self::because(&error)
    }
}

/// Begin a stage, unless the user has cancelled.
fn enter(watch: &Watch, stage: &'static str) -> Result<(), Stopped> {
    if watch.enter(stage) { Ok(()) } else { Err(Stopped(None)) }
}

fn exists(path: PathBuf) -> Outcome {
    Outcome::Exists { free: free(&path), path }
}

fn write(path: &Path, contents: &[u8], existing: Existing) -> Result<(), SaveError> {
    let mut file = NewFile::create(path)?;
    let refused = |source| SaveError::Refused { path: path.to_owned(), source };
    file.write_all(contents).map_err(refused)?;
    file.finish(existing)
}

/// The filter in words, from the query that is answered.
fn filter_text(answered: Option<&str>, at: &Standpoint) -> String {
    let query = answered.unwrap_or("as it was before it was changed").to_owned();
    match at.outlined().filter(|outline| outline.is_filter) {
        Some(outline) if query.is_empty() => outline.title().to_owned(),
        Some(outline) => format!("{query} · {}", outline.title()),
        None => query,
    }
}

/// What is projected, as the timeline shows it.
fn shown_future(derived: &Derived, at: &Standpoint) -> Arc<Future> {
    let future = derived.future().unwrap_or_default();
    if at.marks_verdict { future } else { Arc::new(Future { after_fix: None, ..Future::clone(&future) }) }
}

/// The picture as the window shows it now.
fn spec(order: &ExportOrder, input: &Input, device: &OpenDevice, ctx: &egui::Context) -> PictureSpec {
    let palette = theme::palette_of(ctx.theme());
    let OpenDevice { recording, derived, at, states, .. } = device;
    let selected = match at.selection() {
        Selection::Allocation(id) => Selected::Allocation(id),
        Selection::Stack(stack) => Selected::Stack(stack),
        Selection::None | Selection::Segment { .. } => Selected::None,
    };
    PictureSpec {
        recording: recording.clone(),
        name: input.name(),
        kind: match order.choice.product {
            Product::Picture(kind, _) => kind,
            Product::Report => PictureKind::Timeline,
        },
        view: at.view,
        // Put in when the picture is painted: finding it may take long.
        attribution: None,
        // Once remedies are predicted, as the header says it; before, the job predicts them.
        verdict: derived.verdict().filter(|_| derived.predictions().is_some()).map(|verdict| {
            let fix = derived.fix(verdict.id, verdict.advice.as_ref());
            PictureVerdict::new(verdict.title.clone(), verdict.answer.as_ref(), fix.as_deref())
        }),
        is_in_page: false,
        redacts: order.redacts,
        coloring: derived.coloring(at.color_by, palette),
        moment: at.cursor,
        has_cursor: true,
        selected,
        filter: derived.filtering.found().map(|found| Filtered {
            query: filter_text(derived.filtering.answered(), at),
            matches: Arc::clone(&found.matches.0),
            hides_rest: at.filter_mode == FilterMode::Only,
        }),
        marked: at.marked().map(|outline| Marked {
            label: outline.label.clone(),
            allocations: Arc::clone(&outline.matches().0),
            steps: Arc::clone(outline.steps()),
            moment: outline.moment,
        }),
        map: states.segments.exported(),
        rows: states.segment_timeline.exported(),
        stacks: states.stacks.exported(derived, at, recording),
        future: shown_future(derived, at),
        capacity: derived.capacity(),
        palette,
    }
}
