//! From the arguments and an open recording to its exported part.

use super::args::ExportArgs;
use crate::cli::failure::Failure;
use crate::cli::select::{Missing, Opened, Selected, Target, matches, missing};
use oomscope_analysis::filter::Prepared;
use oomscope_analysis::{Attribution, Facts};
use oomscope_export::interchange::{Portion, Selection};
use oomscope_model::Recording;
use std::sync::Arc;

/// The part of a recording that is exported if neither a moment nor a range is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Otherwise {
    /// All of it.
    Whole,
    /// The state at the last OOM, else at the peak.
    OomOrPeak,
}

/// The part of a recording that the arguments ask for.
pub(super) fn selection<'a>(
    args: &ExportArgs,
    recording: &'a Opened<'_>,
    otherwise: Otherwise,
) -> Result<Selection<'a>, Failure> {
    let facts = recording.facts();
    let is_moment = args.range.is_none() && otherwise == Otherwise::OomOrPeak;
    let portions = if args.target.names_moment() || is_moment {
        let selected = args.target.each_at_same(recording)?;
        let at = |Selected { device, moment, .. }| portion(device, &facts).at(moment);
        selected.into_iter().map(at).collect()
    } else {
        in_range(args, recording, &facts)?
    };
    let portions = portions.into_iter().map(|portion| filtered(args, portion)).collect();
    Ok(Selection::new(&recording.snapshot, portions))
}

/// All of a recording.
#[cfg(feature = "sql")]
pub(in crate::cli) fn everything<'a>(recording: &'a Opened<'_>) -> Selection<'a> {
    let facts = recording.facts();
    let portions = Recording::all(&recording.snapshot).map(|device| portion(device, &facts)).collect();
    Selection::new(&recording.snapshot, portions)
}

fn portion(device: Recording, facts: &Facts) -> Portion {
    let attribution = Arc::new(Attribution::of_device(facts, &device));
    Portion::whole(device, attribution)
}

/// Each device, in the range if there is one. Devices without the range are left out unless none has it.
fn in_range(args: &ExportArgs, recording: &Opened<'_>, facts: &Facts) -> Result<Vec<Portion>, Failure> {
    let devices = args.target.devices(recording)?;
    let Some(range) = &args.range else {
        return Ok(devices.into_iter().map(|device| portion(device, facts)).collect());
    };
    if range.is_of_one_device() && 1 < devices.len() {
        return Err(Target::ambiguous(recording));
    }
    let (mut portions, mut lacking) = (Vec::new(), None::<Missing<'_>>);
    for device in devices {
        let whole = portion(device, facts);
        match range.ends(&whole.recording, || Arc::clone(&whole.attribution)) {
            Ok(ends) => portions.push(whole.within(ends)),
            Err(error) => lacking = lacking.or(Some(error)),
        }
    }
    match lacking {
        Some(error) if portions.is_empty() => Err(missing(recording.file, error)),
        _ => Ok(portions),
    }
}

fn filtered(args: &ExportArgs, portion: Portion) -> Portion {
    let Some(filter) = args.filter.as_ref().filter(|filter| !filter.is_empty()) else { return portion };
    let prepared = Prepared::with_attribution(filter, &portion.recording, &portion.attribution);
    let found = matches(&prepared, &portion.recording, portion.moment());
    portion.matching(found)
}
