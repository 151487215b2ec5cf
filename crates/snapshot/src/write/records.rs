//! The records of a snapshot, in the order of torch's keys.

use super::census::census_text;
use super::output::Output;
use super::part::{DevicePart, SnapshotPart, TextKind};
use crate::census::CENSUS;
use crate::keys::Key;
use oomscope_model::{
    Annotation, Block, BlockState, Bytes, ESTIMATE_KEY, Event, EventIx, PoolKey, Segment, Setting,
    SettingValue, StackId, StrId,
};
use std::collections::BTreeMap;
use std::io::{self, Write};

impl<W: Write> Output<'_, W> {
    /// The whole snapshot.
    pub(super) fn snapshot(&mut self) -> io::Result<()> {
        let part = self.part;
        let has_host = part.devices.iter().any(DevicePart::is_host);
        self.dict(|out| {
            out.key(Key::Segments)?;
            out.segments(false)?;
            out.key(Key::DeviceTraces)?;
            out.device_traces()?;
            if has_host {
                out.key(Key::HostSegments)?;
                out.segments(true)?;
                out.key(Key::HostTraces)?;
                // Unlike those of devices, its events are one list.
                part.devices
                    .iter()
                    .find(|device| device.is_host())
                    .map_or(Ok(()), |host| out.trace_of(host))?;
            }
            if !part.snapshot.settings.is_empty() {
                out.key(Key::AllocatorSettings)?;
                out.settings(&part.snapshot.settings)?;
            }
            out.sources()?;
            out.tensors()?;
            if !part.annotations.is_empty() {
                out.key(Key::ExternalAnnotations)?;
                out.list(&part.annotations, Self::annotation)?;
            }
            out.recorder()
        })
    }

    /// The recorder's own key.
    fn recorder(&mut self) -> io::Result<()> {
        let SnapshotPart { snapshot, recorder, rewrite, .. } = self.part;
        let census = (recorder.census && !snapshot.census.tensors().is_empty())
            .then(|| census_text(&snapshot.census, &**rewrite));
        // Of a part, too, nobody may think that a device recorded it.
        let is_kept = |fact: &&Setting| recorder.facts || fact.name == ESTIMATE_KEY;
        let facts: Vec<&Setting> = snapshot.recorder.iter().filter(is_kept).collect();
        if census.is_none() && facts.is_empty() {
            return Ok(());
        }
        self.key(Key::Oomscope)?;
        self.pickle.empty_dict()?;
        self.pickle.mark()?;
        self.entries(facts)?;
        if let Some(census) = census {
            self.text(CENSUS.as_bytes())?;
            self.text(census.as_bytes())?;
        }
        self.pickle.set_items()
    }

    /// One list for each device by its number, also where nothing was recorded.
    fn device_traces(&mut self) -> io::Result<()> {
        let number = |device: &DevicePart<'_>| usize::try_from(device.timeline.device.0).ok();
        let with_events = self.part.devices.iter().filter(|device| !device.events.is_empty());
        let by_number: BTreeMap<usize, &DevicePart<'_>> =
            with_events.filter_map(|device| Some((number(device)?, device))).collect();
        let count = by_number.keys().next_back().map_or(0, |last| last + 1);
        self.list(0..count, |out, at| match by_number.get(&at) {
            Some(device) => out.trace_of(device),
            None => out.pickle.empty_list(),
        })
    }

    fn trace_of(&mut self, device: &DevicePart<'_>) -> io::Result<()> {
        self.list(device.events.events(), |out, event: EventIx| out.event(&device.timeline.events.get(event)))
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        let snapshot = self.part.snapshot;
        // Whatever is added has to be written here.
        let &Event {
            action,
            addr,
            size,
            time_us,
            stream,
            stack,
            pool,
            compile_context,
            user_metadata,
            internal_metadata,
            category,
            forward_stack,
            device_free,
        } = event;
        self.dict(|out| {
            out.key(Key::Action)?;
            match snapshot.actions.other(action) {
                // Of a version that is not known yet, it may be anything.
                Some(name) => out.recorded(TextKind::Function, name)?,
                None => out.text(snapshot.actions.name(action, &snapshot.strings).as_bytes())?,
            }
            out.address_field(Key::Addr, addr)?;
            out.int_field(Key::DeviceFree, device_free)?;
            out.int_field(Key::Size, Some(size))?;
            out.int_field(Key::Stream, stream)?;
            out.int_field(Key::TimeUs, time_us)?;
            out.text_field(Key::CompileContext, TextKind::CompileContext, compile_context)?;
            out.text_field(Key::UserMetadata, TextKind::Metadata, user_metadata)?;
            out.text_field(Key::InternalMetadata, TextKind::Metadata, internal_metadata)?;
            out.pool_field(Key::PoolId, pool)?;
            out.text_field(Key::Category, TextKind::Category, category)?;
            if forward_stack != StackId::EMPTY {
                out.key(Key::ForwardFrames)?;
                out.trace(forward_stack)?;
            }
            out.key(Key::Frames)?;
            out.stack(stack)
        })
    }

    fn pool_field(&mut self, key: Key, pool: Option<PoolKey>) -> io::Result<()> {
        let Some(PoolKey(first, second)) = pool else { return Ok(()) };
        self.key(key)?;
        self.pickle.int(first)?;
        self.pickle.int(second)?;
        self.pickle.pair()
    }

    fn segments(&mut self, of_host: bool) -> io::Result<()> {
        let devices = self.part.devices.iter().filter(move |device| device.is_host() == of_host);
        let segments = devices.flat_map(|device| device.segments.segments.iter().map(move |s| (device, s)));
        self.list(segments, |out, (device, segment)| out.segment(segment, device.segments.blocks_of(segment)))
    }

    fn segment(&mut self, segment: &Segment, blocks: &[Block]) -> io::Result<()> {
        let sum = |counts: fn(&Block) -> bool, bytes: fn(&Block) -> Bytes| {
            let counted = blocks.iter().filter(|block| counts(block));
            Some(counted.map(bytes).sum::<Bytes>())
        };
        let is_allocated = |block: &Block| block.state == BlockState::Allocated;
        self.dict(|out| {
            out.int_field(Key::Device, Some(segment.device.0))?;
            out.address_field(Key::Address, Some(segment.addr))?;
            out.int_field(Key::TotalSize, Some(segment.size))?;
            out.int_field(Key::AllocatedSize, sum(is_allocated, |block| block.size))?;
            out.int_field(Key::ActiveSize, sum(Block::is_active, |block| block.size))?;
            out.int_field(Key::RequestedSize, sum(Block::is_active, |block| block.requested))?;
            out.int_field(Key::Stream, segment.stream)?;
            out.text_field(Key::SegmentType, TextKind::SegmentType, segment.kind)?;
            out.pool_field(Key::SegmentPoolId, segment.pool)?;
            out.key(Key::IsExpandable)?;
            out.pickle.bool(segment.is_expandable)?;
            out.key(Key::Frames)?;
            out.stack(segment.stack)?;
            out.key(Key::Blocks)?;
            out.list(blocks, Self::block)
        })
    }

    fn block(&mut self, block: &Block) -> io::Result<()> {
        let state: &[u8] = match block.state {
            BlockState::Allocated => b"active_allocated",
            BlockState::AwaitingFree => b"active_pending_free",
            BlockState::Inactive => b"inactive",
        };
        self.dict(|out| {
            out.address_field(Key::Address, Some(block.addr))?;
            out.int_field(Key::Size, Some(block.size))?;
            out.int_field(Key::RequestedSize, Some(block.requested))?;
            out.key(Key::State)?;
            out.text(state)?;
            out.key(Key::Frames)?;
            out.stack(block.stack)
        })
    }

    /// The program's files, as far as their texts are written.
    fn sources(&mut self) -> io::Result<()> {
        let files = self.part.snapshot.sources.files().iter();
        let written: Vec<(StrId, StrId)> = files
            .filter_map(|&(path, source)| {
                let path = self.rewritten(TextKind::File, path)?;
                Some((path, self.rewritten(TextKind::Source, source)?))
            })
            .collect();
        if written.is_empty() {
            return Ok(());
        }
        self.key(Key::SourceCode)?;
        self.pickle.empty_dict()?;
        for (path, source) in written {
            self.pickle.mark()?;
            self.put(path)?;
            self.put(source)?;
            self.pickle.set_items()?;
        }
        Ok(())
    }

    fn annotation(&mut self, annotation: &Annotation) -> io::Result<()> {
        self.dict(|out| {
            out.key(Key::Stage)?;
            out.text(if annotation.is_start { b"START" } else { b"END" })?;
            out.key(Key::Name)?;
            out.recorded(TextKind::Annotation, annotation.name)?;
            out.int_field(Key::Device, annotation.device.map(|device| device.0))?;
            out.int_field(Key::TimeUs, annotation.time_us)
        })
    }

    fn settings(&mut self, settings: &[Setting]) -> io::Result<()> {
        self.pickle.empty_dict()?;
        if settings.is_empty() {
            return Ok(());
        }
        self.pickle.mark()?;
        self.entries(settings)?;
        self.pickle.set_items()
    }

    fn entries<'s>(&mut self, settings: impl IntoIterator<Item = &'s Setting>) -> io::Result<()> {
        settings.into_iter().try_for_each(|setting| {
            let name = self.part.rewrite.text(TextKind::Setting, setting.name.as_bytes());
            self.text(&name.unwrap_or_default())?;
            self.setting(&setting.value)
        })
    }

    fn setting(&mut self, value: &SettingValue) -> io::Result<()> {
        match value {
            SettingValue::None => self.pickle.none(),
            SettingValue::Bool(value) => self.pickle.bool(*value),
            SettingValue::Int(value) => self.pickle.int(*value),
            SettingValue::Float(value) => self.pickle.float(*value),
            SettingValue::Text(text) => {
                let text = self.part.rewrite.text(TextKind::Setting, text.as_bytes());
                self.text(&text.unwrap_or_default())
            }
            // Nested as deep as a loaded file can be, which is a few levels.
            SettingValue::Table(settings) => self.settings(settings),
            SettingValue::List(values) => self.list(values, Self::setting),
        }
    }
}
