//! The keys that torch writes, and which record each belongs to.
//!
//! Source: `torch/csrc/cuda/memory_snapshot.cpp` and `torch/cuda/memory.py`, torch 1.12 to 2.15. `source_code` and `shape_data` are not
//! torch's: torch-snapkit adds them, a dict of the program's files by their paths, and tensors by their addresses.

/// Declares the keys with their numbers and spellings.
macro_rules! keys {
    ($($name:ident = $text:literal,)*) => {
        /// A key that is understood somewhere.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        pub(super) enum Key { $($name,)* }

        impl Key {
            const ALL: &'static [(Self, &'static str)] = &[$((Self::$name, $text),)*];
        }
    };
}

keys! {
    Action = "action",
    Addr = "addr",
    Size = "size",
    Stream = "stream",
    TimeUs = "time_us",
    Frames = "frames",
    PoolId = "pool_id",
    UserMetadata = "user_metadata",
    InternalMetadata = "internal_metadata",
    CompileContext = "compile_context",
    Category = "category",
    ForwardFrames = "forward_frames",
    DeviceFree = "device_free",
    Name = "name",
    Filename = "filename",
    Line = "line",
    FxNodeOp = "fx_node_op",
    FxNodeName = "fx_node_name",
    FxNodeTarget = "fx_node_target",
    FxOriginalTrace = "fx_original_trace",
    Address = "address",
    RequestedSize = "requested_size",
    State = "state",
    History = "history",
    RealSize = "real_size",
    Device = "device",
    TotalSize = "total_size",
    AllocatedSize = "allocated_size",
    ActiveSize = "active_size",
    SegmentType = "segment_type",
    SegmentPoolId = "segment_pool_id",
    IsExpandable = "is_expandable",
    Blocks = "blocks",
    Stage = "stage",
    Segments = "segments",
    DeviceTraces = "device_traces",
    AllocatorSettings = "allocator_settings",
    ExternalAnnotations = "external_annotations",
    HostSegments = "host_segments",
    HostTraces = "host_traces",
    SourceCode = "source_code",
    Oomscope = "oomscope",
    ShapeData = "shape_data",
}

impl Key {
    /// The key with this spelling.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| known.as_bytes() == text).map(|&(key, _)| key)
    }

    /// The key as torch spells it.
    pub(super) fn text(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    /// The key of a number.
    pub(super) fn from_index(index: usize) -> Self {
        Self::ALL[index].0
    }

    /// Whether a dict with this key is the snapshot itself.
    pub(super) fn is_of_snapshot(self) -> bool {
        matches!(self, Self::Segments | Self::DeviceTraces | Self::HostSegments | Self::HostTraces)
    }

    /// Number of keys.
    pub(super) const COUNT: usize = Self::ALL.len();
}

/// A set of keys: one bit for each.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct KeySet(u64);

const _: () = assert!(Key::COUNT <= u64::BITS as usize, "a key has no bit in a KeySet");

impl KeySet {
    pub(super) const fn of(keys: &[Key]) -> Self {
        let mut bits = 0;
        let mut i = 0;
        while i < keys.len() {
            bits |= 1 << keys[i] as u8;
            i += 1;
        }
        Self(bits)
    }

    #[inline]
    pub(super) fn insert(&mut self, key: Key) {
        self.0 |= 1 << key as u8;
    }

    #[inline]
    pub(super) fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The keys that are not in `other`.
    pub(super) fn without(self, other: Self) -> impl Iterator<Item = Key> {
        let bits = self.0 & !other.0;
        (0..Key::COUNT).filter(move |i| bits & (1 << i) != 0).map(Key::from_index)
    }
}

/// The kind of a record, which the keys of its dict decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum RecordKind {
    Event,
    Frame,
    Block,
    Segment,
    History,
    Annotation,
}

impl RecordKind {
    const ALL: [Self; 6] =
        [Self::Event, Self::Frame, Self::Block, Self::Segment, Self::History, Self::Annotation];

    /// The kind of a dict with these keys; `None` if it is none of them.
    #[inline]
    pub(super) fn of(keys: KeySet) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| keys.contains(kind.required()))
    }

    /// The record's name in reports.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Event => "event",
            Self::Frame => "frame",
            Self::Block => "block",
            Self::Segment => "segment",
            Self::History => "block history",
            Self::Annotation => "annotation",
        }
    }

    /// Keys without which a dict is not this record.
    fn required(self) -> KeySet {
        const EVENT: KeySet = KeySet::of(&[Key::Action]);
        const FRAME: KeySet = KeySet::of(&[Key::Filename, Key::Line]);
        const BLOCK: KeySet = KeySet::of(&[Key::State, Key::Size]);
        const SEGMENT: KeySet = KeySet::of(&[Key::Blocks, Key::TotalSize]);
        const HISTORY: KeySet = KeySet::of(&[Key::RealSize]);
        const ANNOTATION: KeySet = KeySet::of(&[Key::Stage, Key::Name]);
        match self {
            Self::Event => EVENT,
            Self::Frame => FRAME,
            Self::Block => BLOCK,
            Self::Segment => SEGMENT,
            Self::History => HISTORY,
            Self::Annotation => ANNOTATION,
        }
    }

    /// Keys that are understood in this record.
    #[inline]
    pub(super) fn known(self) -> KeySet {
        const EVENT: KeySet = KeySet::of(&[
            Key::Action,
            Key::Addr,
            Key::Size,
            Key::Stream,
            Key::TimeUs,
            Key::Frames,
            Key::PoolId,
            Key::UserMetadata,
            Key::InternalMetadata,
            Key::CompileContext,
            Key::Category,
            Key::ForwardFrames,
            Key::DeviceFree,
        ]);
        const FRAME: KeySet = KeySet::of(&[
            Key::Name,
            Key::Filename,
            Key::Line,
            Key::FxNodeOp,
            Key::FxNodeName,
            Key::FxNodeTarget,
            Key::FxOriginalTrace,
        ]);
        const BLOCK: KeySet =
            KeySet::of(&[Key::Address, Key::Size, Key::RequestedSize, Key::State, Key::Frames, Key::History]);
        const SEGMENT: KeySet = KeySet::of(&[
            Key::Device,
            Key::Address,
            Key::TotalSize,
            Key::AllocatedSize,
            Key::ActiveSize,
            Key::RequestedSize,
            Key::Stream,
            Key::SegmentType,
            Key::SegmentPoolId,
            Key::IsExpandable,
            Key::Frames,
            Key::Blocks,
        ]);
        const HISTORY: KeySet = KeySet::of(&[Key::Addr, Key::RealSize, Key::Frames]);
        const ANNOTATION: KeySet = KeySet::of(&[Key::Stage, Key::Name, Key::Device, Key::TimeUs]);
        match self {
            Self::Event => EVENT,
            Self::Frame => FRAME,
            Self::Block => BLOCK,
            Self::Segment => SEGMENT,
            Self::History => HISTORY,
            Self::Annotation => ANNOTATION,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_found_by_its_spelling_and_number() {
        for i in 0..Key::COUNT {
            let key = Key::from_index(i);
            assert_eq!(Key::parse(key.text().as_bytes()), Some(key));
            assert_eq!(key as usize, i);
        }
        assert_eq!(Key::parse(b"adr"), None);
    }

    #[test]
    fn records_differ_in_their_keys() {
        for kind in RecordKind::ALL {
            assert_eq!(RecordKind::of(kind.known()), Some(kind));
            assert!(kind.known().contains(kind.required()));
        }
        assert_eq!(RecordKind::of(KeySet::of(&[Key::Segments, Key::DeviceTraces])), None);
    }
}
