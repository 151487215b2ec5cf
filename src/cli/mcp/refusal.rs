//! Refusals: why a call has no answer, as JSON that a client can tell apart.

use super::answer::bounded;
use crate::cli::failure::Failure;
use serde_json::{Value, json};
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why a call has no answer.
#[derive(Debug, Error)]
pub(super) enum Refusal {
    /// A path that is in none of the allowed folders, or leads out of them.
    #[error("{path} is not in a folder that may be read")]
    Outside {
        path: String,
        /// The folders.
        allowed: Vec<PathBuf>,
    },
    /// A path in an allowed folder that has no such file.
    #[error("{path} {why}")]
    Missing { path: String, why: String, allowed: Vec<PathBuf> },
    /// Arguments that the tool does not take.
    #[error("{0}")]
    Arguments(String),
    /// The query has no answer: the file cannot be loaded, or lacks what is asked for.
    #[error("{message}")]
    Query { message: String, hint: String },
    /// The client cancelled the request.
    #[error("the request was cancelled")]
    Cancelled,
    /// A defect of oomscope.
    #[error("internal error: {0}")]
    Internal(String),
}

impl Refusal {
    /// What a client can tell them apart by. docs/mcp.md lists them.
    fn key(&self) -> &'static str {
        match self {
            Self::Outside { .. } => "outside",
            Self::Missing { .. } => "missing",
            Self::Arguments(_) => "arguments",
            Self::Query { .. } => "query",
            Self::Cancelled => "cancelled",
            Self::Internal(_) => "internal",
        }
    }

    /// As JSON. Paths that a client sent come back printable.
    pub(super) fn json(&self) -> Value {
        let mut out = json!({ "error": self.key(), "message": bounded(&self.to_string()) });
        match self {
            Self::Outside { allowed, .. } | Self::Missing { allowed, .. } => {
                let names = allowed.iter().map(|folder| folder.display().to_string());
                out["allowed"] = names.collect();
                out["hint"] = "the tool list names the snapshots in the allowed folders".into();
            }
            Self::Query { hint, .. } => out["hint"] = bounded(hint).into(),
            Self::Arguments(_) | Self::Cancelled | Self::Internal(_) => {}
        }
        out
    }
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::from(Failure::from(error))
    }
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Message { message, hint } => Self::Query { message, hint },
            Failure::Silent(_) => Self::Internal("the answer ended early".to_owned()),
        }
    }
}
