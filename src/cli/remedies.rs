//! `oomscope fixes`.

use super::failure::Failure;
use super::keep;
use super::output::{Destination, TextOrJson};
use super::select::{Capacity, OneDevice, Opened, Source};
use super::stderr;
use super::terminal::stdout_style;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use oomscope_model::{DeviceId, Recording};
use oomscope_program::{Run, Workload};
use oomscope_remedies::{Allowed, Payment, Predictions, Scene, UnknownId, Wanted, Wish, ids, predict};
use oomscope_report as report;
use oomscope_report::RemediesReport;
use oomscope_simulator::Subject;
use std::io::Write;
use std::time::{Duration, Instant};

/// A bar is shown after this time.
const PATIENCE: Duration = Duration::from_millis(500);

/// Arguments of `remedies`.
#[derive(Debug, Args)]
#[command(
    mut_arg("capacity", |arg| {
        arg.help("Limit of reserved memory, such as 80GiB [default: derived from a recorded OOM]")
    }),
    mut_arg("device", |arg| arg.help("Device to simulate [default: the one with an OOM, or most events]")),
    after_help = "Examples:
  oomscope fixes oom.pickle
  oomscope fixes oom.pickle --all    # all that was tried
  oomscope fixes oom.pickle --keep   # for 'oomscope diff', after the change
  oomscope fixes run.pickle --only sgd,sgd+zero-grad-none
  # On a smaller device, without a change of the results:
  oomscope fixes run.pickle --capacity 40GiB --allow work

Each fix that applies is simulated: the recorded requests are changed as the fix would change them, and \
replayed in a simulation of PyTorch's caching allocator. If the program does not fit, degrees and \
combinations of fixes are searched, too, and at most five plans that fit are listed, cheapest first. None \
of them is better than another in every respect.

--all and the JSON list everything that was tried. Sizes in the JSON are in bytes. docs/fixes.md says what \
each fix assumes, and how far predictions were off."
)]
pub(super) struct RemediesArgs {
    #[command(flatten)]
    capacity: Capacity,
    /// Try only these fixes, separated by commas; '+' combines several: sgd,sgd+zero-grad-none
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    only: Vec<String>,
    /// Accept only these prices, separated by commas: work, numbers, host, devices
    ///
    /// work computes something twice, numbers changes results (another optimizer or data type), host moves memory to
    /// the host, and devices needs more GPUs. '' accepts none of them.
    #[arg(long, value_name = "PRICE", value_delimiter = ',', value_parser = payments)]
    allow: Option<Vec<Vec<Payment>>>,
    /// List all fixes that apply, instead of the best few
    ///
    /// For recordings of more than a million events, only this option simulates all of them.
    #[arg(long)]
    all: bool,
    /// Save what fixes promise beside the recording, in FILE.fixes.json
    ///
    /// 'oomscope diff' finds the file there, and says whether the promises were kept.
    #[arg(long)]
    keep: bool,
    /// Add the requested bytes over time to the JSON
    #[arg(long)]
    curve: bool,
    #[command(flatten)]
    source: Source,
    /// Output format
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    format: TextOrJson,
    #[command(flatten)]
    device: OneDevice,
}

pub(super) fn run(args: &RemediesArgs) -> Result<(), Failure> {
    wish(args)?;
    let recording = args.source.open()?;
    Destination::STDOUT.write(|out| write(out, args, &recording, &predict_with_bar, &stderr::notice))
}

/// Predictions of some remedies, or of all.
pub(super) type Predict<'a> = dyn Fn(&Scene<'_>, &Wish) -> Predictions + 'a;

fn wish(args: &RemediesArgs) -> Result<Wish, Failure> {
    let only: Result<Vec<Wanted>, UnknownId> = args.only.iter().map(|text| Wanted::parse(text)).collect();
    let only = only.map_err(|error| unknown(&error))?;
    let allowed = args.allow.as_ref().map(|all| Allowed::from(all.concat())).unwrap_or_default();
    Ok(Wish { only, allowed, all: args.all })
}

/// A word for a price, or no word for none.
fn payments(text: &str) -> Result<Vec<Payment>, String> {
    if text.is_empty() { Ok(Vec::new()) } else { text.parse().map(|payment| vec![payment]) }
}

/// Write what remedies would have done for an open recording. Those that do not apply are told to `notice`.
pub(super) fn write(
    out: &mut dyn Write,
    args: &RemediesArgs,
    recording: &Opened<'_>,
    predict: &Predict<'_>,
    notice: &dyn Fn(&str),
) -> Result<(), Failure> {
    let wish = wish(args)?;
    let gpu = gpu(recording, args)?;
    let (attribution, subject) = rayon::join(|| recording.attribution(&gpu), || Subject::new(&gpu));
    let workload = Workload::of(Run { recording: &gpu, attribution: &attribution });
    let capacity = args.capacity.of(&gpu);
    let predictions = Scene::with_whole_step(&workload, &subject, capacity, |scene| predict(scene, &wish));
    for id in &predictions.not_offered {
        notice(&format!("{id} is not known to apply to this recording"));
    }
    let report = RemediesReport {
        file: &recording.file.display().to_string(),
        recording: &gpu,
        fidelity: subject.fidelity(),
        is_capacity_given: capacity.is_some(),
        predictions: &predictions,
        has_all: args.all || !wish.only.is_empty(),
        has_curves: args.curve,
    };
    match args.format {
        TextOrJson::Text => report::remedies_text(out, &report, stdout_style())?,
        TextOrJson::Json => report::remedies_json(out, &report)?,
    }
    if args.keep {
        keep::keep(recording, &RemediesReport { has_curves: false, ..report })?;
    }
    Ok(())
}

fn unknown(error: &UnknownId) -> Failure {
    let known: Vec<&str> = ids().collect();
    Failure::new(error, format!("the fixes are {}; '+' joins several", known.join(", ")))
}

/// Predict, with a bar on standard error if it takes long.
fn predict_with_bar(scene: &Scene<'_>, wish: &Wish) -> Predictions {
    let style = ProgressStyle::with_template("{bar:30} {pos} of {len} fixes");
    let bar = ProgressBar::hidden().with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let started = Instant::now();
    let predictions = predict(scene, wish, &|done, total| {
        bar.set_length(total as u64);
        bar.set_position(done as u64);
        if PATIENCE <= started.elapsed() && bar.is_hidden() {
            bar.set_draw_target(indicatif::ProgressDrawTarget::stderr());
        }
        true
    });
    bar.finish_and_clear();
    predictions
}

/// The GPU that the user asks for. Without a trace there is nothing to change.
fn gpu(recording: &Opened<'_>, args: &RemediesArgs) -> Result<Recording, Failure> {
    let found = args.device.find(recording)?;
    let simulated = found.filter(|found| found.device != DeviceId::HOST && !found.events.is_empty());
    simulated.ok_or_else(|| {
        recording.failure(
            "no trace of a GPU's allocator to change",
            "record with torch.cuda.memory._record_memory_history()",
        )
    })
}
