//! `oomscope simulate`.

use super::failure::Failure;
use super::output::{Destination, TextOrJson};
use super::select::{Capacity, OneDevice, Opened, Source, matches, parse_bytes, parse_filter, with_filters};
use super::terminal::stdout_style;
use clap::Args;
use oomscope_analysis::filter::{Filter, Prepared};
use oomscope_analysis::{EventSet, UserRules};
use oomscope_model::{Bytes, DeviceId, EventIx, Moment, Recording};
use oomscope_program::projection::Projection;
use oomscope_program::{Run, Workload};
use oomscope_remedies::{BatchEvents, Scene};
use oomscope_report as report;
use oomscope_report::Simulation;
use oomscope_simulator::{Device, Settings, Subject, recommended, smallest_capacity, sweep, useful_settings};
use oomscope_units as units;

/// Arguments of `simulate`.
#[derive(Debug, Args)]
#[command(
    mut_arg("capacity", |arg| {
        arg.help("Limit of reserved memory, such as 80GiB [default: derived from a recorded OOM]")
    }),
    mut_arg("device", |arg| arg.help("Device to simulate [default: the one with an OOM, or most events]")),
    mut_arg("without", with_filters),
    after_help = "Examples:
  oomscope simulate oom.pickle --sweep   # try the useful settings
  oomscope simulate oom.pickle --set expandable_segments=True
  oomscope simulate oom.pickle --set max_split_size_mb=128 --capacity 40GiB
  oomscope simulate run.pickle --batch 0.5 --smallest-capacity
  oomscope simulate run.pickle --without stack:evaluate
  # For programs:
  oomscope simulate oom.pickle --format json | jq '.results[].peak_reserved'

The recorded requests are replayed in a simulation of PyTorch's caching allocator. The first line says how \
well the simulation reproduces the recording under its own settings. Sizes in the JSON are in bytes."
)]
pub(super) struct SimulateArgs {
    /// Change an allocator setting, named as in `PYTORCH_ALLOC_CONF`; can be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    #[command(flatten)]
    capacity: Capacity,
    /// Total memory of the device, for settings that are fractions of it [default: --capacity]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    device_memory: Option<Bytes>,
    /// Try the useful settings and recommend the smallest change with which everything fits
    #[arg(long)]
    sweep: bool,
    /// Find the smallest capacity with which everything fits
    #[arg(long)]
    smallest_capacity: bool,
    /// Scale the requests that depend on the size of the batch; 0.5 is half the batch
    #[arg(long, value_name = "FACTOR", value_parser = parse_factor)]
    batch: Option<f64>,
    /// Leave out the allocations that match, such as 'stack:evaluate'
    #[arg(long, value_name = "QUERY", value_parser = parse_filter, allow_hyphen_values = true)]
    without: Option<Filter>,
    #[command(flatten)]
    source: Source,
    /// Output format
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    format: TextOrJson,
    #[command(flatten)]
    device: OneDevice,
}

fn parse_factor(text: &str) -> Result<f64, String> {
    let factor = text.parse().ok().filter(|factor| (0.0..=1000.0).contains(factor));
    factor.ok_or_else(|| "expected a number from 0 to 1000, such as 0.5".to_owned())
}

pub(super) fn run(args: &SimulateArgs) -> Result<(), Failure> {
    let recording = args.source.open()?;
    let gpu = gpu(&recording, args)?;
    let known = Device { total_bytes: positive(args.device_memory), ..Device::default() };
    let mut subject = Subject::on_device(&gpu, known);
    let capacity = args.capacity.of(&gpu);
    let device = subject.device().with_capacity(capacity);
    let settings = settings(args, &subject, &device)?;
    let projection = recording.projection(&gpu);
    if let Ok(projection) = &projection {
        subject = projection.requests(&subject);
    }
    let whole = projection.as_ref().map_or(&gpu, |projection| &projection.recording);
    let batch = match args.batch {
        Some(factor) => Some((batch_events(&recording, &gpu, projection.as_ref().ok(), &subject)?, factor)),
        None => None,
    };
    let (changed, change) = changed(args, batch.as_ref(), &recording.rules, whole, &subject);
    // Of the recorded requests: only they can be compared with the recording.
    let fidelity = subject.fidelity();
    let subject = changed.unwrap_or(subject);
    let outcomes = sweep(&subject, &settings, &device);
    // The smallest capacity is that of the recorded settings, which a sweep begins with, or else that of the
    // settings that the user asks for, which come last.
    let wanted = if args.sweep { settings.first() } else { settings.last() };
    let smallest =
        wanted.filter(|_| args.smallest_capacity).and_then(|settings| smallest_capacity(&subject, settings));
    let simulation = Simulation {
        file: &recording.file.display().to_string(),
        recording: &gpu,
        recorded: subject.recorded_settings(),
        fidelity,
        projected: projection.as_ref().map(Projection::course).map_err(|&reason| reason),
        capacity_bytes: device.limit_bytes(),
        is_capacity_given: capacity.is_some(),
        change,
        is_sweep: args.sweep,
        outcomes: &outcomes,
        recommended: recommended(subject.recorded_settings(), &outcomes).filter(|_| args.sweep),
        smallest: smallest.as_ref().map(|(outcome, _)| outcome),
        smallest_bytes: smallest.as_ref().map(|&(_, bytes)| bytes),
    };
    Destination::STDOUT.write(|out| {
        match args.format {
            TextOrJson::Text => report::simulation_text(out, &simulation, stdout_style()),
            TextOrJson::Json => report::simulation_json(out, &simulation),
        }
        .map_err(Failure::from)
    })
}

/// The GPU that the user asks for. Without a trace there is nothing to simulate.
fn gpu(recording: &Opened<'_>, args: &SimulateArgs) -> Result<Recording, Failure> {
    let found = args.device.find(recording)?;
    let simulated = found.filter(|found| found.device != DeviceId::HOST && !found.events.is_empty());
    simulated.ok_or_else(|| {
        recording.failure(
            "no trace of a GPU's allocator to simulate",
            "record with torch.cuda.memory._record_memory_history()",
        )
    })
}

fn positive(bytes: Option<Bytes>) -> Option<u64> {
    bytes.and_then(|bytes| u64::try_from(bytes).ok())
}

/// The settings to simulate: the recorded ones, and those that the user asks for.
fn settings(args: &SimulateArgs, subject: &Subject, device: &Device) -> Result<Vec<Settings>, Failure> {
    let recorded = subject.recorded_settings();
    let mut changed = recorded.clone();
    for setting in &args.set {
        let applied = setting.split_once(['=', ':']).map(|(key, value)| changed.set(key, value));
        let result = applied.unwrap_or_else(|| changed.set(setting, ""));
        result.map_err(|error| Failure::new(error, "for example --set expandable_segments=True"))?;
    }
    let mut all = if args.sweep { useful_settings(subject, device) } else { vec![recorded.clone()] };
    if !all.contains(&changed) {
        all.push(changed);
    }
    Ok(all)
}

/// The requests that depend on the batch.
fn batch_events(
    recording: &Opened<'_>,
    gpu: &Recording,
    projection: Option<&Projection>,
    subject: &Subject,
) -> Result<BatchEvents, Failure> {
    let recorded = recording.attribution(gpu);
    let run = match projection {
        Some(Projection { recording, attribution, .. }) => Run { recording, attribution },
        None => Run { recording: gpu, attribution: &recorded },
    };
    BatchEvents::of(&Scene::new(&Workload::of(run), subject, subject.device())).ok_or_else(|| {
        let hint = "record training, or calls of a model, with stacks";
        recording.failure("nothing in it depends on the batch", hint)
    })
}

/// The recording with other requests, if the user asks for them, and their difference in words.
fn changed(
    args: &SimulateArgs,
    batch: Option<&(BatchEvents, f64)>,
    rules: &UserRules,
    recording: &Recording,
    subject: &Subject,
) -> (Option<Subject>, String) {
    if batch.is_none() && args.without.is_none() {
        return (None, String::new());
    }
    let gone = args.without.as_ref().map(|filter| {
        let prepared = Prepared::new(filter, recording, rules);
        let matches = matches(&prepared, recording, Moment::START);
        (EventSet::of_allocations(recording, matches.iter()), matches.count())
    });
    let factor = |event: EventIx| {
        if gone.as_ref().is_some_and(|(gone, _)| gone.contains(event)) {
            return 0.0;
        }
        let scaled = batch.filter(|(events, _)| events.contains(event));
        scaled.map_or(1.0, |&(_, factor)| factor)
    };
    let mut words = Vec::new();
    if let Some(factor) = args.batch {
        words.push(format!("those that depend on the batch times {factor}"));
    }
    if let Some((_, count)) = &gone {
        words.push(format!("without the {} allocations that match", units::count(*count as u64)));
    }
    (Some(subject.scaled(factor)), words.join("; "))
}
