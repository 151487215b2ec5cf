//! A question that was asked for a verdict, with its answer.

use super::sentence::Sentence;

/// A question, the figures that its answer rests on, and the answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    /// The question in words.
    pub asks: &'static str,
    /// The figures, in words.
    pub figures: Sentence,
    /// The answer.
    pub is_yes: bool,
}
