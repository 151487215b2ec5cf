//! The values on the machine's stack: scalars, and handles to what the sink keeps.

/// The sink's name for a string or container that it was given. Below [`Handle::LIMIT`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Handle(pub u32);

/// Bits of a handle where it is packed with its kind, which takes the other three of 32.
const HANDLE_BITS: u32 = 29;

impl Handle {
    /// One more than the largest handle: the memo packs a handle and its kind into 32 bits.
    pub const LIMIT: u32 = 1 << HANDLE_BITS;
}

/// The type of the object that a handle stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A `str`.
    Str,
    /// A `bytes` or `bytearray`.
    Bytes,
    /// A `list`.
    List,
    /// A `dict`.
    Dict,
    /// A `tuple`.
    Tuple,
    /// A `set` or `frozenset`.
    Set,
}

/// The tag of a [`Value`]: its type. The kinds of handles come first, in the order of [`Kind`], so that comparing and
/// packing them needs no table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Tag {
    Str,
    Bytes,
    List,
    Dict,
    Tuple,
    Set,
    None,
    Bool,
    Int,
    Uint,
    BigInt,
    Float,
    Later,
}

const _: () = assert!(Tag::Str as u8 == Kind::Str as u8 && Tag::Set as u8 == Kind::Set as u8);

/// One value of the pickle.
///
/// It is two machine words, which stay in registers; [`View`] shows what they mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Value {
    tag: Tag,
    bits: u64,
}

/// The meaning of a [`Value`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum View {
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
    /// A string or container that the sink keeps.
    Ref(Kind, Handle),
    /// A memo entry that is not known yet, in a piece that is decoded on its own.
    Later(u32),
}

impl Value {
    /// `None`.
    pub const NONE: Self = Self { tag: Tag::None, bits: 0 };

    /// An int beyond 64 bits.
    pub(super) const BIG_INT: Self = Self { tag: Tag::BigInt, bits: 0 };

    /// A bool.
    pub fn bool(value: bool) -> Self {
        Self { tag: Tag::Bool, bits: u64::from(value) }
    }

    /// An int.
    #[inline]
    pub fn int(value: i64) -> Self {
        Self { tag: Tag::Int, bits: value.cast_unsigned() }
    }

    /// An int from 2^63 on.
    pub fn uint(value: u64) -> Self {
        Self { tag: Tag::Uint, bits: value }
    }

    /// A float.
    pub fn float(value: f64) -> Self {
        Self { tag: Tag::Float, bits: value.to_bits() }
    }

    /// A memo entry of the pickle that is not known yet.
    pub(super) fn later(index: u32) -> Self {
        Self { tag: Tag::Later, bits: u64::from(index) }
    }

    /// A string or container.
    #[inline]
    pub fn reference(kind: Kind, handle: Handle) -> Self {
        let tag = match kind {
            Kind::Str => Tag::Str,
            Kind::Bytes => Tag::Bytes,
            Kind::List => Tag::List,
            Kind::Dict => Tag::Dict,
            Kind::Tuple => Tag::Tuple,
            Kind::Set => Tag::Set,
        };
        Self { tag, bits: u64::from(handle.0) }
    }

    /// Its meaning.
    #[inline]
    pub fn view(self) -> View {
        let reference = |kind| View::Ref(kind, Handle(self.bits as u32));
        match self.tag {
            Tag::Str => reference(Kind::Str),
            Tag::Bytes => reference(Kind::Bytes),
            Tag::List => reference(Kind::List),
            Tag::Dict => reference(Kind::Dict),
            Tag::Tuple => reference(Kind::Tuple),
            Tag::Set => reference(Kind::Set),
            Tag::None => View::None,
            Tag::Bool => View::Bool(self.bits != 0),
            Tag::Int => View::Int(self.bits.cast_signed()),
            Tag::Uint => View::Uint(self.bits),
            Tag::BigInt => View::BigInt,
            Tag::Float => View::Float(f64::from_bits(self.bits)),
            Tag::Later => View::Later(self.bits as u32),
        }
    }

    /// The handle, if the value is of this kind.
    #[inline]
    pub fn handle(self, kind: Kind) -> Option<Handle> {
        (self.tag as u8 == kind as u8).then_some(Handle(self.bits as u32))
    }

    /// Kind and handle in 32 bits, for the memo. `None` for scalars.
    #[inline]
    pub(super) fn pack(self) -> Option<u32> {
        let kind = self.tag as u32;
        (kind <= Kind::Set as u32).then_some(kind << HANDLE_BITS | self.bits as u32)
    }

    /// The inverse of [`Self::pack`]; `None` for patterns that it never makes.
    #[inline]
    pub(super) fn unpack(packed: u32) -> Option<Self> {
        const TAGS: [Tag; 6] = [Tag::Str, Tag::Bytes, Tag::List, Tag::Dict, Tag::Tuple, Tag::Set];
        let tag = *TAGS.get((packed >> HANDLE_BITS) as usize)?;
        Some(Self { tag, bits: u64::from(packed & (Handle::LIMIT - 1)) })
    }

    /// The Python type's name, for messages.
    pub fn type_name(self) -> &'static str {
        match self.tag {
            Tag::None => "None",
            Tag::Bool => "a bool",
            Tag::Int | Tag::Uint | Tag::BigInt => "an int",
            Tag::Float => "a float",
            Tag::Str => "a str",
            Tag::Bytes => "bytes",
            Tag::List => "a list",
            Tag::Dict => "a dict",
            Tag::Tuple => "a tuple",
            Tag::Set => "a set",
            Tag::Later => "a memo entry",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_survive_packing_and_scalars_do_not_pack() {
        for kind in [Kind::Str, Kind::Bytes, Kind::List, Kind::Dict, Kind::Tuple, Kind::Set] {
            let value = Value::reference(kind, Handle(Handle::LIMIT - 1));
            assert_eq!(value.view(), View::Ref(kind, Handle(Handle::LIMIT - 1)));
            assert_eq!(value.handle(kind), Some(Handle(Handle::LIMIT - 1)));
            assert_eq!(value.pack().and_then(Value::unpack), Some(value));
        }
        assert_eq!(Value::int(3).pack(), None);
        assert_eq!(Value::int(3).handle(Kind::Str), None);
        assert_eq!(Value::unpack(u32::MAX), None);
    }
}
