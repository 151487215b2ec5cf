//! Words for the evidence of a verdict.

use oomscope_analysis::{Because, Blocks, frame_line, site_frame};
use oomscope_model::{Allocation, PoolKey, Recording};
use oomscope_units as units;

/// The evidence of a rule for its verdict on an allocation, in a few words.
pub fn because_text(recording: &Recording, allocation: &Allocation, because: Because) -> String {
    match because {
        Because::Size(size) if allocation.alloc_event().is_none() => {
            format!("{}, older than the recording", units::bytes(size))
        }
        Because::Size(size) => units::bytes(size),
        Because::Label => "as labelled".to_owned(),
        Because::Frame(frame) => frame_line(&site_frame(recording.snapshot(), frame)),
        Because::NoStack => "no stack was recorded".to_owned(),
        Because::GivenBack(event) => format!("given back at event {}", event.0),
        Because::Kept => "not given back within the recording".to_owned(),
        Because::Blocks(size, Blocks { alike, known, known_as }) => format!(
            "{} of {}; {} of that size {} {}",
            units::counted(alike, "block"),
            units::bytes(size),
            units::count(known as u64),
            if known == 1 { "is" } else { "are" },
            known_as.label(),
        ),
        Because::TookThePlaceOf(other) => {
            let other = recording.allocation(other);
            format!("took the place of {}", allocation_name(&other))
        }
        Because::NamedLater(later) => {
            let later = recording.allocation(later);
            format!("as {}, which the program named", allocation_name(&later))
        }
        Because::Pool => match allocation.pool {
            Some(PoolKey(a, b)) => format!("private pool {a}.{b}"),
            None => "a private pool".to_owned(),
        },
    }
}

/// The name of an allocation, as `explain` takes it: `0x7f21ac000000@41220`, or `@-1` where it is older than the recording.
pub fn allocation_name(allocation: &Allocation) -> String {
    let event = allocation.alloc_event().map_or_else(|| "-1".to_owned(), |event| event.0.to_string());
    format!("{}@{event}", units::address(allocation.addr))
}
