//! `oomscope explain`.

use super::live::{no_device, parse_at};
use super::output::{Target, TextOrJson};
use super::{Failure, loading, rules};
use crate::analysis::{At, Attribution, Facts, resolve};
use crate::model::{AllocId, DeviceId, Moment, Snapshot, Timeline};
use crate::report::{self, Explanation};
use crate::units;
use clap::Args;
use std::path::PathBuf;

/// Arguments of `explain`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  oomscope explain oom.pickle 0x7f21ac000000
  oomscope explain oom.pickle 0x7f21ac000000@41220 --format json
  oomscope live oom.pickle --at oom --filter basis:inferred    finds addresses to ask about

Says which rule decided what an allocation is for, how surely, what speaks for it, and which rules said
something else. docs/attribution.md lists the rules.")]
pub(super) struct ExplainArgs {
    /// A snapshot; '-' is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// An address of the allocation, and after '@' the event that made it (-1: older than the recording)
    #[arg(value_name = "ADDR[@EVENT]", value_parser = parse_what)]
    what: What,
    /// The moment at which ADDR must be live, if no event is given; by default the last OOM, or the peak if there is none
    #[arg(long, value_name = "peak|oom|end|EVENT", value_parser = parse_at)]
    at: Option<At>,
    /// Only on this device; -1 is pinned host memory
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    device: Option<i64>,
    /// Your own rules for categories, a TOML file; they come before all others
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    /// How to write it
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    format: TextOrJson,
}

/// Which allocation is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct What {
    addr: u64,
    event: Option<i64>,
}

fn parse_what(text: &str) -> Result<What, String> {
    let (addr, event) = text.split_once('@').map_or((text, None), |(addr, event)| (addr, Some(event)));
    let digits = addr.strip_prefix("0x").or_else(|| addr.strip_prefix("0X"));
    let addr = digits.map_or_else(|| addr.parse().ok(), |digits| u64::from_str_radix(digits, 16).ok());
    let addr = addr.ok_or("expected an address such as 0x7f21ac000000")?;
    let event = event.map(str::parse).transpose();
    let event = event.map_err(|error| format!("expected an event's number after '@', or -1: {error}"))?;
    Ok(What { addr, event })
}

pub(super) fn run(args: &ExplainArgs) -> Result<(), Failure> {
    let target = Target::new(None, &args.file, args.rules.as_deref())?;
    let rules = rules::read(args.rules.as_deref(), &[&args.file])?;
    let snapshot = loading::load(&args.file)?;
    if let Some(device) = args.device.filter(|&device| snapshot.timeline(DeviceId(device)).is_none()) {
        return Err(no_device(&snapshot, device));
    }
    let (timeline, id) = find(&snapshot, args)?;
    let facts = Facts::of(&snapshot, &rules);
    let (found, claims) = Attribution::explain(&facts, &snapshot, timeline, id);
    let allocation = timeline.lifetimes.get(id, &timeline.events);
    let explanation = Explanation { snapshot: &snapshot, timeline, allocation, found, claims };
    target.write(|out| {
        match args.format {
            TextOrJson::Text => report::explain_text(out, &explanation),
            TextOrJson::Json => report::explain_json(out, &explanation),
        }
        .map_err(Failure::from)
    })
}

/// The allocation that is meant, on the first device that has it.
fn find<'a>(snapshot: &'a Snapshot, args: &ExplainArgs) -> Result<(&'a Timeline, AllocId), Failure> {
    let wanted = |timeline: &&Timeline| args.device.is_none_or(|device| timeline.device.0 == device);
    if let (None, Some(at)) = (args.what.event, args.at) {
        let moments = snapshot.timelines.iter().filter(wanted).map(|timeline| resolve(at, timeline));
        if let Some(Err(error)) = moments.reduce(|a, b| a.or(b)) {
            return Err(Failure::new(
                error,
                "use --at peak or --at end, or an event that 'oomscope stats' counts",
            ));
        }
    }
    let found = snapshot
        .timelines
        .iter()
        .filter(wanted)
        .find_map(|timeline| Some((timeline, allocation(timeline, args.what, args.at)?)));
    found.ok_or_else(|| {
        let what = match args.what.event {
            Some(-1) => "older than the recording".to_owned(),
            Some(event) => format!("made by event {event}"),
            None => "live then".to_owned(),
        };
        Failure::new(
            format_args!("no allocation at {} is {what}", units::address(args.what.addr)),
            "'oomscope live' lists addresses and events; --at says when",
        )
    })
}

/// The allocation that holds an address.
fn allocation(timeline: &Timeline, what: What, at: Option<At>) -> Option<AllocId> {
    let holds = |&id: &AllocId| {
        let start = timeline.lifetimes.addr(id, &timeline.events);
        let size = timeline.lifetimes.size(id, &timeline.events).max(1).unsigned_abs();
        what.addr.checked_sub(start).is_some_and(|offset| offset < size)
    };
    match what.event {
        None => timeline.lifetimes.live_at(moment(timeline, at)?).find(holds),
        Some(-1) => timeline.lifetimes.ids().take(timeline.lifetimes.initial_count()).find(holds),
        Some(event) => {
            let event =
                u32::try_from(event).ok().filter(|&event| (event as usize) < timeline.events.len())?;
            timeline.lifetimes.of_alloc_event(crate::model::EventIx(event)).filter(holds)
        }
    }
}

fn moment(timeline: &Timeline, at: Option<At>) -> Option<Moment> {
    match at {
        Some(at) => resolve(at, timeline).ok(),
        None => resolve(At::Oom, timeline).or_else(|_| resolve(At::Peak, timeline)).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_with_and_without_events() {
        let what = |addr, event| Ok(What { addr, event });
        assert_eq!(parse_what("0x7f00@12"), what(0x7f00, Some(12)));
        assert_eq!(parse_what("0x7F00@-1"), what(0x7f00, Some(-1)));
        assert_eq!(parse_what("4096"), what(4096, None));
        assert!(parse_what("7f00").is_err());
        assert!(parse_what("0x7f00@x").is_err());
    }
}
