//! `oomscope explain`.

use super::failure::Failure;
use super::output::{Destination, TextOrJson};
use super::select::{Opened, Selected, Source, Target, no_moment, with_moments};
use clap::Args;
use oomscope_analysis::Attribution;
use oomscope_diagnosis::{DiagnosisRequest, diagnose};
use oomscope_model::{AllocId, Bytes, EventIx, Recording, Timeline};
use oomscope_report as report;
use oomscope_report::Explanation;
use oomscope_units as units;
use std::io::Write;

/// Arguments of `explain`.
#[derive(Debug, Args)]
#[command(
    mut_arg("at", |arg| {
        with_moments(arg.help("Moment of the verdict, or at which ADDR is live [default: oom, or peak]"))
    }),
    mut_arg("device", |arg| arg.help("Only this device, -1 for pinned host memory")),
    after_help = "Examples:
  oomscope explain oom.pickle 0x7f21ac000000
  oomscope explain oom.pickle 0x7f21ac000000@41220 --format json
  oomscope explain oom.pickle --verdict
  oomscope explain oom.pickle --projection
  # Find addresses to ask about, whose categories are inferred:
  oomscope live oom.pickle --at oom --filter basis:inferred

For an allocation, the output names the rule that decided its category, how certain the category is, the \
evidence for it, and the rules that were overruled. docs/attribution.md lists the rules."
)]
pub(super) struct ExplainArgs {
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    source: Source,
    /// Any address within the allocation, and optionally the event that made it
    ///
    /// Event -1 is an allocation that is older than the recording. Without an event, it is the allocation that is live
    /// at the moment of --at.
    #[arg(value_name = "ADDR[@EVENT]", value_parser = parse_address, required_unless_present_any = ["verdict", "projection"])]
    address: Option<Address>,
    /// Explain the verdict of 'oomscope report'
    ///
    /// Lists the questions that led to the verdict, in order, with their figures and answers.
    #[arg(long, conflicts_with_all = ["address", "format"])]
    verdict: bool,
    /// Explain how the step that failed would have continued
    ///
    /// Says what the projection follows, what it assumes, and how much each part requests.
    #[arg(long, conflicts_with_all = ["address", "format", "verdict", "at"])]
    projection: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    format: TextOrJson,
}

/// An allocation as the user names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Address {
    /// Any address of its memory.
    addr: u64,
    /// The event that made it; -1 if it is older than the recording, `None` if only the address was given.
    event: Option<i64>,
}

fn parse_address(text: &str) -> Result<Address, String> {
    let (addr, event) = text.split_once('@').map_or((text, None), |(addr, event)| (addr, Some(event)));
    let digits = addr.strip_prefix("0x").or_else(|| addr.strip_prefix("0X"));
    let addr = digits.map_or_else(|| addr.parse().ok(), |digits| u64::from_str_radix(digits, 16).ok());
    let addr = addr.ok_or("expected an address such as 0x7f21ac000000")?;
    let event = event.map(str::parse).transpose();
    let event = event.map_err(|error| format!("expected an event's number after '@', or -1: {error}"))?;
    Ok(Address { addr, event })
}

pub(super) fn run(args: &ExplainArgs) -> Result<(), Failure> {
    let recording = args.source.open()?;
    Destination::STDOUT.write(|out| write(out, args, &recording))
}

/// Write what is known of an allocation of a recording.
pub(super) fn write(out: &mut dyn Write, args: &ExplainArgs, recording: &Opened<'_>) -> Result<(), Failure> {
    let Some(address) = args.address else {
        return if args.projection {
            write_projection(out, args, recording)
        } else {
            write_verdict(out, args, recording)
        };
    };
    let (device, id) = find(recording, args, address)?;
    let (found, claims) = Attribution::explain(&recording.facts(), &device, id);
    let allocation = device.allocation(id);
    let explanation = Explanation { recording: &device, allocation, found, claims };
    match args.format {
        TextOrJson::Text => report::explain_text(out, &explanation)?,
        TextOrJson::Json => report::explain_json(out, &explanation)?,
    }
    Ok(())
}

/// Write the questions that were asked for the verdict of the report.
fn write_verdict(out: &mut dyn Write, args: &ExplainArgs, recording: &Opened<'_>) -> Result<(), Failure> {
    let Selected { device, at, .. } = args.target.one(recording)?;
    let attribution = recording.attribution(&device);
    let request = DiagnosisRequest { at: Some(at), ..DiagnosisRequest::default() };
    let diagnosis =
        diagnose(&device, &attribution, request).map_err(|error| no_moment(recording.file, error))?;
    Ok(report::verdict_questions_text(out, &device, &diagnosis)?)
}

/// Write how the step that failed would have gone on.
fn write_projection(out: &mut dyn Write, args: &ExplainArgs, recording: &Opened<'_>) -> Result<(), Failure> {
    let device = args.target.one(recording)?.device;
    let projected = recording.projection(&device);
    let projected = projected.as_ref().map_err(|&reason| reason);
    Ok(report::projection_text(out, &device, projected)?)
}

/// The allocation that the user named, on the first device that has it.
fn find(
    recording: &Opened<'_>,
    args: &ExplainArgs,
    address: Address,
) -> Result<(Recording, AllocId), Failure> {
    let Address { addr, event } = address;
    let found = match event {
        None => args.target.each(recording)?.into_iter().find_map(|Selected { device, moment, .. }| {
            let id = device.lifetimes.live_at(moment).find(|&id| holds(&device, id, addr))?;
            Some((device, id))
        }),
        Some(event) => args.target.devices(recording)?.into_iter().find_map(|device| {
            let id = made_by(&device, event, addr)?;
            Some((device, id))
        }),
    };
    found.ok_or_else(|| {
        let which = match event {
            Some(-1) => "older than the recording".to_owned(),
            Some(event) => format!("made by event {event}"),
            None => "live then".to_owned(),
        };
        Failure::new(
            format_args!("no allocation at {} is {which}", units::address(addr)),
            "'oomscope live' lists addresses and events; --at says when",
        )
    })
}

/// The allocation at an address that an event made, or one from before the recording for event -1.
fn made_by(timeline: &Timeline, event: i64, addr: u64) -> Option<AllocId> {
    let lifetimes = &timeline.lifetimes;
    if event == -1 {
        return lifetimes.ids().take(lifetimes.initial_count()).find(|&id| holds(timeline, id, addr));
    }
    let event = u32::try_from(event).ok().filter(|&event| (event as usize) < timeline.events.len())?;
    lifetimes.of_alloc_event(EventIx(event)).filter(|&id| holds(timeline, id, addr))
}

/// True if an address is in an allocation's memory. An empty allocation has the address of its first byte.
fn holds(timeline: &Timeline, id: AllocId, addr: u64) -> bool {
    let start = timeline.addr(id);
    let size = timeline.size(id).max(Bytes(1)).unsigned_abs();
    addr.checked_sub(start).is_some_and(|offset| offset < size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_with_and_without_events() {
        let at = |addr, event| Ok(Address { addr, event });
        assert_eq!(parse_address("0x7f00@12"), at(0x7f00, Some(12)));
        assert_eq!(parse_address("0x7F00@-1"), at(0x7f00, Some(-1)));
        assert_eq!(parse_address("4096"), at(4096, None));
        assert!(parse_address("7f00").is_err());
        assert!(parse_address("0x7f00@x").is_err());
    }
}
