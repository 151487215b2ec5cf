//! How surely a category is known.

/// The kind of evidence that a category rests on, surest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Basis {
    /// The user, the program or the recording declares it.
    Declared,
    /// A frame of the stack, or the pool, shows it.
    Seen,
    /// The events around the allocation show it: when it was freed, and by what.
    Followed,
    /// Sizes, counts, order or addresses suggest it.
    Inferred,
    /// No evidence was found.
    Unknown,
}

impl Basis {
    /// All kinds, surest first.
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

    /// Its meaning in a few words, for people.
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
