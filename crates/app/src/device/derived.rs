//! Everything that follows from a recording and is shown in more than one pane.

use super::attributing::{Attributing, AttributionCell, FileFacts};
use super::diagnosing::{DeviceReport, Diagnosing, Verdict};
use super::figures::Figures;
use super::filtering::Filtering;
use super::predicting::Predicting;
use super::stack_labels::{LabelTask, Labels, TensorTask};
use crate::theme;
use crate::work::background::Background;
use crate::work::by_ptr::ByPtr;
use crate::work::memo::Memo;
use crate::work::setup::Setup;
use crate::work::worker::WorkMode;
use eframe::egui;
use oomscope_analysis::filter::Matches;
use oomscope_analysis::{At, Attribution, Lanes, StackLabels, TensorLabels, lanes, structure_lanes};
use oomscope_diagnosis::{Advice, DiagnosisRequest, FindingId};
use oomscope_draw::{BandColors, ColorBy, Coloring, Future, Palette};
use oomscope_model::{Bytes, Recording};
use oomscope_remedies::Predictions;
use oomscope_report::{Fix, RemedyText};
use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;
use tr::tr;

/// Everything that is known of a device. Panes read it; [`Self::update`] keeps it up to date.
pub(crate) struct Derived {
    recording: Recording,
    /// Figures that never change.
    pub(crate) figures: Figures,
    /// Annotations, and iterations and phases once they are found.
    pub(crate) lanes: Lanes,
    /// The meaning of the filter, and its result.
    pub(crate) filtering: Filtering,
    /// The place where work is done.
    pub(crate) work_mode: WorkMode,
    attributing: Attributing,
    attribution: Option<Arc<Attribution>>,
    diagnosing: Diagnosing,
    predicting: Predicting,
    labelling: Background<LabelTask>,
    naming: Background<TensorTask>,
    /// Bytes that the user says the device has.
    given_capacity: Option<Bytes>,
    coloring: Memo<ColoringKey, Arc<Coloring>>,
    /// Colours of stacks, in the light and in the dark theme.
    stack_colors: [OnceCell<Arc<BandColors>>; 2],
}

/// Everything that colours depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ColoringKey {
    color_by: ColorBy,
    is_dark: bool,
    /// Always false for colours that do not show categories.
    has_attribution: bool,
}

impl Derived {
    pub(crate) fn new(recording: &Recording, facts: FileFacts, ctx: &egui::Context, setup: &Setup) -> Self {
        let attributing = Attributing::new(recording.clone(), facts, ctx, setup);
        Self {
            figures: Figures::new(recording),
            lanes: lanes(recording),
            filtering: Filtering::new(recording.clone(), attributing.cell(), setup.mode),
            work_mode: setup.mode,
            diagnosing: Diagnosing::new(recording.clone(), attributing.cell()),
            predicting: Predicting::default(),
            attributing,
            attribution: None,
            labelling: Background::default(),
            naming: Background::default(),
            given_capacity: None,
            coloring: Memo::default(),
            stack_colors: Default::default(),
            recording: recording.clone(),
        }
    }

    /// Take results from the background, and ask for missing ones. Called in every frame, before anything
    /// is drawn, so that all panes of a frame show the same state.
    pub(crate) fn update(&mut self, ctx: &egui::Context, report_at: Option<At>) {
        if self.attribution.is_none()
            && let Some(found) = self.attributing.get()
        {
            // Iterations and phases go above the annotations, which are there from the start.
            let mut all = structure_lanes(&self.recording, &found.phases);
            all.append(&mut self.lanes.lanes);
            self.lanes.lanes = all;
            self.attribution = Some(found);
        }
        self.diagnosing.update(ctx, self.work_mode, self.diagnosis_request(report_at));
        if let Some(found) = &self.attribution {
            self.predicting.update(ctx, self.work_mode, &self.recording, found, self.given_capacity);
            if self.has_tensors() {
                let task = || TensorTask(self.recording.clone(), Arc::clone(found));
                self.naming.ask(&(), ctx, self.work_mode, "tensors", task);
            }
        }
        let task = || LabelTask(Arc::clone(self.recording.snapshot()));
        self.labelling.ask(&(), ctx, self.work_mode, "sites", task);
    }

    /// Categories, iterations and phases, once they are found.
    pub(crate) fn attribution(&self) -> Option<&Arc<Attribution>> {
        self.attribution.as_ref()
    }

    /// A handle to the attribution for other threads.
    pub(crate) fn attribution_cell(&self) -> AttributionCell {
        self.attributing.cell()
    }

    /// The sites of all stacks, once they are put together.
    pub(crate) fn stack_labels(&self) -> Option<&Arc<StackLabels>> {
        self.labelling.latest().map(|Labels { sites, .. }| sites)
    }

    /// The innermost modules of all stacks, once they are put together.
    pub(crate) fn module_labels(&self) -> Option<&Arc<StackLabels>> {
        self.labelling.latest().map(|Labels { modules, .. }| modules)
    }

    /// Whether the program named tensors.
    pub(crate) fn has_tensors(&self) -> bool {
        !self.recording.snapshot().census.tensors().is_empty()
    }

    /// The labels of tensors that the program named, once they are put together.
    pub(crate) fn tensor_labels(&self) -> Option<&Arc<TensorLabels>> {
        self.naming.latest()
    }

    /// The request that a report about a moment answers.
    pub(crate) fn diagnosis_request(&self, report_at: Option<At>) -> DiagnosisRequest<'static> {
        DiagnosisRequest { at: report_at, device_memory: self.given_capacity, ..DiagnosisRequest::default() }
    }

    /// The diagnosis, or the reason why there can be none; `None` until either is known.
    pub(crate) fn report(&self) -> Option<&Result<Arc<DeviceReport>, String>> {
        self.diagnosing.report()
    }

    /// The verdict on the whole recording, once it is known.
    pub(crate) fn verdict(&self) -> Option<&Verdict> {
        self.diagnosing.verdict()
    }

    /// All remedies, once they are predicted.
    pub(crate) fn predictions(&self) -> Option<&Arc<Predictions>> {
        self.predicting.predictions()
    }

    /// The same; while they are still to come, how far they are is shown.
    pub(crate) fn predictions_ui(&self, ui: &mut egui::Ui) -> Option<&Arc<Predictions>> {
        if self.attribution.is_none() {
            ui.label(theme::muted(ui, tr!("Finding out what memory is for…")));
            return None;
        }
        self.predicting.ui(ui)
    }

    /// The remedies that say most about a verdict, best first; none until they are predicted.
    pub(crate) fn quoted(&self, verdict: FindingId) -> Rc<[RemedyText]> {
        self.predicting.quoted(verdict)
    }

    /// What is projected behind the recording, once that is known.
    pub(crate) fn future(&self) -> Option<Arc<Future>> {
        self.predicting.future(self.advised())
    }

    /// What to change after the verdict on the whole recording, where something is wrong.
    pub(crate) fn advised(&self) -> Option<Arc<Fix>> {
        let verdict = self.verdict().filter(|verdict| verdict.answer.is_some())?;
        self.fix(verdict.id, verdict.advice.as_ref())
    }

    /// What to change after a verdict, with what that was simulated to give once it is predicted.
    pub(crate) fn fix(&self, verdict: FindingId, advice: Option<&Advice>) -> Option<Arc<Fix>> {
        self.predicting.fix(verdict, advice)
    }

    /// The most that PyTorch can reserve: as the user says, or as an OOM showed.
    pub(crate) fn capacity(&self) -> Option<Bytes> {
        self.given_capacity.or(self.figures.capacity).or(self.figures.device_memory)
    }

    /// The source of [`Self::capacity`], for a hint.
    pub(crate) fn capacity_meaning(&self) -> String {
        if self.given_capacity.is_some() {
            tr!("As the command line or your settings say")
        } else if self.figures.capacity.is_none() {
            tr!("All memory of the device, as the recorder noted it")
        } else {
            tr!("Reserved when a request failed, and what the driver still had then")
        }
    }

    /// The bytes that the user says the device has.
    pub(crate) fn given_capacity(&self) -> Option<Bytes> {
        self.given_capacity
    }

    /// Let the user say how many bytes the device has.
    pub(crate) fn give_capacity(&mut self, bytes: Option<Bytes>) {
        self.given_capacity = bytes;
    }

    /// The allocations that the filter lets through; `None` where there is no filter. While a new query
    /// is being answered, this is still the result of the one before.
    pub(crate) fn matches(&self) -> Option<&ByPtr<Matches>> {
        self.filtering.found().map(|found| &found.matches)
    }

    /// Colours of allocations in a theme.
    pub(crate) fn coloring(&self, color_by: ColorBy, palette: &Palette) -> Arc<Coloring> {
        let attribution = self.attribution.as_ref().filter(|_| color_by.needs_attribution());
        let is_dark = palette.is_dark;
        self.coloring.get(ColoringKey { color_by, is_dark, has_attribution: attribution.is_some() }, || {
            let stacks = &self.stack_colors[usize::from(is_dark)];
            let new = || Arc::new(BandColors::new(self.recording.snapshot(), palette));
            let stacks = Arc::clone(stacks.get_or_init(new));
            let coloring = Coloring::new(color_by, &self.recording, stacks, palette);
            Arc::new(match attribution {
                Some(found) => coloring.with_attribution(Arc::clone(found)),
                None => coloring,
            })
        })
    }
}
