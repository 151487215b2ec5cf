//! Enums whose values have words: one row each.

/// An enum with a row for each value: its name in output, filters and rules, and words for people. The first line names the
/// enum and the function that gives these words.
macro_rules! worded {
    (
        $(#[$of:meta])* $name:ident
        $(#[$words_of:meta])* $words:ident
        $($(#[$meaning:meta])* $value:ident $key:literal $text:literal;)*
    ) => {
        $(#[$of])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name {
            $($(#[$meaning])* $value,)*
        }

        impl $name {
            /// All values, in the order in which they are listed.
            pub const ALL: [Self; [$(Self::$value),*].len()] = [$(Self::$value),*];

            /// Its name in output, filters and rules.
            pub const fn key(self) -> &'static str {
                match self {
                    $(Self::$value => $key,)*
                }
            }

            $(#[$words_of])*
            pub const fn $words(self) -> &'static str {
                match self {
                    $(Self::$value => $text,)*
                }
            }
        }
    };
}

pub(super) use worded;
