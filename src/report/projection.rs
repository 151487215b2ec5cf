//! The words for the rest of a step that failed: what it follows, or why it is not known.

use super::position::iteration_text;
use super::stated_error::stated_error;
use crate::projection::{Course, Unprojected};
use crate::units;
use serde::Serialize;

/// What was projected, for JSON; iterations are counted from 0.
#[derive(Serialize)]
pub(super) struct ProjectionRecord {
    from: u32,
    until: &'static str,
    events: u32,
    like_iteration: Option<u32>,
    alike: f64,
    ratio: f64,
    error: f64,
}

/// What was projected, and why nothing was: one of both.
pub(super) fn projection_record(
    projected: Result<Course, Unprojected>,
) -> (Option<ProjectionRecord>, Option<&'static str>) {
    let record = |course: Course| ProjectionRecord {
        from: course.from.0,
        until: "step",
        events: course.events,
        like_iteration: course.like.iteration.or(course.like.iteration_of_recording),
        alike: course.alike,
        ratio: course.ratio,
        error: course.error(),
    };
    let reason = projected.err().filter(|&reason| reason != Unprojected::Complete).map(Unprojected::key);
    (projected.ok().map(record), reason)
}

/// What answers about the future rest on; nothing where no request failed.
pub fn projection_lines(projected: Result<Course, Unprojected>) -> Vec<String> {
    const UNKNOWN: &str = "What follows is not known: answers reach up to that request, and its bytes count.";
    let course = match projected {
        Ok(course) => course,
        Err(Unprojected::Complete) => return Vec::new(),
        Err(Unprojected::WentOn) => {
            let why = "A request failed, and the program went on in another way.";
            return vec![why.to_owned(), UNKNOWN.to_owned()];
        }
        Err(Unprojected::NoEarlier) => {
            let why = "A request failed, and no earlier iteration did the same and came further.";
            return vec![why.to_owned(), UNKNOWN.to_owned()];
        }
    };
    let like = iteration_text(course.like).unwrap_or_else(|| "an earlier iteration".to_owned());
    let (event, error) = (units::count(course.from.0), stated_error(course.error()));
    let mut lines = vec![
        format!(
            "A request failed at event {event}. The rest of its step is projected, as {like} went on ({error});"
        ),
        format!("up to there, {:.1} % of what the two asked for is the same.", 100.0 * course.alike),
    ];
    if course.ratio != 1.0 {
        let ratio = course.ratio;
        lines.push(format!("What depends on the batch is {ratio:.2} times as large as there."));
    }
    lines
}
