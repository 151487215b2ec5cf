//! Errors of decoding, and the byte at which each happened.

use thiserror::Error;

/// A decoding error with the place where it happened.
#[derive(Debug, Error)]
#[error("at byte {offset}: {kind}")]
pub struct DecodeError {
    /// Offset of the opcode that could not be carried out, in bytes of the decompressed pickle.
    pub offset: u64,
    /// The reason.
    pub kind: ErrorKind,
}

/// The kinds of decoding errors.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The input ends before the pickle does.
    #[error("expected the rest of the pickle, found the end of the file")]
    UnexpectedEnd,
    /// The opcode would import or call something.
    #[error("the pickle wants to run code (opcode {0}), which oomscope never does")]
    Forbidden(&'static str),
    /// No pickle protocol defines this byte as an opcode.
    #[error("expected a pickle opcode, found byte 0x{0:02x}")]
    UnknownOpcode(u8),
    /// The pickle was written with a protocol newer than 5.
    #[error("expected pickle protocol 0 to 5, found protocol {0}")]
    Protocol(u8),
    /// An opcode needs more values than the stack holds.
    #[error("opcode {0} found too few values on the stack")]
    StackUnderflow(&'static str),
    /// An opcode needs a MARK and there is none.
    #[error("opcode {0} found no MARK on the stack")]
    NoMark(&'static str),
    /// An opcode was applied to a value of another type.
    #[error("opcode {opcode} expected {expected}, found {found}")]
    WrongType {
        /// The opcode's name.
        opcode: &'static str,
        /// The type that it works on.
        expected: &'static str,
        /// The type on the stack.
        found: &'static str,
    },
    /// A memo entry is read that was never written.
    #[error("memo entry {0} is read before it was written")]
    Memo(u64),
    /// The argument of an opcode does not parse.
    #[error("opcode {0} has a malformed argument")]
    Argument(&'static str),
    /// A string claims to be longer than any that is read. Damage to its length reads like this.
    #[error("expected a string of at most {limit} bytes, found one of {found}")]
    LongString {
        /// The length that the pickle claims, in bytes.
        found: u64,
        /// The longest string that is read, in bytes.
        limit: u64,
    },
    /// The text is not what its format demands, in words.
    #[error("{0}")]
    Syntax(String),
    /// A limit that keeps memory bounded was exceeded.
    #[error("more than {limit} {what} in one pickle")]
    Limit {
        /// The things of which there are too many.
        what: &'static str,
        /// The largest number that is read.
        limit: u64,
    },
    /// The values take more memory than they may: mostly a small compressed file that is made to fill it.
    #[error(
        "expected at most {limit} bytes of memory for {stored} bytes of input, found values that take {found}"
    )]
    Memory {
        /// Bytes that the input took so far where it is stored.
        stored: u64,
        /// The most bytes of memory that it may take.
        limit: u64,
        /// Bytes of memory that the values take.
        found: u64,
    },
    /// The input expands out of proportion: a small compressed file that is made to be decoded without end.
    #[error("expected at most {limit} bytes in {stored} bytes of compressed input, found more")]
    Expansion {
        /// Bytes that the input took so far where it is stored.
        stored: u64,
        /// The most bytes of pickle or JSON that are read of such an input.
        limit: u64,
    },
    /// Reading the input failed.
    #[error("reading failed: {0}")]
    Io(#[from] std::io::Error),
    /// A piece that is decoded on its own needs what lies before it. The decoder of the whole pickle never says this.
    #[error("a piece of the pickle needs what lies before it")]
    NotAlone,
    /// The caller asked to stop.
    #[error("cancelled")]
    Cancelled,
}

impl ErrorKind {
    /// Whether the values before the error may still be used: the input is cut off or damaged, and not hostile,
    /// unsupported or abandoned.
    pub fn is_damage(&self) -> bool {
        !matches!(
            self,
            Self::Forbidden(_)
                | Self::Protocol(_)
                | Self::Limit { .. }
                | Self::Memory { .. }
                | Self::Expansion { .. }
                | Self::NotAlone
                | Self::Cancelled
        )
    }
}
