//! The words for the rest of a step that failed: what it follows, or why it is not known.

use super::position::turn_text;
use super::stated_error::stated_error;
use oomscope_program::projection::{
    AssumedOptimizer, Basis, Course, Like, Stage, Structure, Turn, Unprojected,
};
use oomscope_simulator::Until;
use oomscope_units as units;
use serde::Serialize;

/// What was projected, for JSON; iterations and calls are counted from 0.
#[derive(Serialize)]
pub(super) struct ProjectionRecord {
    from: u32,
    until: &'static str,
    events: u32,
    basis: &'static str,
    like_iteration: Option<u32>,
    like_call: Option<u32>,
    alike: Option<f64>,
    ratio: Option<f64>,
    stage: Option<&'static str>,
    block: Option<usize>,
    blocks: Option<usize>,
    gets_wider: bool,
    assumes: Option<&'static str>,
    summed_bytes: Option<u64>,
    error: f64,
}

/// What was projected, and why nothing was: one of both.
pub(super) fn projection_record(
    projected: Result<Course, Unprojected>,
) -> (Option<ProjectionRecord>, Option<&'static str>) {
    let reason = projected.err().filter(|&reason| reason != Unprojected::Complete).map(Unprojected::key);
    (projected.ok().map(ProjectionRecord::of), reason)
}

impl ProjectionRecord {
    fn of(course: Course) -> Self {
        let like = course.like();
        let structure = match course.basis {
            Basis::Structure(structure) => Some(structure),
            Basis::Earlier(_) => None,
        };
        let turn = like.and_then(|like| like.turn);
        let (call, iteration) = (turn.and_then(Turn::call), turn.and_then(Turn::iteration));
        let is_of_steps = course.until == Until::Step;
        let (block, blocks, gets_wider) = match structure.map(|structure| structure.stage) {
            Some(Stage::Block { block, count, gets_wider }) => (Some(block), Some(count), gets_wider),
            _ => (None, None, false),
        };
        Self {
            from: course.from.0,
            until: if structure.is_some() && is_of_steps { "next_step" } else { course.until.key() },
            events: course.events,
            basis: match (structure, is_of_steps) {
                (Some(_), _) => "structure",
                (None, true) => "iteration",
                (None, false) => "call",
            },
            like_iteration: iteration,
            like_call: call,
            alike: like.map(|like| like.alike),
            ratio: like.map(|like| like.ratio),
            stage: structure.map(|structure| stage_key(structure.stage)),
            block,
            blocks,
            gets_wider,
            assumes: structure.and_then(|structure| structure.assumes).map(assumed_key),
            summed_bytes: structure.and_then(|structure| structure.summed_bytes),
            error: course.error(),
        }
    }
}

fn stage_key(stage: Stage) -> &'static str {
    match stage {
        Stage::Block { .. } => "block",
        Stage::Head => "head",
        Stage::Backward => "backward",
        Stage::Optimizer => "optimizer",
    }
}

fn assumed_key(assumed: AssumedOptimizer) -> &'static str {
    match assumed {
        AssumedOptimizer::Adam => "adam",
        AssumedOptimizer::Momentum => "momentum",
    }
}

/// What answers about the future rest on; nothing where no request failed.
pub fn projection_lines(projected: Result<Course, Unprojected>) -> Vec<String> {
    let why = match projected {
        Ok(course) => {
            return match course.basis {
                Basis::Earlier(like) => lines_like(course, like),
                Basis::Structure(structure) => lines_from_structure(course, structure),
            };
        }
        Err(Unprojected::Complete) => return Vec::new(),
        Err(Unprojected::WentOn) => "A request failed, and the program went on in another way.",
        Err(Unprojected::NoEarlier) => {
            "A request failed, and nothing before it did the same and came further."
        }
        Err(Unprojected::NoEarlierBlock) => {
            "A request failed in a first pass, where no block of the model had done the same before."
        }
        Err(Unprojected::OtherBlocks) => {
            "A request failed in a first pass, and much of the model that is left is unlike what ran."
        }
        Err(Unprojected::SeveralDevices) => {
            "A request failed in a first pass, and the program computes on other devices, too."
        }
    };
    let unknown = "What follows is not known: answers reach up to that request, and its bytes count.";
    vec![why.to_owned(), unknown.to_owned()]
}

fn lines_like(course: Course, like: Like) -> Vec<String> {
    let name = like.turn.map_or_else(|| "an earlier iteration".to_owned(), turn_text);
    let whole = if course.until == Until::Call { "call" } else { "step" };
    let (event, error) = (units::count(course.from.0), stated_error(course.error()));
    let mut lines = vec![
        format!(
            "A request failed at event {event}. The rest of its {whole} is projected, as {name} went on ({error});"
        ),
        format!("up to there, {:.1} % of what the two asked for is the same.", 100.0 * like.alike),
    ];
    if like.ratio != 1.0 {
        let ratio = like.ratio;
        lines.push(format!("What depends on the batch is {ratio:.2} times as large as there."));
    }
    lines
}

fn lines_from_structure(course: Course, structure: Structure) -> Vec<String> {
    let (event, error) = (units::count(course.from.0), stated_error(course.error()));
    let stage = match structure.stage {
        Stage::Block { block, count, .. } => format!("in block {block} of {count} of the forward"),
        Stage::Head => "after the last block of the forward".to_owned(),
        Stage::Backward => "in the backward".to_owned(),
        Stage::Optimizer => "in the optimizer's step".to_owned(),
    };
    if course.until == Until::Call {
        return vec![
            format!("A request failed at event {event}, {stage}, in the first call of its kind."),
            format!(
                "The rest of it is projected ({error}, in two of three cases): blocks like those before them,"
            ),
            "and the logits if the model has a head of its own and does not generate.".to_owned(),
        ];
    }
    let mut lines = vec![
        format!("A request failed at event {event}, {stage}, and no step before it came further."),
        format!(
            "The rest of it and the next step are projected from the model's structure ({error}, in two of"
        ),
        "three cases): blocks like those before them, a backward that gives back what the forward keeps, a"
            .to_owned(),
        "gradient for each parameter.".to_owned(),
    ];
    if matches!(structure.stage, Stage::Block { gets_wider: true, .. }) {
        lines.push("Blocks that are twice as wide are taken to have a quarter of the positions.".to_owned());
    }
    let assumed = structure.assumes.map(|assumed| match assumed {
        AssumedOptimizer::Adam => {
            "No state of the optimizer was seen: it is taken for Adam, with two tensors for each parameter."
        }
        AssumedOptimizer::Momentum => {
            "No state of SGD was seen: it is taken to have momentum, a tensor for each parameter."
        }
    });
    lines.extend(assumed.map(str::to_owned));
    if let Some(bytes) = structure.summed_bytes.and_then(|bytes| i64::try_from(bytes).ok()) {
        let bytes = units::bytes(bytes);
        lines
            .push(format!("Gradients that are summed over several batches before a step take {bytes} more."));
    }
    lines
}
