//! How far answers about a recording reach.

use oomscope_model::Timeline;

/// How far answers about a recording reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// To the end of the recording.
    End,
    /// To a request that failed. What the program would have done if it were met was not recorded.
    FailedRequest,
    /// To the end of the step in which a request failed: what follows is projected, that request included.
    Step,
    /// To the end of the call of a model in which a request failed, an evaluation's batch or a generation's token.
    Call,
}

impl Until {
    /// How far a recording reaches.
    pub fn of(timeline: &Timeline) -> Self {
        if timeline.ooms.is_empty() { Self::End } else { Self::FailedRequest }
    }

    /// Its word in output.
    pub fn key(self) -> &'static str {
        match self {
            Self::End => "end",
            Self::FailedRequest => "failed_request",
            Self::Step => "step",
            Self::Call => "call",
        }
    }
}
