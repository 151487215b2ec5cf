//! The keys that torch writes, and which record each belongs to.
//!
//! Source: `torch/csrc/cuda/memory_snapshot.cpp` and `torch/cuda/memory.py`, torch 1.12 to 2.15. `source_code` and `shape_data` are not
//! torch's: torch-snapkit adds them, a dict of the program's files by their paths, and tensors by their addresses.

/// Declares the keys: their spellings, the records that cannot be without them, those that may have them, and those that
/// have them in few recordings.
macro_rules! keys {
    ($($name:ident $text:literal [$($required:ident)*] [$($optional:ident)*] [$($rare:ident)*];)*) => {
        /// A key that is understood somewhere.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        pub(super) enum Key { $($name,)* }

        impl Key {
            const ALL: &'static [KeyRow] = &[$(KeyRow {
                key: Self::$name,
                text: $text,
                required: &[$(RecordKind::$required,)*],
                optional: &[$(RecordKind::$optional,)*],
                rare: &[$(RecordKind::$rare,)*],
            },)*];
        }
    };
}

/// All that is said of a key.
struct KeyRow {
    key: Key,
    text: &'static str,
    required: &'static [RecordKind],
    optional: &'static [RecordKind],
    rare: &'static [RecordKind],
}

keys! {
    Action              "action"               [Event] [] [];
    Addr                "addr"                 [] [Event History] [];
    Size                "size"                 [Block] [Event] [];
    Stream              "stream"               [] [Event Segment] [];
    TimeUs              "time_us"              [] [Event Annotation] [];
    Frames              "frames"               [] [Event Block Segment History] [];
    PoolId              "pool_id"              [] [Event] [];
    UserMetadata        "user_metadata"        [] [] [Event];
    InternalMetadata    "internal_metadata"    [] [] [Event];
    CompileContext      "compile_context"      [] [] [Event];
    Category            "category"             [] [] [Event];
    ForwardFrames       "forward_frames"       [] [] [Event];
    DeviceFree          "device_free"          [] [] [Event];
    Name                "name"                 [Annotation] [Frame] [];
    Filename            "filename"             [Frame] [] [];
    Line                "line"                 [Frame] [] [];
    FxNodeOp            "fx_node_op"           [] [Frame] [];
    FxNodeName          "fx_node_name"         [] [Frame] [];
    FxNodeTarget        "fx_node_target"       [] [Frame] [];
    FxOriginalTrace     "fx_original_trace"    [] [Frame] [];
    Address             "address"              [] [Block Segment] [];
    RequestedSize       "requested_size"       [] [Block Segment] [];
    State               "state"                [Block] [] [];
    History             "history"              [] [Block] [];
    RealSize            "real_size"            [History] [] [];
    Device              "device"               [] [Segment Annotation] [];
    TotalSize           "total_size"           [Segment] [] [];
    AllocatedSize       "allocated_size"       [] [Segment] [];
    ActiveSize          "active_size"          [] [Segment] [];
    SegmentType         "segment_type"         [] [Segment] [];
    SegmentPoolId       "segment_pool_id"      [] [Segment] [];
    IsExpandable        "is_expandable"        [] [Segment] [];
    Blocks              "blocks"               [Segment] [] [];
    Stage               "stage"                [Annotation] [] [];
    Segments            "segments"             [] [] [];
    DeviceTraces        "device_traces"        [] [] [];
    AllocatorSettings   "allocator_settings"   [] [] [];
    ExternalAnnotations "external_annotations" [] [] [];
    HostSegments        "host_segments"        [] [] [];
    HostTraces          "host_traces"          [] [] [];
    SourceCode          "source_code"          [] [] [];
    Oomscope            "oomscope"             [] [] [];
    ShapeData           "shape_data"           [] [] [];
}

impl Key {
    /// The key with this spelling.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        Self::ALL.iter().find(|row| row.text.as_bytes() == text).map(|row| row.key)
    }

    /// The key as torch spells it.
    pub(super) fn text(self) -> &'static str {
        Self::ALL[self as usize].text
    }

    /// The key of a number.
    pub(super) fn from_index(index: usize) -> Self {
        Self::ALL[index].key
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
    /// Keys that few recordings have.
    pub(super) const LABELS: Self = {
        let (mut keys, mut i) = (Self(0), 0);
        while i < Key::COUNT {
            keys.0 |= (!Key::ALL[i].rare.is_empty() as u64) << i;
            i += 1;
        }
        keys
    };

    /// Keys that a record has to have or, unless `only_required`, may have.
    const fn of(kind: RecordKind, only_required: bool) -> Self {
        const fn has(kinds: &[RecordKind], kind: RecordKind) -> bool {
            let mut i = 0;
            while i < kinds.len() && kinds[i] as u8 != kind as u8 {
                i += 1;
            }
            i < kinds.len()
        }
        let (mut keys, mut i) = (Self(0), 0);
        while i < Key::COUNT {
            let row = &Key::ALL[i];
            let may_be = has(row.optional, kind) || has(row.rare, kind);
            let is_in = has(row.required, kind) || !only_required && may_be;
            keys.0 |= (is_in as u64) << i;
            i += 1;
        }
        keys
    }

    const fn of_all(only_required: bool) -> [Self; RecordKind::ALL.len()] {
        let (mut all, mut i) = ([Self(0); RecordKind::ALL.len()], 0);
        while i < all.len() {
            all[i] = Self::of(RecordKind::ALL[i], only_required);
            i += 1;
        }
        all
    }

    #[inline]
    pub(super) fn insert(&mut self, key: Key) {
        self.0 |= 1 << key as u8;
    }

    #[inline]
    pub(super) fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    pub(super) fn has_any(self, other: Self) -> bool {
        self.0 & other.0 != 0
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
    #[inline]
    fn required(self) -> KeySet {
        const REQUIRED: [KeySet; RecordKind::ALL.len()] = KeySet::of_all(true);
        REQUIRED[self as usize]
    }

    /// Keys that are understood in this record.
    #[inline]
    pub(super) fn known(self) -> KeySet {
        const KNOWN: [KeySet; RecordKind::ALL.len()] = KeySet::of_all(false);
        KNOWN[self as usize]
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
        let mut of_snapshot = KeySet::default();
        of_snapshot.insert(Key::Segments);
        of_snapshot.insert(Key::DeviceTraces);
        assert_eq!(RecordKind::of(of_snapshot), None);
    }
}
