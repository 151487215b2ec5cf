//! Recordings without any stacks: what stays from before the first wave of memory is parameters, and
//! what is as large as they are and comes after a wave's crest is gradients, then state.

use super::assign::Scene;
use super::unrecorded::set;
use super::{Category, Reason, Verdict};
use crate::model::{AllocId, Moment};
use foldhash::HashMap;

/// A wave is at least this part of the whole range of active bytes high, and falls by as much.
const WAVE: i64 = 5;

/// A block that is gone within so many events is of no account for where parameters end.
const BRIEF_EVENTS: u32 = 4;

/// Where active bytes rise and fall.
struct Wave {
    /// The moment of most bytes.
    crest: u32,
}

pub(super) fn settle(scene: &Scene<'_>, new: &[AllocId], verdicts: &mut [Verdict]) {
    if new.is_empty() || scene.flow.acts.has_stacks {
        return;
    }
    let waves = waves(scene);
    let first_crest = waves.first().map_or(u32::MAX, |wave| wave.crest);
    let parameters = parameters(scene, new, first_crest);
    let mut sizes: HashMap<i64, Pool> = HashMap::default();
    for &id in new.iter().take(parameters).filter(|&&id| scene.gone(id).is_none()) {
        set(verdicts, id, (Category::Parameter, Reason::EarlyAndKept));
        sizes.entry(scene.size(id)).or_default().parameters += 1;
    }
    let mut later: Vec<AllocId> = Vec::new();
    for &id in new {
        let start = scene.timeline.lifetimes.start(id).0;
        let slot = verdicts.get(id.index()).copied();
        if slot.is_some_and(|v| v.0 == Category::Parameter) {
            continue;
        }
        let verdict = match (sizes.get_mut(&scene.size(id)), scene.gone(id)) {
            (Some(pool), None) if first_crest < start => {
                pool.stays += 1;
                later.push(id);
                continue;
            }
            (Some(pool), Some(_)) if first_crest < start => {
                pool.goes += 1;
                (Category::Gradient, Reason::PairsAndGoes)
            }
            _ => (Category::Activation, Reason::Repeats),
        };
        set(verdicts, id, verdict);
    }
    settle_pairs(scene, &later, &waves, &sizes, verdicts);
}

/// Blocks of a parameter's size.
#[derive(Default)]
struct Pool {
    parameters: usize,
    /// After the first crest, and never given back.
    stays: usize,
    /// After the first crest, and given back.
    goes: usize,
}

/// State is made once, in the first wave; gradients are those of the last. In a recording of one
/// wave, gradients come before state.
fn settle_pairs(
    scene: &Scene<'_>,
    later: &[AllocId],
    waves: &[Wave],
    sizes: &HashMap<i64, Pool>,
    verdicts: &mut [Verdict],
) {
    let last_crest = waves.last().map_or(0, |wave| wave.crest);
    let mut seen: HashMap<i64, usize> = HashMap::default();
    for &id in later {
        let size = scene.size(id);
        let Some(pool) = sizes.get(&size) else { continue };
        let at = seen.entry(size).or_default();
        let order = *at;
        *at += 1;
        let start = scene.timeline.lifetimes.start(id).0;
        let rounds = pool.stays / pool.parameters.max(1);
        let is_gradient = if 1 < waves.len() {
            last_crest < start && pool.stays.saturating_sub(pool.parameters) <= order
        } else {
            rounds != 2 && order < pool.parameters && (rounds != 1 || pool.goes == 0)
        };
        let verdict = if is_gradient {
            (Category::Gradient, Reason::SizePairing)
        } else {
            (Category::OptimizerState, Reason::SizePairing)
        };
        set(verdicts, id, verdict);
    }
}

/// How many of the first allocations are before anything that goes again.
fn parameters(scene: &Scene<'_>, new: &[AllocId], first_crest: u32) -> usize {
    let ends = new.iter().position(|&id| {
        let start = scene.timeline.lifetimes.start(id).0;
        first_crest <= start || scene.gone(id).is_some_and(|gone| start + BRIEF_EVENTS < gone.0)
    });
    ends.unwrap_or(new.len())
}

/// The waves of active bytes, by turning points.
fn waves(scene: &Scene<'_>) -> Vec<Wave> {
    let curve = &scene.timeline.active;
    let moments = scene.timeline.events.len() as u32 + 1;
    let height = curve.peak().1 / WAVE;
    let mut out = Vec::new();
    let (mut low, mut high, mut crest, mut rises) = (0, 0, 0, true);
    for moment in 0..moments {
        let value = curve.at(Moment(moment));
        if rises {
            if high < value {
                (high, crest) = (value, moment);
            } else if height < high - value {
                out.push(Wave { crest });
                (rises, low) = (false, value);
            }
        } else if value < low {
            low = value;
        } else if height < value - low {
            (rises, high, crest) = (true, value, moment);
        }
    }
    if rises && !out.is_empty() && height < high - low {
        out.push(Wave { crest });
    }
    out
}
