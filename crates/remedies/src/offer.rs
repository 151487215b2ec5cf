//! An offer: one remedy for one recording, ready to be tried.

use super::errors;
use super::precondition::Precondition;
use super::price::Price;
use oomscope_simulator::Program;
use std::fmt;

/// The part of a program that a remedy changes. Two remedies for one part exclude each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// What is kept from earlier iterations.
    Leak,
    /// A second copy of the model.
    Copy,
    /// The optimizer, its state and its step.
    Optimizer,
    /// How long gradients live.
    Gradients,
    /// How many samples are computed at once.
    Batch,
    /// Which activations are kept for the backward.
    Checkpoints,
    /// The type of numbers.
    Precision,
    /// What evaluation keeps.
    Evaluation,
    /// The loss.
    Loss,
    /// Attention.
    Attention,
    /// On how many devices memory lies.
    Place,
    /// Settings of the allocator.
    Settings,
}

/// What a remedy asks of its user, least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effort {
    /// A setting or an argument; nothing else changes.
    Argument,
    /// A few lines; the same results.
    Lines,
    /// It takes more time; the same results.
    Time,
    /// Other results: accuracy has to be checked.
    Results,
    /// Other devices, or another way to train.
    Equipment,
}

impl Effort {
    /// Its word in output.
    pub fn key(self) -> &'static str {
        match self {
            Self::Argument => "argument",
            Self::Lines => "lines",
            Self::Time => "time",
            Self::Results => "results",
            Self::Equipment => "equipment",
        }
    }
}

/// When an offer is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// In any case.
    Always,
    /// As one of many degrees of the same, of which the lowest is wanted that is enough.
    IfNeeded,
}

/// The change that a remedy makes.
pub(super) enum Change<'a> {
    /// To the program's allocations.
    Program(Box<dyn Fn(&mut Program<'_>) + Send + Sync + 'a>),
    /// To a setting of the allocator: its name and its value.
    Setting(String, String),
}

impl fmt::Debug for Change<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Program(_) => f.write_str("Program"),
            Self::Setting(name, value) => write!(f, "Setting({name}, {value})"),
        }
    }
}

/// One remedy for one recording.
#[derive(Debug)]
pub(super) struct Offer<'a> {
    /// Its stable name.
    pub(super) id: String,
    /// What to do, in a few words.
    pub(super) title: String,
    pub(super) part: Part,
    pub(super) effort: Effort,
    /// How far it goes among those that do the same further or less far, from 0 for the least.
    pub(super) degree: u32,
    /// Its place among all offers, in the order in which they are applied together.
    pub(super) place: usize,
    /// When it is tried.
    pub(super) asked: Asked,
    /// What it costs in each step, and to write it.
    pub(super) price: Price,
    /// What makes it applicable.
    pub(super) precondition: Precondition,
    pub(super) change: Change<'a>,
    /// Whether the prediction is only a bound, as not all that changes is known.
    pub(super) is_bound: bool,
    /// Whether its title names a condition that the recording does not tell.
    pub(super) is_conditional: bool,
    /// Whether the categories behind it are partly inferred.
    pub(super) is_inferred: bool,
    /// The share by which predictions of it were off; `None` if that was not measured.
    pub(super) error: Option<f64>,
    /// The code to write.
    pub(super) code: String,
    /// What it costs.
    pub(super) cost: String,
    /// What else there is to know; may be empty.
    pub(super) note: String,
}

impl<'a> Offer<'a> {
    /// An offer that changes allocations, with the error that was measured, and without a note.
    pub(super) fn new(
        id: impl Into<String>,
        title: impl Into<String>,
        (part, effort): (Part, Effort),
        precondition: Precondition,
        change: impl Fn(&mut Program<'_>) + Send + Sync + 'a,
    ) -> Self {
        let id = id.into();
        let error = errors::measured(&id);
        Self {
            id,
            title: title.into(),
            part,
            effort,
            degree: 0,
            place: 0,
            asked: Asked::Always,
            price: Price { other_numbers: effort == Effort::Results, ..Price::default() },
            precondition,
            change: Change::Program(Box::new(change)),
            is_bound: false,
            is_conditional: false,
            is_inferred: false,
            error,
            code: String::new(),
            cost: String::new(),
            note: String::new(),
        }
    }

    /// Say how far it goes among those that do the same.
    #[must_use]
    pub(super) fn degree(mut self, degree: u32) -> Self {
        self.degree = degree;
        self
    }

    /// Make it one of many degrees of the same.
    #[must_use]
    pub(super) fn rung(mut self) -> Self {
        self.asked = Asked::IfNeeded;
        self
    }

    /// Say what it costs in each step besides.
    #[must_use]
    pub(super) fn price(mut self, more: Price) -> Self {
        self.price = self.price.and(more);
        self
    }

    /// Say that the work which it costs is only the most that it may be.
    #[must_use]
    pub(super) fn unknown_work(mut self) -> Self {
        self.price.is_work_known = false;
        self
    }

    /// Say what to write.
    #[must_use]
    pub(super) fn code(mut self, code: impl Into<String>) -> Self {
        self.code = code.into();
        let is_written = |line: &&str| !line.trim_start().starts_with('#');
        self.price.lines = self.code.lines().filter(is_written).count() as u32;
        self
    }

    /// Say what it costs.
    #[must_use]
    pub(super) fn cost(mut self, cost: impl Into<String>) -> Self {
        self.cost = cost.into();
        self
    }

    /// Say what else there is to know.
    #[must_use]
    pub(super) fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }

    /// State no error: here, other things than in validation decide.
    #[must_use]
    pub(super) fn without_error(mut self) -> Self {
        self.error = None;
        self
    }

    /// State the error that was measured of another remedy, which does about the same.
    #[must_use]
    pub(super) fn error_of(mut self, id: &str) -> Self {
        self.error = errors::measured(id);
        self
    }

    /// State the error that was measured where blocks are unlike.
    #[must_use]
    pub(super) fn of_unlike_blocks(mut self) -> Self {
        self.error = errors::of_unlike_blocks(&self.id);
        self
    }

    /// Say whether it has a condition that the recording does not tell.
    #[must_use]
    pub(super) fn conditional(mut self, is_conditional: bool) -> Self {
        self.is_conditional = is_conditional;
        self
    }

    /// Mark it as a bound.
    #[must_use]
    pub(super) fn bound(mut self) -> Self {
        self.is_bound = true;
        self
    }

    /// Say whether it rests on inferred categories.
    #[must_use]
    pub(super) fn inferred(mut self, is_inferred: bool) -> Self {
        self.is_inferred = is_inferred;
        self
    }
}

/// Several offers that are tried at once, in the order of the registry.
pub(super) type Combination<'o, 'a> = Vec<&'o Offer<'a>>;

/// The error of several offers at once; `None` if that of one was not measured.
pub(super) fn error(combination: &[&Offer<'_>]) -> Option<f64> {
    combination.iter().map(|offer| offer.error).sum()
}

/// Whether one of several offers has a condition that the recording does not tell.
pub(super) fn is_conditional(combination: &[&Offer<'_>]) -> bool {
    combination.iter().any(|offer| offer.is_conditional)
}

/// What several offers cost.
pub(super) fn price(combination: &[&Offer<'_>]) -> Price {
    combination.iter().fold(Price::default(), |sum, offer| sum.and(offer.price))
}

/// The highest effort of several offers.
pub(super) fn effort(combination: &[&Offer<'_>]) -> Effort {
    combination.iter().map(|offer| offer.effort).max().unwrap_or(Effort::Argument)
}

/// How far several offers go.
pub(super) fn degree(combination: &[&Offer<'_>]) -> u32 {
    combination.iter().map(|offer| offer.degree).fold(0, u32::saturating_add)
}
