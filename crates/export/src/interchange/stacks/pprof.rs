//! A profile as `go tool pprof` and Pyroscope read it: the message `perftools.profiles.Profile`, compressed with gzip.
//!
//! A sample is what one stack has of one category: its number of allocations and their bytes, with the category and the device
//! as labels.

use super::weights::{NO_STACK, weights};
use crate::interchange::progress::Progress;
use crate::interchange::protobuf::Message;
use crate::interchange::selection::{Portion, Selection};
use flate2::Compression;
use flate2::write::GzEncoder;
use foldhash::HashMap;
use oomscope_model::{FrameId, StrId};
use std::io::{self, Write};

/// Longest name and path that are put together, in bytes.
const MAX_NAME_BYTES: usize = 500;

/// Fields of `Profile`.
mod field {
    pub(super) const SAMPLE_TYPE: u32 = 1;
    pub(super) const SAMPLE: u32 = 2;
    pub(super) const LOCATION: u32 = 4;
    pub(super) const FUNCTION: u32 = 5;
    pub(super) const STRING_TABLE: u32 = 6;
    pub(super) const TIME_NANOS: u32 = 9;
    pub(super) const DEFAULT_SAMPLE_TYPE: u32 = 14;
}

/// Write the profile.
pub(in crate::interchange) fn pprof(
    selection: &Selection<'_>,
    out: &mut (dyn Write + Send),
    progress: &mut Progress<'_>,
) -> io::Result<()> {
    let mut profile = Profile {
        selection,
        out: GzEncoder::new(out, Compression::default()),
        message: Message::default(),
        strings: HashMap::default(),
        texts: Vec::new(),
        locations: HashMap::default(),
        frames: Vec::new(),
    };
    profile.string("");
    profile.sample_types()?;
    for portion in &selection.portions {
        profile.samples(portion, progress)?;
    }
    profile.locations()?;
    profile.end()
}

struct Profile<'a, W: Write> {
    selection: &'a Selection<'a>,
    out: GzEncoder<W>,
    message: Message,
    /// Indices into the table of strings.
    strings: HashMap<String, u64>,
    texts: Vec<String>,
    /// Number of each frame that occurs, from 1. Readers leave out stacks without any, so that a missing one has a frame, too.
    locations: HashMap<Option<FrameId>, u64>,
    frames: Vec<Option<FrameId>>,
}

impl<W: Write> Profile<'_, W> {
    fn string(&mut self, text: &str) -> u64 {
        if let Some(&at) = self.strings.get(text) {
            return at;
        }
        let at = self.texts.len() as u64;
        self.strings.insert(text.to_owned(), at);
        self.texts.push(text.to_owned());
        at
    }

    /// The names that Go's heap profiles have, so that tools know their units: memory in use at a moment, or all that was
    /// allocated in a range.
    fn sample_types(&mut self) -> io::Result<()> {
        let is_moment = self.selection.portions.iter().all(Portion::is_moment);
        let [objects, space] =
            if is_moment { ["inuse_objects", "inuse_space"] } else { ["alloc_objects", "alloc_space"] };
        for (name, unit) in [(objects, "count"), (space, "bytes")] {
            let (name, unit) = (self.string(name), self.string(unit));
            self.message.number(1, name).number(2, unit).write_to(&mut self.out, field::SAMPLE_TYPE)?;
        }
        let default = self.string(space);
        let mut rest = Message::default();
        rest.number(field::DEFAULT_SAMPLE_TYPE, default);
        let times = self.selection.portions.iter().filter_map(|portion| {
            let event = portion.moment().event()?;
            portion.recording.events.time_us(event)
        });
        if let Some(time_us) = times.max() {
            rest.signed(field::TIME_NANOS, time_us.saturating_mul(1000));
        }
        rest.append_to(&mut self.out)
    }

    fn samples(&mut self, portion: &Portion, progress: &mut Progress<'_>) -> io::Result<()> {
        let (category_key, device_key) = (self.string("category"), self.string("device"));
        let device = self.string(&portion.recording.device.to_string());
        for ((stack, category), weight) in weights(portion, progress) {
            let category = self.string(category.key());
            let frames = self.selection.snapshot.stacks.frames(stack);
            let mut locations: Vec<u64> = frames.iter().map(|&frame| self.location(Some(frame))).collect();
            if locations.is_empty() {
                locations.push(self.location(None));
            }
            self.message.packed(1, locations);
            self.message.packed(2, [weight.count, weight.bytes.0].map(i64::cast_unsigned));
            self.message.nested(3, |label| _ = label.number(1, category_key).number(2, category));
            self.message.nested(3, |label| _ = label.number(1, device_key).number(2, device));
            self.message.write_to(&mut self.out, field::SAMPLE)?;
        }
        Ok(())
    }

    fn location(&mut self, frame: Option<FrameId>) -> u64 {
        let Self { locations, frames, .. } = self;
        *locations.entry(frame).or_insert_with(|| {
            frames.push(frame);
            frames.len() as u64
        })
    }

    /// Write the locations, each a line of a function.
    fn locations(&mut self) -> io::Result<()> {
        let snapshot = self.selection.snapshot;
        let mut functions: HashMap<Option<(StrId, StrId)>, u64> = HashMap::default();
        let mut of_text: HashMap<StrId, u64> = HashMap::default();
        for (frame, id) in std::mem::take(&mut self.frames).into_iter().zip(1..) {
            let frame = frame.map(|frame| snapshot.frames.get(frame));
            let key = frame.map(|frame| (frame.file, frame.name));
            let next = functions.len() as u64 + 1;
            let function = *functions.entry(key).or_insert(next);
            if function == next {
                let [name, system_name, file] = match key {
                    Some((file, name)) => {
                        let [plain, path] = [name, file].map(|text| {
                            // A text may have megabytes, and thousands of functions.
                            *of_text.entry(text).or_insert_with(|| self.string(&snapshot.strings.whole(text)))
                        });
                        let texts = [name, file].map(|text| snapshot.strings.whole(text));
                        let shown = name_with_file(&texts[0], &texts[1]);
                        [shown.map_or(plain, |shown| self.string(&shown)), plain, path]
                    }
                    None => [NO_STACK, NO_STACK, ""].map(|text| self.string(text)),
                };
                let message = self.message.number(1, function).number(2, name).number(3, system_name);
                let message = message.number(4, file);
                message.write_to(&mut self.out, field::FUNCTION)?;
            }
            self.message.number(1, id);
            let line = frame.map_or(0, |frame| frame.line);
            self.message.nested(4, |message| _ = message.number(1, function).signed(2, line));
            self.message.write_to(&mut self.out, field::LOCATION)?;
        }
        Ok(())
    }

    fn end(mut self) -> io::Result<()> {
        for text in &self.texts {
            let mut one = Message::default();
            one.text(field::STRING_TABLE, text);
            one.append_to(&mut self.out)?;
        }
        self.out.finish()?.flush()
    }
}
/// `forward (train/model.py)`: readers add up functions by their names, and every module has a `forward`. `None` where the name says it all,
/// or texts are too long to be repeated.
fn name_with_file(name: &str, file: &str) -> Option<String> {
    let mut parts = file.rsplit(['/', '\\']);
    let (base, folder) = (parts.next()?, parts.next());
    if base.is_empty() || MAX_NAME_BYTES < name.len() + file.len() {
        return None;
    }
    match folder.filter(|folder| !folder.is_empty()) {
        Some(folder) => Some(format!("{name} ({folder}/{base})")),
        None => Some(format!("{name} ({base})")),
    }
}

#[cfg(test)]
mod tests {
    use super::name_with_file;

    #[test]
    fn functions_of_one_name_are_told_apart_by_their_files() {
        let of = |name, file| name_with_file(name, file).expect("both are short");
        assert_eq!(of("forward", "/work/train/model.py"), "forward (train/model.py)");
        assert_eq!(of("forward", "model.py"), "forward (model.py)");
        assert_eq!(of("step", "C:\\code\\optim.py"), "step (code/optim.py)");
        assert_eq!(name_with_file("forward", ""), None);
        assert_eq!(name_with_file("forward", &"x".repeat(10_000)), None);
    }
}
