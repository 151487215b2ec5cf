//! `series`: memory over time, in columns.

use crate::cli::mcp::call::Call;
use crate::cli::mcp::parameter::{Kind, Parameter};
use crate::cli::mcp::refusal::Refusal;
use crate::cli::mcp::tool::{DEVICE, FILE, FILTER, Tool};
use crate::cli::select::{NamedRange, OneDevice, Source, parse_filter, parse_range};
use clap::Args;
use oomscope_analysis::filter::{Filter, Prepared};
use oomscope_analysis::{Attribution, UserRules, series};
use oomscope_model::{Moment, Recording};
use oomscope_report::{DeviceSeries, series_json};
use std::io::Write;
use std::ops::Range;

pub(in crate::cli::mcp) const TOOL: Tool = Tool {
    name: "series",
    about: "Memory over time: the recording, or a range of it, in columns of about as many events, each with the exact maximum of \
            active, allocated and reserved bytes in it and the event after which it was reached",
    parameters: &[
        FILE,
        DEVICE,
        Parameter::optional(
            "range",
            Kind::Text,
            "Only this part: iteration:3, phase:backward, 100..200 (events), or a text in the name of an annotation",
        ),
        FILTER,
        Parameter::number("columns", 40, "How many columns, from 1 to 100"),
    ],
    answer,
};

/// Options as those of the commands.
#[derive(Debug, Args)]
struct SeriesArgs {
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    device: OneDevice,
    #[arg(long, value_parser = parse_range)]
    range: Option<NamedRange>,
    #[arg(long, value_parser = parse_filter, allow_hyphen_values = true)]
    filter: Option<Filter>,
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=100))]
    columns: u16,
}

fn answer(call: &Call<'_>, out: &mut dyn Write) -> Result<(), Refusal> {
    let file = call.file("file")?;
    let args: SeriesArgs = call.args(&[], &[&file])?;
    let opened = call.open(&file)?;
    let devices = args.device.each_range(&opened, args.range.as_ref())?;
    let found =
        devices.into_iter().map(|(device, events)| of_device(call, &args, &opened.rules, &device, events));
    let found: Vec<DeviceSeries> = found.collect();
    Ok(series_json(out, &opened.name(), &opened.snapshot, &found)?)
}

fn of_device(
    call: &Call<'_>,
    args: &SeriesArgs,
    rules: &UserRules,
    device: &Recording,
    events: Range<u32>,
) -> DeviceSeries {
    let matches = args.filter.as_ref().map(|filter| {
        let found: Attribution = Attribution::of(device, rules);
        let prepared = Prepared::with_attribution(filter, device, &found);
        prepared.notes().iter().for_each(|note| call.remark(&format!("{}: {note}", device.device)));
        prepared.matches(device, Moment(events.end))
    });
    let curve = matches.as_ref().map(|matches| matches.curve(device));
    // A range has the states after its events; the whole recording begins with the one before the first.
    let first = if args.range.is_some() { events.start + 1 } else { events.start };
    let moments = first as usize..events.end as usize + 1;
    DeviceSeries::new(device, &series(device, moments, args.columns.into(), curve))
}
