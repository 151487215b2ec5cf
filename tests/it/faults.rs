//! What goes wrong around the program: files cut anywhere, full disks, readers that go away, a user who interrupts, and inputs
//! that never end. It says so and ends, with the exit code that is documented, and leaves everything as it was.

use crate::support::{load_bytes, oomscope, pickles_in, run, sample};
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

fn path(name: &str) -> String {
    sample(name).to_string_lossy().into_owned()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Every command that writes to standard output; `FILE` is a sample.
const COMMANDS: [&str; 20] = [
    "stats FILE FILE",
    "stats FILE --format json",
    "live FILE",
    "live FILE --format csv",
    "explain FILE 0x7f0000000000",
    "report FILE",
    "report FILE --format html",
    "report FILE --format markdown",
    "diff FILE --at-a 5 --at-b oom",
    "diff FILE --at-a 5 --at-b oom --format html",
    "render FILE -o -",
    "export FILE --format csv --table events",
    "export FILE --format pprof",
    "export FILE --format perfetto",
    "cut FILE -o -",
    "simulate FILE --sweep",
    "remedies FILE --only sgd",
    "ranks FILE FILE",
    "completions bash",
    "licenses",
];

fn words(command: &str, file: &str) -> Vec<String> {
    command.split(' ').map(|word| if word == "FILE" { file.to_owned() } else { word.to_owned() }).collect()
}

/// Run a command with this standard output.
fn run_into(command: &str, file: &str, out: impl Into<Stdio>) -> Output {
    oomscope()
        .args(words(command, file))
        .stdout(out)
        .stderr(Stdio::piped())
        .output()
        .expect("the program starts")
}

/// The sample, and an address in it for `explain`.
fn commands() -> (String, Vec<String>) {
    let file = path("frag_oom.pickle");
    let live = run(["live", &file, "--at", "oom", "--top", "1", "--format", "json"]);
    let rows: serde_json::Value = serde_json::from_slice(&live.stdout).expect("JSON");
    let addr = rows[0]["addr"].as_str().expect("an address");
    (file, COMMANDS.iter().map(|command| command.replace("0x7f0000000000", addr)).collect())
}

#[test]
fn a_reader_that_goes_away_is_no_error_for_any_command() {
    let (file, commands) = commands();
    for command in commands {
        let mut child = oomscope()
            .args(words(&command, &file))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut out = child.stdout.take().expect("standard output is piped");
        // As `head -c 1` does.
        let read = out.read(&mut [0]).expect("standard output can be read");
        drop(out);
        let output = child.wait_with_output().expect("the program ends");
        let errors = text(&output.stderr);
        assert_eq!((read, output.status.code()), (1, Some(0)), "{command}: {errors}");
        assert!(!errors.contains("panicked") && !errors.contains("hint: "), "{command}: {errors}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_for_every_command() {
    let (file, commands) = commands();
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").expect("the device is there");
    for command in commands {
        let output = run_into(&command, &file, full());
        let errors = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{command}: {errors}");
        assert!(errors.contains("cannot write") && errors.contains("hint: "), "{command}: {errors}");
        assert!(!errors.contains("panicked"), "{command}: {errors}");
    }
    for command in ["report FILE -o /dev/full", "live FILE -o /dev/full", "cut FILE -o /dev/full"] {
        let output = run_into(command, &file, Stdio::piped());
        assert_eq!(output.status.code(), Some(1), "{command}");
        assert!(text(&output.stderr).contains("cannot write"), "{}", text(&output.stderr));
    }
}

/// Every option that names a small file, with `INPUT` for it.
const SMALL_FILES: [&str; 5] = [
    "stats FILE --rules INPUT",
    "report FILE --no-remedies --message INPUT",
    "check FILE --baseline INPUT",
    "export FILE --format perfetto -o /dev/null --profile INPUT",
    "live FILE --rules INPUT",
];

/// Run a command, which must end in time.
fn ends(command: &str, file: &str, input: &Path) -> Output {
    let args = words(command, file).into_iter();
    let args = args.map(|word| if word == "INPUT" { input.to_string_lossy().into_owned() } else { word });
    let mut child = oomscope()
        .args(args)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let patience = Instant::now() + Duration::from_mins(1);
    while child.try_wait().expect("the program can be waited for").is_none() {
        if patience < Instant::now() {
            child.kill().expect("it can be killed");
            panic!("{command} does not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().expect("the program ended")
}

#[cfg(unix)]
#[test]
fn small_files_that_never_end_or_never_begin_are_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo starts").success());
    let huge = folder.path().join("huge");
    // Without blocks on the disk.
    let sparse = std::fs::File::create(&huge).expect("a temporary file");
    sparse.set_len(20 << 30).expect("a sparse file");
    let file = path("frag_oom.pickle");
    for command in SMALL_FILES {
        for input in [Path::new("/dev/zero"), &pipe, folder.path()] {
            let output = ends(command, &file, input);
            let errors = text(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{command} {}: {errors}", input.display());
            assert!(errors.contains("hint: ") && !errors.contains("panicked"), "{command}: {errors}");
        }
    }
    let output = ends(SMALL_FILES[0], &file, &huge);
    assert!(text(&output.stderr).contains("larger than 1 MiB"), "{}", text(&output.stderr));
    // What a shell makes of `<(…)` is a pipe, too, and fine.
    let mut shell = Command::new("sh");
    let rules =
        "printf '[[rule]]\\ncategory = \"comm\"\\nfile = \"x\"\\n' | \"$0\" stats \"$1\" --rules /dev/fd/0";
    let output = shell.args(["-c", rules]).arg(crate::support::program()).arg(&file).output();
    let output = output.expect("sh starts");
    assert!(output.status.success(), "{}", text(&output.stderr));
    // A directory with a named pipe is listed without it.
    std::fs::rename(&pipe, folder.path().join("rank1.pickle")).expect("it can be renamed");
    std::fs::copy(sample("compact.pickle.gz"), folder.path().join("rank0.pickle.gz")).expect("a copy");
    std::fs::remove_file(&huge).expect("it can be removed");
    let output = ends("ranks INPUT", &file, folder.path());
    assert!(output.status.success(), "{}", text(&output.stderr));
}

/// A recording of many events, as a pickle of protocol 0.
fn long_recording(events: usize) -> Vec<u8> {
    let mut out = String::from("(dVsegments\n(lsVdevice_traces\n(l(l");
    for at in 0..events {
        let (action, slot) = if at % 2 == 0 { ("alloc", at / 2) } else { ("free_completed", at / 2) };
        let addr = 4096 * (1 + slot % 1000);
        let event = [
            "(dVaction\nV",
            action,
            "\nsVaddr\nL",
            &addr.to_string(),
            "L\nsVsize\nL512L\nsVstream\nI0\nsVframes\n(lsa",
        ];
        out.extend(event);
    }
    out.push_str("as.");
    out.into_bytes()
}

/// A long export into a folder, stopped as soon as it has begun to write.
#[cfg(target_os = "linux")]
struct Stopped {
    folder: tempfile::TempDir,
    child: std::process::Child,
}

#[cfg(target_os = "linux")]
impl Stopped {
    /// Begin with a shell that sets signals up; it is `exec` with the program and its arguments behind it.
    fn begin(shell: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let input = folder.path().join("long.pickle");
        std::fs::write(&input, long_recording(240_000)).expect("a temporary file");
        let tables = folder.path().join("tables");
        let mut command = Command::new("sh");
        command.args(["-c", shell]).arg(crate::support::program()).arg("export").arg(&input);
        let child = command.args(["--format", "jsonl", "-o"]).arg(&tables).stderr(Stdio::null()).spawn();
        let mut stopped = Self { folder, child: child.expect("the shell starts") };
        let patience = Instant::now() + Duration::from_mins(1);
        // A temporary file is there as soon as something is written.
        while !stopped.names().iter().any(|name| name.starts_with(".oomscope-")) {
            let state = stopped.child.try_wait().expect("a state");
            assert!(state.is_none() && Instant::now() < patience, "it ends before it is interrupted");
        }
        stopped
    }

    fn signal(&self, signal: &str) {
        let kill = Command::new("kill").args([signal, &self.child.id().to_string()]).status();
        assert!(kill.expect("kill starts").success());
    }

    /// The files of the folder of tables, if it is there.
    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path().join("tables")).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupt_leaves_nothing_behind() {
    use std::os::unix::process::ExitStatusExt as _;
    for (signal, number) in [("-HUP", 1), ("-INT", 2), ("-TERM", 15)] {
        // Shells start what runs in the background with SIGINT ignored, and programs inherit that.
        let mut stopped = Stopped::begin("exec env --default-signal \"$0\" \"$@\"");
        stopped.signal(signal);
        let status = stopped.child.wait().expect("the program ends");
        assert_eq!(status.signal(), Some(number), "it ends by the signal");
        assert_eq!(stopped.names(), Vec::<String>::new(), "{signal}");
        assert!(
            !stopped.folder.path().join("tables").exists(),
            "{signal}: the folder was made for the tables"
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupt_leaves_what_was_there() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (input, out) = (folder.path().join("long.pickle"), folder.path().join("out.jsonl"));
    std::fs::write(&input, long_recording(240_000)).expect("a temporary file");
    std::fs::write(&out, "what was there").expect("a temporary file");
    let mut command = oomscope();
    command.arg("export").arg(&input).args(["--format", "jsonl", "--table", "events", "-o"]).arg(&out);
    let mut child = command.spawn().expect("the program starts");
    let names = || std::fs::read_dir(folder.path()).expect("the folder").count();
    let patience = Instant::now() + Duration::from_mins(1);
    while names() < 3 {
        let state = child.try_wait().expect("a state");
        assert!(state.is_none() && Instant::now() < patience, "it ends before it is interrupted");
    }
    let kill = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    assert!(kill.expect("kill starts").success());
    assert_eq!(child.wait().expect("the program ends").code(), None, "it ends by the signal");
    assert_eq!(std::fs::read_to_string(&out).expect("the file"), "what was there");
    assert_eq!(names(), 2);
}

#[cfg(target_os = "linux")]
#[test]
fn a_signal_that_is_ignored_stays_ignored() {
    let mut stopped = Stopped::begin("trap '' HUP INT; exec \"$0\" \"$@\"");
    stopped.signal("-HUP");
    stopped.signal("-INT");
    assert!(stopped.child.wait().expect("the program ends").success());
    assert!(stopped.names().contains(&"events.jsonl".to_owned()), "{:?}", stopped.names());
}

/// The events that a file has, and whether it is known to be damaged; `None` if it cannot be read at all.
fn events(bytes: &[u8]) -> Option<(usize, bool)> {
    match load_bytes(bytes) {
        Ok(snapshot) => {
            let events = snapshot.timelines.iter().map(|timeline| timeline.events.len()).sum();
            Some((events, snapshot.damage.is_some()))
        }
        Err(oomscope_snapshot::load::LoadError::Internal { message, .. }) => {
            panic!("internal error: {message}")
        }
        Err(_) => None,
    }
}

#[test]
fn samples_cut_anywhere_never_have_other_figures_than_are_said() {
    for file in pickles_in(&sample(""), false) {
        let bytes = std::fs::read(&file).expect("the sample can be read");
        let (all, is_damaged) = events(&bytes).expect("the sample loads");
        assert!(!is_damaged, "{}", file.display());
        let mut before = 0;
        for cut in (0..bytes.len()).step_by(bytes.len() / 25 + 1).chain([bytes.len() - 1]) {
            let Some((found, is_damaged)) = events(&bytes[..cut]) else { continue };
            assert!(is_damaged, "{} cut at {cut} is taken for whole", file.display());
            assert!(before <= found && found <= all, "{} cut at {cut}: {found} of {all}", file.display());
            before = found;
        }
    }
}

#[test]
fn a_compressed_sample_may_be_cut_at_every_byte() {
    let bytes = std::fs::read(sample("half_a_device.pickle.gz")).expect("the sample can be read");
    let (all, _) = events(&bytes).expect("the sample loads");
    let mut before = 0;
    for cut in 0..bytes.len() {
        let Some((found, is_damaged)) = events(&bytes[..cut]) else {
            assert_eq!(before, 0, "cut at {cut}: there was something before");
            continue;
        };
        // The last bytes are a checksum: all of the pickle may be there before them.
        assert!(is_damaged || found == all, "cut at {cut} is taken for whole");
        assert!(before <= found && found <= all, "cut at {cut}: {found} of {all}");
        before = found;
    }
}
