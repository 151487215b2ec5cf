//! Small files that would make much work: one name of megabytes that thousands of rows share, stacks that differ at their
//! outermost frame, stacks of thousands of frames. Every command ends, within seconds and 1 GiB.

use crate::memory::{Writer, zstd};
use crate::support::{program, run};
use std::collections::HashMap;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Seconds of processor time that a command may take.
const MAX_SECONDS: u32 = 5;

/// How much such a file has.
#[derive(Clone, Copy)]
struct Size {
    /// Bytes of the name.
    name_bytes: usize,
    /// Rows that share it: frames, events, annotations, segments.
    rows: u32,
    /// Stacks that differ at their outermost frame.
    stacks: u32,
}

/// What the build that tests use must manage.
const SMALL: Size = Size { name_bytes: 10_000_000, rows: 2_000, stacks: 10_000 };

/// What the optimised program must manage.
#[cfg(target_os = "linux")]
const LARGE: Size = Size { name_bytes: 20_000_000, rows: 4_000, stacks: 60_000 };

/// A text of more bytes is the long name.
const LONG_BYTES: usize = 1 << 20;

/// A pickle whose texts are written once.
struct Maker {
    writer: Writer,
    texts: HashMap<Vec<u8>, u32>,
}

impl Maker {
    fn new() -> Self {
        Self { writer: Writer::new(), texts: HashMap::new() }
    }

    fn text(&mut self, text: &[u8]) {
        // There is one name of megabytes, which hashing again and again would take minutes.
        let key = if text.len() < LONG_BYTES { text } else { b"the long name" };
        if let Some(&entry) = self.texts.get(key) {
            return self.writer.get(entry);
        }
        self.writer.text(text);
        self.writer.pickle.push(b'\x94');
        self.texts.insert(key.to_vec(), self.writer.memo_len());
        self.writer.skip_memo_entry();
    }

    fn int(&mut self, value: u32) {
        self.writer.pickle.push(b'J');
        self.writer.pickle.extend(value.to_le_bytes());
    }

    fn list(&mut self, items: impl FnOnce(&mut Self)) {
        self.writer.pickle.extend(b"](");
        items(self);
        self.writer.pickle.push(b'e');
    }

    fn dict(&mut self, pairs: impl FnOnce(&mut Self)) {
        self.writer.pickle.extend(b"}(");
        pairs(self);
        self.writer.pickle.push(b'u');
    }

    fn texts(&mut self, pairs: &[(&str, &[u8])]) {
        for (key, value) in pairs {
            self.text(key.as_bytes());
            self.text(value);
        }
    }

    fn ints(&mut self, pairs: &[(&str, u32)]) {
        for &(key, value) in pairs {
            self.text(key.as_bytes());
            self.int(value);
        }
    }

    /// A frame, as the number of its memo entry.
    fn frame(&mut self, file: &[u8], line: u32, function: &[u8], more: &[(&str, &[u8])]) -> u32 {
        self.dict(|maker| {
            maker.texts(&[("filename", file), ("name", function)]);
            maker.ints(&[("line", line)]);
            maker.texts(more);
        });
        self.writer.memoize_and_pop()
    }

    /// A stack of frames, as the number of its memo entry.
    fn stack(&mut self, frames: &[u32]) -> u32 {
        self.list(|maker| frames.iter().for_each(|&frame| maker.writer.get(frame)));
        self.writer.memoize_and_pop()
    }

    fn event(&mut self, action: &[u8], at: u32, addr: u32, stack: Option<u32>, more: &[(&str, &[u8])]) {
        self.dict(|maker| {
            maker.texts(&[("action", action)]);
            maker.ints(&[("addr", addr), ("size", 1 << 18), ("stream", 0), ("time_us", 1_000 + at)]);
            maker.texts(more);
            if let Some(stack) = stack {
                maker.text(b"frames");
                maker.writer.get(stack);
            }
        });
    }

    /// What was recorded of the tensors at an address: one of 1 × 2 × 3.
    fn shape(&mut self, name: &[u8]) {
        self.list(|maker| {
            maker.list(|maker| {
                maker.text(name);
                maker.writer.pickle.extend(b"K\x01K\x02K\x03\x87");
                maker.text(name);
            });
        });
    }

    /// A segment with one block, which is allocated.
    fn segment(&mut self, addr: u32, stack: u32, kind: &[u8], state: &[u8]) {
        self.dict(|maker| {
            maker.texts(&[("segment_type", kind)]);
            maker.ints(&[("device", 0), ("address", addr), ("total_size", 1 << 19), ("stream", 0)]);
            maker.text(b"frames");
            maker.writer.get(stack);
            maker.text(b"blocks");
            maker.list(|maker| {
                maker.dict(|maker| {
                    maker.texts(&[("state", state)]);
                    maker.ints(&[("address", addr), ("size", 1 << 18), ("requested_size", 1 << 18)]);
                    maker.text(b"frames");
                    maker.writer.get(stack);
                });
            });
        });
    }

    /// The traces: an allocation for each stack, of which every second is freed, and an OOM at the end.
    fn trace(&mut self, stacks: &[u32], more: &[(&str, &[u8])], other_action: Option<&[u8]>) {
        self.text(b"device_traces");
        self.list(|maker| {
            maker.list(|maker| {
                for (at, &stack) in (0..).zip(stacks) {
                    let addr = (at + 1) << 19;
                    maker.event(b"segment_alloc", 2 * at, addr, Some(stack), more);
                    maker.event(b"alloc", 2 * at, addr, Some(stack), more);
                    if at % 2 == 1 {
                        maker.event(b"free_requested", 2 * at + 1, addr, Some(stack), more);
                        maker.event(b"free_completed", 2 * at + 1, addr, Some(stack), more);
                    }
                    if let Some(action) = other_action {
                        maker.event(action, 2 * at + 1, addr, Some(stack), more);
                    }
                }
                maker.event(b"oom", 1 << 20, 0, stacks.first().copied(), more);
            });
        });
    }

    fn finish(mut self) -> Vec<u8> {
        self.writer.pickle.push(b'.');
        self.writer.pickle
    }
}

/// A name full of words that mean something to rules.
fn long_name(bytes: usize) -> Vec<u8> {
    let words = b"/home/step 1/category: {phase=forward, Optimizer.step} <at::";
    let mut name = words.repeat(bytes / words.len());
    name.extend(b"/train.py");
    name
}

/// Frames of every kind that have the name as file, as function, or as both.
fn shared_by_frames(size: Size) -> Vec<u8> {
    let (mut maker, name) = (Maker::new(), long_name(size.name_bytes));
    let main = maker.frame(b"/home/me/train.py", 9, b"main", &[]);
    let fx: [(&str, &[u8]); 4] = [
        ("fx_node_op", &name),
        ("fx_node_name", &name),
        ("fx_node_target", &name),
        ("fx_original_trace", &name),
    ];
    let stacks: Vec<u32> = (0..size.rows)
        .map(|line| {
            let frames = [
                maker.frame(b"/lib/libtorch_cpu.so", line, &name, &[]),
                maker.frame(b"/x/torch/nn/modules/module.py", line, &name, &[]),
                maker.frame(&name, line, b"forward", &fx),
                maker.frame(&name, line, &name, &[]),
                main,
            ];
            maker.stack(&frames)
        })
        .collect();
    maker.dict(|maker| {
        maker.trace(&stacks, &[], None);
        maker.text(b"segments");
        maker.list(|maker| {
            for (at, &stack) in (0..).zip(&stacks) {
                maker.segment((at + 1) << 19, stack, b"large", b"active_allocated");
            }
        });
    });
    maker.finish()
}

/// Everything else that is a text has the name.
fn shared_by_labels(size: Size) -> Vec<u8> {
    let (mut maker, name) = (Maker::new(), long_name(size.name_bytes));
    let stacks: Vec<u32> = (0..size.rows)
        .map(|line| {
            let frame = maker.frame(b"/home/me/train.py", line, b"main", &[]);
            maker.stack(&[frame])
        })
        .collect();
    let keys = ["user_metadata", "internal_metadata", "compile_context", "category"];
    let more = keys.map(|key| (key, &*name));
    maker.dict(|maker| {
        maker.trace(&stacks, &more, Some(&name));
        maker.text(b"segments");
        maker.list(|maker| {
            for (at, &stack) in (0..).zip(&stacks) {
                let state = if at % 4 == 3 { &*name } else { b"active_allocated" };
                maker.segment((at + 1) << 19, stack, &name, state);
            }
        });
        maker.text(b"external_annotations");
        maker.list(|maker| {
            for at in 0..size.rows {
                for (stage, time_us) in [(&b"START"[..], 2 * at), (b"END", 2 * at + 1), (&name, 2 * at)] {
                    maker.dict(|maker| {
                        maker.texts(&[("stage", stage), ("name", &name)]);
                        maker.ints(&[("device", 0), ("time_us", 1_000 + time_us)]);
                    });
                }
            }
        });
        for key in ["allocator_settings", "oomscope"] {
            maker.text(key.as_bytes());
            maker
                .dict(|maker| maker.texts(&[("torch", &name), ("reason", &name), ("max_split_size", &name)]));
        }
        maker.text(b"source_code");
        maker.dict(|maker| {
            maker.text(b"/home/me/train.py");
            maker.text(&name);
        });
        maker.text(b"shape_data");
        maker.list(|maker| {
            maker.dict(|maker| {
                for at in 0..size.rows {
                    maker.text(format!("{:#x}", (at + 1) << 19).as_bytes());
                    maker.shape(&name);
                }
            });
        });
        maker.text(&name);
        maker.text(&name);
    });
    maker.finish()
}

/// Run the program within the limits of time and memory; what it prints goes nowhere.
fn run_within_limits(command: &str, file: &Path, folder: &Path) -> Output {
    let limited =
        format!("ulimit -t {MAX_SECONDS}; ulimit -v 1048576; cd \"$1\"; shift; exec \"$0\" \"$@\" >out");
    let mut shell = Command::new("sh");
    shell.args(["-c", &limited]).arg(program()).arg(folder);
    for word in command.split(' ') {
        if word == "FILE" {
            shell.arg(file)
        } else {
            shell.arg(word)
        };
    }
    // The C library sets much address space aside for each thread.
    shell
        .env("MALLOC_ARENA_MAX", "1")
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .stdin(Stdio::null())
        .output()
        .expect("the shell starts")
}

/// Every command and format that reads a recording.
const COMMANDS: [&str; 52] = [
    "stats FILE --modules --iterations",
    "stats FILE --format json --filter stack:step",
    "stats FILE --filter meta:step",
    "stats FILE --filter site:step",
    "live FILE",
    "live FILE --format json",
    "live FILE --format csv",
    "explain FILE 0x80000",
    "explain FILE 0x80000 --format json",
    "report FILE --verbose",
    "report FILE --format json",
    "report FILE --format markdown",
    "report FILE --format html",
    "report FILE --redact",
    "diff FILE FILE --at-a 2 --at-b oom",
    "diff FILE --at-a 2 --at-b oom --format json",
    "diff FILE --at-a 2 --at-b oom --format markdown",
    "diff FILE --at-a 2 --at-b oom --format html --svg diff.svg",
    "ranks FILE FILE",
    "ranks FILE FILE --format json",
    "ranks FILE FILE --format markdown",
    "ranks FILE FILE --format html",
    "ranks FILE --format csv --table lines",
    "simulate FILE --sweep",
    "remedies FILE",
    "remedies FILE --format json",
    "check FILE --baseline FILE --no-oom --allow-contradictions",
    "check FILE --baseline FILE --no-oom --allow-contradictions --format markdown",
    "cut FILE -o cut.pickle",
    "cut FILE --redact -o cut.pickle",
    "export FILE --format csv -o csv --max-output 64MiB",
    "export FILE --format jsonl -o jsonl --max-output 64MiB",
    "export FILE --format csv --table events --max-output 64MiB",
    "export FILE --format csv --table frames --max-output 64MiB",
    "export FILE --format jsonl --table stacks --max-output 64MiB",
    "export FILE --format folded --max-output 64MiB",
    "export FILE --format pprof --max-output 64MiB",
    "export FILE --format perfetto --max-output 64MiB",
    "render FILE -o a.png",
    "render FILE -o a.png --color-by stack",
    "render FILE -o a.png --filter meta:step",
    "render FILE -o a.png --filter stack:step --only",
    "render FILE -o a.png --axis time",
    "render FILE -o a.png --view reserved",
    "render FILE -o a.png --view curves",
    "render FILE -o a.png --view segments",
    "render FILE -o a.png --view segments --color-by stack",
    "render FILE -o a.png --view segment-timeline",
    "render FILE -o a.png --view stacks",
    "render FILE -o a.png --view stacks --all-frames",
    "render FILE -o a.svg --view stacks --all-frames --callees-first",
    "FILE",
];

/// What did not end within the limits, or ended otherwise than with an answer or a refusal.
fn endless(pickle: &[u8], commands: &[&str]) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("small.pickle.zst");
    let packed = zstd(pickle);
    assert!(packed.len() < 1_000_000, "{} bytes", packed.len());
    std::fs::write(&file, packed).expect("a temporary file");
    let mut wrong = Vec::new();
    for command in commands {
        let output = run_within_limits(command, &file, folder.path());
        let errors = String::from_utf8_lossy(&output.stderr);
        // An export that would be out of proportion is refused, and a limit of `check` is exceeded.
        let is_answered = match output.status.code() {
            Some(0) => true,
            Some(1) => errors.contains("--max-output"),
            Some(3) => command.starts_with("check"),
            _ => false,
        };
        if !is_answered {
            wrong.push(format!(
                "{command}: {} {}",
                output.status,
                errors.chars().take(300).collect::<String>()
            ));
        }
    }
    wrong
}

/// Allocations whose stacks have their inner frames in common, and an outermost frame of their own each.
fn stacks_that_differ_at_the_outermost_frame(stacks: u32, frames: u32) -> Vec<u8> {
    let mut maker = Maker::new();
    let inner: Vec<u32> =
        (0..frames).map(|line| maker.frame(b"/home/me/model.py", line, b"forward", &[])).collect();
    let stacks: Vec<u32> = (0..stacks)
        .map(|line| {
            let outermost = maker.frame(b"/home/me/train.py", line, b"main", &[]);
            maker.stack(&[&inner[..], &[outermost]].concat())
        })
        .collect();
    maker.dict(|maker| {
        maker.text(b"device_traces");
        maker.list(|maker| {
            maker.list(|maker| {
                for (at, &stack) in (0..).zip(&stacks) {
                    maker.event(b"alloc", at, (at + 1) << 12, Some(stack), &[]);
                }
                maker.event(b"oom", 1 << 20, 0, None, &[]);
            });
        });
    });
    maker.finish()
}

/// Commands that draw or compare stacks.
const OF_STACKS: [&str; 5] = [
    "report FILE",
    "remedies FILE",
    "ranks FILE FILE",
    "render FILE -o a.png --view stacks --all-frames",
    "render FILE -o a.svg --view stacks --callees-first",
];

#[cfg(target_os = "linux")]
#[test]
fn a_name_of_megabytes_that_thousands_of_frames_share_takes_seconds() {
    assert_eq!(endless(&shared_by_frames(SMALL), &COMMANDS), [""; 0]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_name_of_megabytes_that_thousands_of_events_and_annotations_share_takes_seconds() {
    assert_eq!(endless(&shared_by_labels(SMALL), &COMMANDS), [""; 0]);
}

#[cfg(target_os = "linux")]
#[test]
fn thousands_of_stacks_that_differ_at_their_outermost_frame_take_seconds() {
    let file = stacks_that_differ_at_the_outermost_frame(SMALL.stacks, 120);
    assert_eq!(endless(&file, &OF_STACKS), [""; 0]);
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "for the optimised program; .ci/release runs it"]
fn large_files_of_each_kind_take_the_optimised_program_seconds() {
    assert_eq!(endless(&shared_by_frames(LARGE), &COMMANDS), [""; 0]);
    assert_eq!(endless(&shared_by_labels(LARGE), &COMMANDS), [""; 0]);
    let file = stacks_that_differ_at_the_outermost_frame(LARGE.stacks, 120);
    let more = ["report FILE --format html", "diff FILE --at-a 2 --at-b oom --svg diff.svg"];
    assert_eq!(endless(&file, &[&OF_STACKS[..], &more].concat()), [""; 0]);
}

#[test]
fn an_export_out_of_proportion_is_refused_and_can_be_allowed() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("a.pickle");
    std::fs::write(&file, stacks_that_differ_at_the_outermost_frame(200, 1_000)).expect("a temporary file");
    let (name, out) = (file.to_string_lossy(), folder.path().join("frames.csv"));
    let export = |more: &[&str]| {
        let out = out.to_string_lossy();
        run([&["export", &name, "--format", "csv", "--table", "frames", "-o", &*out], more].concat())
    };
    let refused = export(&["--max-output", "1MiB"]);
    let errors = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{errors}");
    assert!(errors.contains("larger than 1.00 MiB") && errors.contains("--max-output SIZE"), "{errors}");
    assert!(!out.exists(), "nothing is written");
    assert!(export(&["--max-output", "1GiB"]).status.success());
    let rows = std::fs::read_to_string(&out).expect("the table").lines().count();
    assert_eq!(rows, 1 + 200 * 1_001);
    std::fs::remove_file(&out).expect("it is there");
    // Without the option, it is no more than a file may expand to.
    assert!(export(&[]).status.success());
}
