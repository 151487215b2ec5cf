//! How surely a category is known.

/// What a category rests on, surest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Basis {
    /// The user, the program or the recording says so.
    Declared,
    /// A frame of its stack, or its pool, says so.
    Seen,
    /// The events around it say so: what gave it back, and when.
    Followed,
    /// Sizes, numbers, order or places suggest it.
    Inferred,
    /// Nothing tells.
    Unknown,
}

impl Basis {
    /// All of them, surest first.
    pub const ALL: [Self; 5] = [Self::Declared, Self::Seen, Self::Followed, Self::Inferred, Self::Unknown];

    /// The word that stands for it in output and in filters.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Declared => "declared",
            Self::Seen => "seen",
            Self::Followed => "followed",
            Self::Inferred => "inferred",
            Self::Unknown => "unknown",
        }
    }

    /// What it means, in a few words.
    pub const fn explains(self) -> &'static str {
        match self {
            Self::Declared => "you, the program or the recording say so",
            Self::Seen => "a frame of its stack, or its pool, says so",
            Self::Followed => "the events around it say so",
            Self::Inferred => "sizes, numbers, order or places suggest it",
            Self::Unknown => "nothing tells",
        }
    }

    /// The basis with that key.
    pub fn from_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|basis| basis.key().eq_ignore_ascii_case(key))
    }
}
