//! The text of PyTorch's own out-of-memory exception, which states what no recording has: the device's capacity, other
//! processes, and the memory of this process outside of PyTorch.
//!
//! Sources: `c10/cuda/CUDACachingAllocator.cpp` (`malloc`, from 2.1 on, and its form before). Sizes are written with two
//! decimals, so each is exact to half of a hundredth of its unit.

use oomscope_model::{Bytes, EventIx, Timeline};
use oomscope_units::parse_bytes;

/// The start of the sentence with the request, in every version.
const REQUEST: &str = "Tried to allocate ";

/// Sizes of an out-of-memory exception, in bytes as far as its two decimals tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OomMessage {
    /// The number of the device.
    pub device: Option<i64>,
    /// Requested.
    pub requested_bytes: Bytes,
    /// Memory of the device.
    pub capacity_bytes: Option<Bytes>,
    /// Free on the device.
    pub free_bytes: Option<Bytes>,
    /// The limit that `per_process_memory_fraction` sets.
    pub allowed_bytes: Option<Bytes>,
    /// Number of other processes that are named.
    pub other_processes: usize,
    /// In use by these.
    pub other_bytes: Bytes,
    /// In use by this process, also outside of PyTorch.
    pub process_bytes: Option<Bytes>,
    /// Allocated by PyTorch.
    pub allocated_bytes: Option<Bytes>,
    /// Of these in private pools.
    pub private_bytes: Option<Bytes>,
    /// Reserved by PyTorch, allocated or not.
    pub reserved_bytes: Option<Bytes>,
    /// The most bytes by which sums of these sizes may be off.
    pub rounding_bytes: Bytes,
}

impl OomMessage {
    /// Read the last such exception in a text, which may be a whole log; `None` if there is none.
    pub fn parse(text: &str) -> Option<Self> {
        let (_, text) = text.rsplit_once(REQUEST)?;
        // The next line may be of another program, but loggers also break lines within the exception.
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let reader = Reader { text: &text };
        let requested = reader.first()?;
        let mut out = Self { requested_bytes: requested.bytes, ..Self::default() };
        out.device = reader.device();
        out.read_sizes(&reader);
        out.rounding_bytes = reader.largest_step() * 4;
        Some(out)
    }

    fn read_sizes(&mut self, reader: &Reader<'_>) {
        let bytes = |size: Option<Size>| size.map(|size| size.bytes);
        self.capacity_bytes =
            bytes(reader.after("total capacity of ").or_else(|| reader.before(" total capacity")));
        self.free_bytes = bytes(reader.before(" is free").or_else(|| reader.before(" free;")));
        self.allowed_bytes = bytes(reader.before(" allowed;"));
        self.process_bytes = bytes(reader.after("this process has "));
        self.allocated_bytes =
            bytes(reader.before(" is allocated by PyTorch").or_else(|| reader.before(" already allocated")));
        self.private_bytes = bytes(reader.before(" allocated in private pools"));
        let unallocated = reader.before(" is reserved by PyTorch but unallocated");
        self.reserved_bytes = match (self.allocated_bytes, unallocated) {
            (Some(allocated), Some(rest)) => Some(allocated + rest.bytes),
            _ => bytes(reader.before(" reserved in total by PyTorch")),
        };
        for size in reader.other_processes() {
            self.other_processes += 1;
            self.other_bytes += size.bytes;
        }
    }

    /// The last failed request of a device that the text may be about.
    pub fn event_in(&self, timeline: &Timeline) -> Option<EventIx> {
        let is_same = |requested| self.agrees(self.requested_bytes, requested);
        timeline.ooms.iter().rev().find(|oom| is_same(oom.requested)).map(|oom| oom.event)
    }

    /// Whether the text can be about a failure with this request, and with these bytes reserved by PyTorch.
    pub(super) fn is_about(&self, requested_bytes: Bytes, reserved_bytes: Bytes) -> bool {
        self.agrees(self.requested_bytes, requested_bytes)
            && self.reserved_bytes.is_none_or(|stated| self.agrees(stated, reserved_bytes))
    }

    /// Whether two sums are the same as far as the text tells.
    pub fn agrees(&self, stated_bytes: Bytes, recorded_bytes: Bytes) -> bool {
        (stated_bytes - recorded_bytes).abs() <= self.rounding_bytes.abs()
    }
}

/// A size, and the step to the next one that could be written.
#[derive(Debug, Clone, Copy)]
struct Size {
    bytes: Bytes,
    step_bytes: Bytes,
}

/// A size such as `1.88 GiB`; words may have punctuation behind them.
fn size(number: &str, unit: &str) -> Option<Size> {
    let unit = unit.trim_end_matches(|c: char| !c.is_ascii_alphabetic());
    let number = number.trim_start_matches(|c: char| !c.is_ascii_digit());
    let is_unit = matches!(unit, "bytes" | "KiB" | "MiB" | "GiB" | "TiB");
    let bytes = is_unit.then(|| parse_bytes(&[number, " ", unit].concat())).flatten().map(Bytes)?;
    let one = Bytes(parse_bytes(&["1 ", unit].concat())?);
    Some(Size { bytes, step_bytes: one / 100 })
}

/// Finds sizes in the words of the exception, after its request.
struct Reader<'a> {
    text: &'a str,
}

impl Reader<'_> {
    /// The largest step between sizes that the text could have written.
    fn largest_step(&self) -> Bytes {
        let words: Vec<&str> = self.text.split(' ').collect();
        let sizes = words.windows(2).filter_map(|pair| size(pair[0], pair[1]));
        sizes.map(|size| size.step_bytes).max().unwrap_or_default()
    }

    /// The size at the start.
    fn first(&self) -> Option<Size> {
        starting(self.text)
    }

    fn after(&self, words: &str) -> Option<Size> {
        starting(self.text.split_once(words)?.1)
    }

    fn before(&self, words: &str) -> Option<Size> {
        let (before, _) = self.text.split_once(words)?;
        let mut back = before.rsplit(' ');
        let unit = back.next()?;
        size(back.next()?, unit)
    }

    /// `GPU 1 has …` or `(GPU 0; …`.
    fn device(&self) -> Option<i64> {
        let (_, rest) = ["GPU ", "NPU "].iter().find_map(|of| self.text.split_once(of))?;
        let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
        digits.parse().ok()
    }

    /// `Process 1234 has 5.00 GiB memory in use`.
    fn other_processes(&self) -> impl Iterator<Item = Size> + '_ {
        let parts = self.text.split("Process ").skip(1);
        parts.filter_map(|part| {
            let (pid, rest) = part.split_once(" has ")?;
            pid.chars().all(|c| c.is_ascii_digit()).then(|| starting(rest)).flatten()
        })
    }
}

fn starting(text: &str) -> Option<Size> {
    let mut words = text.split(' ');
    size(words.next()?, words.next()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gib(size: f64) -> Bytes {
        Bytes((size * f64::from(1 << 30)).round() as i64)
    }

    #[test]
    fn the_exception_of_today_is_read_whole() {
        let message = OomMessage::parse(
            "Traceback …\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. GPU 1 has a total \
             capacity of 24.00 GiB of which 1.50 GiB is free. 20.00 GiB allowed; Process 77 has 3.00 GiB memory in use. \
             Process 78 has 512.00 MiB memory in use. Including non-PyTorch memory, this process has 18.00 GiB memory \
             in use. Of the allocated memory 16.00 GiB is allocated by PyTorch, with 1.00 GiB allocated in private \
             pools (e.g., CUDA Graphs), and 1.00 GiB is reserved by PyTorch but unallocated. If reserved but …",
        );
        let expected = OomMessage {
            device: Some(1),
            requested_bytes: Bytes(5 << 29),
            capacity_bytes: Some(gib(24.0)),
            free_bytes: Some(gib(1.5)),
            allowed_bytes: Some(gib(20.0)),
            other_processes: 2,
            other_bytes: Bytes(7 << 29),
            process_bytes: Some(gib(18.0)),
            allocated_bytes: Some(gib(16.0)),
            private_bytes: Some(gib(1.0)),
            reserved_bytes: Some(gib(17.0)),
            rounding_bytes: Bytes((1 << 30) / 100 * 4),
        };
        assert_eq!(message, Some(expected));
    }

    #[test]
    fn the_exception_of_old_versions_has_less() {
        let message = OomMessage::parse(
            "CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 10.76 GiB total capacity; 9.71 GiB already \
             allocated; 5.56 MiB free; 9.81 GiB reserved in total by PyTorch) If reserved memory is >> …",
        )
        .expect("it is one");
        assert_eq!((message.device, message.requested_bytes), (Some(0), Bytes(20 << 20)));
        assert_eq!((message.capacity_bytes, message.reserved_bytes), (Some(gib(10.76)), Some(gib(9.81))));
        assert_eq!(message.free_bytes, Some(Bytes((5.56 * f64::from(1 << 20)).round() as i64)));
        assert_eq!((message.process_bytes, message.other_processes), (None, 0));
    }

    #[test]
    fn other_accelerators_write_the_same() {
        let npu = "RuntimeError: NPU out of memory. Tried to allocate 260.00 MiB (NPU 3; 28.50 GiB total capacity; 10.24 GiB \
                   already allocated; 10.24 GiB current active; 149.50 MiB free; 10.25 GiB reserved in total by PyTorch)";
        let message = OomMessage::parse(npu).expect("it is one");
        assert_eq!((message.device, message.requested_bytes), (Some(3), Bytes(260 << 20)));
        assert_eq!((message.capacity_bytes, message.free_bytes), (Some(gib(28.5)), Some(Bytes(299 << 19))));
        let xpu = "XPU out of memory. Tried to allocate 16.00 MiB. GPU 1 has a total capacity of 11.50 GiB of which 7.00 MiB \
                   is free. Of the allocated memory 10.50 GiB is allocated by PyTorch, and 64.00 MiB is reserved by PyTorch \
                   but unallocated.";
        let message = OomMessage::parse(xpu).expect("it is one");
        assert_eq!((message.device, message.allocated_bytes), (Some(1), Some(gib(10.5))));
    }

    #[test]
    fn the_last_exception_of_a_log_counts_and_lines_may_be_broken() {
        let log = "Tried to allocate 1.00 GiB. …\nretry\nTried to allocate 2.00\n GiB. GPU 0 has a total capacity of\n 8.00 GiB";
        let message = OomMessage::parse(log).expect("there is one");
        assert_eq!((message.requested_bytes, message.capacity_bytes), (Bytes(2 << 30), Some(gib(8.0))));
    }

    #[test]
    fn other_text_is_no_exception() {
        for text in
            ["", "CUDA error: device-side assert", "Tried to allocate", "Tried to allocate lots of memory"]
        {
            assert_eq!(OomMessage::parse(text), None, "{text}");
        }
    }
}
