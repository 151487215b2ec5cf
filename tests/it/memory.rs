//! Small files that would make much: no command takes more than 1 GiB for an input below 1 MB.

use crate::support::{load_bytes, program};
use oomscope_snapshot::load::LoadError;
use std::path::Path;
use std::process::{Command, Output};

/// Words of the pickles, memoized in this order.
const WORDS: [&str; 15] = [
    "action",
    "alloc",
    "free_completed",
    "addr",
    "size",
    "frames",
    "filename",
    "line",
    "name",
    "segments",
    "device_traces",
    "a.py",
    "f",
    "stream",
    "oom",
];

/// A pickle, opcode by opcode.
pub(crate) struct Writer {
    pub(crate) pickle: Vec<u8>,
    memo_len: u32,
}

impl Writer {
    pub(crate) fn new() -> Self {
        let mut writer = Self { pickle: b"\x80\x04".to_vec(), memo_len: 0 };
        for word in WORDS {
            writer.text(word.as_bytes());
            writer.memoize_and_pop();
        }
        writer
    }

    pub(crate) fn text(&mut self, text: &[u8]) {
        self.pickle.push(b'X');
        self.pickle.extend((text.len() as u32).to_le_bytes());
        self.pickle.extend(text);
    }

    pub(crate) fn memoize_and_pop(&mut self) -> u32 {
        self.pickle.extend(b"\x940");
        self.memo_len += 1;
        self.memo_len - 1
    }

    /// Number of entries of the memo.
    pub(crate) fn memo_len(&self) -> u32 {
        self.memo_len
    }

    /// Count an entry that the caller wrote.
    pub(crate) fn skip_memo_entry(&mut self) {
        self.memo_len += 1;
    }

    pub(crate) fn word(&mut self, word: &str) {
        let index = WORDS.iter().position(|known| *known == word).expect("a known word");
        self.pickle.extend([b'h', index as u8]);
    }

    pub(crate) fn get(&mut self, entry: u32) {
        self.pickle.push(b'j');
        self.pickle.extend(entry.to_le_bytes());
    }

    /// A frame, as the number of its memo entry.
    pub(crate) fn frame(&mut self) -> u32 {
        self.pickle.extend(b"}(");
        for (key, value) in [("filename", "a.py"), ("name", "f")] {
            self.word(key);
            self.word(value);
        }
        self.int("line", 7);
        self.pickle.push(b'u');
        self.memoize_and_pop()
    }

    pub(crate) fn int(&mut self, key: &str, value: u32) {
        self.word(key);
        self.pickle.push(b'J');
        self.pickle.extend(value.to_le_bytes());
    }

    pub(crate) fn event(&mut self, action: &str, addr: u32, stack: Option<u32>) {
        self.pickle.extend(b"}(");
        self.word("action");
        self.word(action);
        self.int("addr", addr);
        self.int("size", 512);
        if let Some(stack) = stack {
            self.word("frames");
            self.get(stack);
        }
        self.pickle.push(b'u');
    }

    /// A snapshot of one trace.
    pub(crate) fn snapshot(mut self, events: impl FnOnce(&mut Self)) -> Vec<u8> {
        self.pickle.extend(b"}(");
        self.word("segments");
        self.pickle.push(b']');
        self.word("device_traces");
        self.pickle.extend(b"](](");
        events(&mut self);
        self.pickle.extend(b"eeu.");
        self.pickle
    }
}

/// Many allocations that are live at once, all with the same long stack: 64 million frames in all.
fn long_stacks() -> Vec<u8> {
    const FRAMES: u32 = 32_000;
    const ALLOCATIONS: u32 = 2_000;
    let mut writer = Writer::new();
    let frame = writer.frame();
    writer.pickle.extend(b"](");
    for _ in 0..FRAMES {
        writer.pickle.extend([b'h', frame as u8]);
    }
    writer.pickle.push(b'e');
    let stack = writer.memoize_and_pop();
    writer.snapshot(|writer| {
        for i in 0..ALLOCATIONS {
            writer.event("alloc", (i + 1) << 10, Some(stack));
        }
        for i in 0..ALLOCATIONS {
            writer.event("free_completed", (i + 1) << 10, None);
        }
    })
}

/// Text without end: each piece differs from the others only in its first bytes.
pub(crate) fn long_text() -> Vec<u8> {
    Writer::new().snapshot(|writer| {
        let mut text = vec![b'x'; 1 << 20];
        for i in 0..1_000_u32 {
            text[..4].copy_from_slice(&i.to_le_bytes().map(|byte| byte & 0x7f));
            writer.text(&text);
            writer.pickle.push(b'0');
        }
    })
}

pub(crate) fn zstd(pickle: &[u8]) -> Vec<u8> {
    zstd::encode_all(pickle, 3).expect("memory can be compressed")
}

/// Run the program with 1 GiB of address space, which is more than it takes of memory.
pub(crate) fn run_in_1_gib(args: &[&str], file: &Path, folder: &Path) -> Output {
    let limited = "ulimit -v 1048576; cd \"$1\"; shift; exec \"$0\" \"$@\"";
    let mut shell = Command::new("sh");
    shell.args(["-c", limited]).arg(program()).arg(folder).arg(args[0]).arg(file);
    // The C library sets much address space aside for each thread.
    shell.args(&args[1..]).env("MALLOC_ARENA_MAX", "1").output().expect("the shell starts")
}

#[cfg(target_os = "linux")]
#[test]
fn no_command_needs_more_than_1_gib_for_a_small_file() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (plain, packed) = (folder.path().join("a.pickle"), folder.path().join("a.pickle.zst"));
    let pickle = long_stacks();
    assert!(pickle.len() < 1_000_000);
    std::fs::write(&plain, &pickle).expect("a temporary file");
    std::fs::write(&packed, zstd(&pickle)).expect("a temporary file");
    let commands: [&[&str]; 15] = [
        &["stats"],
        &["stats", "--format", "json"],
        &["live"],
        &["live", "--format", "json"],
        &["live", "--format", "csv"],
        &["report"],
        &["report", "--format", "json"],
        &["report", "--format", "markdown"],
        &["report", "--format", "html"],
        &["check", "--no-oom"],
        &["simulate"],
        &["render", "-o", "a.png"],
        &["render", "--view", "segments", "-o", "a.png"],
        &["render", "--view", "segment-timeline", "-o", "a.png"],
        &["render", "--view", "stacks", "-o", "a.svg"],
    ];
    for args in commands {
        for file in [&plain, &packed] {
            let output = run_in_1_gib(args, file, folder.path());
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{args:?} {}: {errors}", file.display());
            assert!(output.stdout.len() < 100 << 20, "{args:?} {}", file.display());
        }
    }
}

#[test]
fn an_input_that_expands_out_of_proportion_is_refused_and_its_pickle_is_not() {
    let pickle = long_text();
    let packed = zstd(&pickle);
    assert!(packed.len() < 1_000_000);
    let refused = load_bytes(&packed).expect_err("too much memory");
    assert!(matches!(refused, LoadError::Decode { .. }) && refused.to_string().contains("bytes of memory"));
    assert!(refused.hint().contains("--max-memory 512MiB"), "{}", refused.hint());
    assert!(load_bytes(&pickle).is_ok());
}
