//! The values on the machine's stack: scalars, and handles to what the sink keeps.

/// The sink's name for a string or container that it was given. Below [`Handle::LIMIT`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Handle(pub u32);

impl Handle {
    /// One more than the largest handle: the memo packs a handle and its kind into 32 bits.
    pub const LIMIT: u32 = 1 << 29;
}

/// One value of the pickle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// `None`.
    None,
    /// `True` or `False`.
    Bool(bool),
    /// An int that fits in 64 bits with sign.
    Int(i64),
    /// An int from 2^63 up to 2^64 - 1: addresses occur there.
    Uint(u64),
    /// An int that fits in neither.
    BigInt,
    /// A float.
    Float(f64),
    /// A `str`.
    Str(Handle),
    /// A `bytes` or `bytearray`.
    Bytes(Handle),
    /// A `list`.
    List(Handle),
    /// A `dict`.
    Dict(Handle),
    /// A `tuple`.
    Tuple(Handle),
    /// A `set` or `frozenset`.
    Set(Handle),
}

impl Value {
    /// The Python type's name, for messages.
    pub fn type_name(self) -> &'static str {
        match self {
            Self::None => "None",
            Self::Bool(_) => "a bool",
            Self::Int(_) | Self::Uint(_) | Self::BigInt => "an int",
            Self::Float(_) => "a float",
            Self::Str(_) => "a str",
            Self::Bytes(_) => "bytes",
            Self::List(_) => "a list",
            Self::Dict(_) => "a dict",
            Self::Tuple(_) => "a tuple",
            Self::Set(_) => "a set",
        }
    }
}
