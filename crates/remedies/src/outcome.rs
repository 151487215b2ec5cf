//! Predictions, as plain values.

use super::offer::{Effort, Part};
use super::precondition::Precondition;
use super::price::Price;
use oomscope_model::Bytes;
use oomscope_program::projection::{Course, Turn, Unprojected};
use oomscope_program::share::TRACE;
use oomscope_simulator::{Profile, Until};

/// The most bytes of a program, in three measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Figures {
    /// Requested by the program at once; a request that failed counts.
    pub peak_requested: u64,
    /// In blocks that the program holds, with rounding.
    pub peak_allocated: u64,
    /// Taken from the driver.
    pub peak_reserved: u64,
}

/// Whether something is less than before by more than a trace, which is worth showing.
pub(super) fn saves(before: u64, after: u64) -> bool {
    TRACE.is_exceeded(before.saturating_sub(after), before)
}

/// How far a prediction goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// The changed requests are known and were replayed, and predictions of its kind have a narrow error.
    Simulated,
    /// Not all that changes is known, or predictions of its kind were off by more than a figure is worth.
    Bound,
}

impl Trust {
    /// Its word in output.
    pub fn key(self) -> &'static str {
        match self {
            Self::Simulated => "simulated",
            Self::Bound => "bound",
        }
    }
}

/// How surely the purpose of the changed allocations is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attributed {
    /// Stacks or events show it.
    Seen,
    /// Sizes, counts or order suggest it for most bytes.
    Inferred,
}

impl Attributed {
    /// Its word in output.
    pub fn key(self) -> &'static str {
        match self {
            Self::Seen => "seen",
            Self::Inferred => "inferred",
        }
    }
}

/// The prediction for one remedy, or for several at once.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// The id, or ids joined by `+`.
    pub id: String,
    /// What to do, in a few words.
    pub title: String,
    /// The predicted peaks.
    pub figures: Figures,
    /// The most requested bytes over time, up to the end of what is projected.
    pub curve: Profile,
    /// Where nothing but settings of the allocator changes: the most reserved bytes in as many stretches, up to a request that fails.
    pub reserved: Option<Profile>,
    /// Whether every request is met within the capacity; `None` where neither a capacity nor a failed request says what that takes.
    pub fits: Option<bool>,
    /// The last iteration or call that fits, where the program goes on to need more with each; else `None`.
    pub fits_until_turn: Option<Turn>,
    /// Bytes to spare: the capacity less the most that is reserved. Negative, those that are missing at least; `None` as for
    /// `fits`.
    pub margin: Option<Bytes>,
    /// How far the prediction goes.
    pub basis: Trust,
    /// How surely the purpose of the changed allocations is known.
    pub attribution: Attributed,
    /// The share by which predictions of requested bytes were off in validation; `None` where that is not known.
    pub error: Option<f64>,
    /// Whether its title names a condition that the recording does not tell.
    pub is_conditional: bool,
    /// What makes it applicable: one fact for each remedy.
    pub preconditions: Vec<Precondition>,
    /// The parts of the program that it changes.
    pub parts: Vec<Part>,
    /// What it asks of its user; of several, the highest.
    pub effort: Effort,
    /// What it costs in each step, and to write it.
    pub price: Price,
    /// The code to write.
    pub code: String,
    /// What it costs.
    pub cost: String,
    /// What else there is to know; may be empty.
    pub note: String,
}

/// The largest batch that fits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LargestBatch {
    /// Its size, as a multiple of the recorded one.
    pub factor: f64,
    /// Whether still larger ones may fit, which were not tried.
    pub is_more: bool,
    /// How far the prediction goes; a bound where some forward has no backward in the recording, which may need more.
    pub basis: Trust,
}

/// A change with which what was recorded fits, and more would not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Postponed {
    /// The program needs more with each iteration, and goes on to: the index of the remedy.
    Leak(usize),
    /// A request failed, though memory was not in pieces: what follows it needs about as much as before. The index of the remedy.
    Little(usize),
    /// Only a bound of what it saves is known. The index of the remedy.
    Bound(usize),
}

/// All predictions for a device.
#[derive(Debug, Clone, PartialEq)]
pub struct Predictions {
    /// The program as it is, to the end of the step that failed where that can be projected; else with what it would have taken to
    /// meet the request that failed.
    pub baseline: Figures,
    /// The most bytes that it requests over time, up to the end of what is projected.
    pub curve: Profile,
    /// Moments of the program, with what is projected.
    pub moments: u32,
    /// How far all that fits is known to do so.
    pub until: Until,
    /// What the rest of the step follows in which a request failed, or why there is none.
    pub projected: Result<Course, Unprojected>,
    /// Whether the recorded program fits.
    pub fits: Option<bool>,
    /// Bytes that the recorded program leaves or misses.
    pub margin: Option<Bytes>,
    /// Bytes that may be reserved, if that is known.
    pub capacity: Option<u64>,
    /// The remedies, best first.
    pub remedies: Vec<Prediction>,
    /// The indices of the few that say most: the plans, or some that are each about another part of the program.
    pub best: Vec<usize>,
    /// The indices of the changes that are enough for a recorded program that does not fit, none of which is better than another
    /// in everything, the cheapest first. Where it leaks, they stop the leak.
    pub plans: Vec<usize>,
    /// Where no change is the least one that fits: of the best few with which only what was recorded fits, the one that lasts longest.
    pub postpones: Option<Postponed>,
    /// The largest batch of training that fits; `None` where nothing limits it, no training shows, or some remedies were asked
    /// for.
    pub largest_batch: Option<LargestBatch>,
    /// The ids of remedies that change neither what is requested nor what is reserved at the peak.
    pub without_effect: Vec<String>,
    /// The ids that were asked for and do not apply.
    pub not_offered: Vec<String>,
}

impl Predictions {
    /// How much the program as it is goes on to request behind what was recorded: the most bytes in each of some stretches that are
    /// equally long. Empty where nothing is projected.
    pub fn projected_bytes(&self) -> &[u64] {
        self.curve.highest().get(self.recorded_stretches()..).unwrap_or_default()
    }

    /// How many of the first stretches of curves are of what was recorded.
    pub fn recorded_stretches(&self) -> usize {
        let all = self.curve.highest().len();
        let Ok(course) = self.projected else { return all };
        (course.from.0 as usize * all).checked_div(self.moments as usize).unwrap_or(0)
    }

    /// The cheapest change that is enough for a recorded program that does not fit.
    pub fn least(&self) -> Option<&Prediction> {
        self.remedies.get(*self.plans.first()?)
    }
}
