//! The real program in a real window, on a virtual display.

use super::support;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long the window may take to show the timeline, with a software renderer and no optimisation.
const PATIENCE: Duration = Duration::from_mins(1);

/// Kills the process at the end of the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

fn start(command: &mut Command) -> Running {
    Running(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts"))
}

fn is_installed(program: &str) -> bool {
    Command::new("which").arg(program).output().is_ok_and(|output| output.status.success())
}

const SIZE: [usize; 2] = [1280, 800];

/// The pixels of the display, row by row.
fn picture(display: &str) -> Vec<[u8; 3]> {
    let bytes = Command::new("import")
        .args(["-display", display, "-window", "root", "-depth", "8", "rgb:-"])
        .output()
        .expect("a picture can be taken")
        .stdout;
    bytes.as_chunks().0.to_vec()
}

/// Number of pixels of about this colour on the display.
fn count_pixels(display: &str, colour: [u8; 3]) -> usize {
    let is_close = |pixel: &&[u8; 3]| pixel.iter().zip(colour).all(|(&a, b)| a.abs_diff(b) < 12);
    picture(display).iter().filter(is_close).count()
}

/// Number of different colours in a part of the window, given by its left, top, right and bottom.
fn count_colours(picture: &[[u8; 3]], [left, top, right, bottom]: [usize; 4]) -> usize {
    let rows = picture.chunks_exact(SIZE[0]).take(bottom).skip(top);
    rows.flat_map(|row| &row[left..right]).collect::<std::collections::HashSet<_>>().len()
}

/// Whether something comes true while one can wait.
fn wait_until(mut is_true: impl FnMut() -> bool) -> bool {
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE {
        if is_true() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(300));
    }
    false
}

/// A virtual display, which ends with this.
struct Display {
    name: String,
    _server: Running,
}

/// A virtual display with further arguments of its server; none, visibly, where programs are missing. `number` keeps the
/// displays of tests that run at once apart.
fn display(number: u32, args: &[&str]) -> Option<Display> {
    let missing: Vec<&str> =
        ["Xvfb", "import", "xdotool"].into_iter().filter(|program| !is_installed(program)).collect();
    if !missing.is_empty() {
        support::skipped(&format!("no window test without {}", missing.join(", ")));
        return None;
    }
    let name = format!(":{}", 100 + 10 * (std::process::id() % 800) + number);
    let screen = format!("{}x{}x24", SIZE[0], SIZE[1]);
    let server = start(Command::new("Xvfb").args([&name, "-screen", "0", &screen]).args(args));
    assert!(wait_until(|| count_pixels(&name, [0; 3]) != 0), "the virtual display does not start");
    Some(Display { name, _server: server })
}

impl Display {
    /// The program on this display, with settings of its own.
    fn program(&self, settings: &Path) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_oomscope"));
        command
            .arg(support::sample("frag_oom.pickle"))
            .env("DISPLAY", &self.name)
            .env("LIBGL_ALWAYS_SOFTWARE", "1")
            .env("XDG_DATA_HOME", settings)
            .env("OOMSCOPE_CONFIG", "")
            .env_remove("WAYLAND_DISPLAY");
        command
    }

    /// Hand the window these commands of xdotool.
    fn act(&self, commands: &[&str]) {
        let window = ["search", "--onlyvisible", "--name", "oomscope", "windowfocus"];
        let mut command = Command::new("xdotool");
        command.args(window).args(commands).env("DISPLAY", &self.name);
        assert!(command.status().expect("keys can be sent").success(), "{commands:?}");
    }

    fn shows(&self, colour: [u8; 3]) -> usize {
        count_pixels(&self.name, colour)
    }
}

/// The red of a request that could not be met: the verdict's edge, its label, its box.
const OOM_RED: [u8; 3] = [0xf8, 0x74, 0x7a];

/// Behind a notice below everything.
const NOTICE: [u8; 3] = [0x35, 0x30, 0x24];

#[test]
fn a_sample_opens_and_its_oom_is_marked() {
    let Some(display) = display(0, &[]) else { return };
    let settings = tempfile::tempdir().unwrap();
    let _window = start(&mut display.program(settings.path()));
    assert!(wait_until(|| 100 <= display.shows(OOM_RED)), "nothing shows the OOM");
    // Every panel shows something: text, bands, blocks.
    let parts = [
        ("the header", [10, 40, 900, 90], 20),
        ("the minimap", [80, 178, 948, 206], 8),
        ("the timeline", [80, 240, 940, 505], 30),
        ("the segment map", [110, 720, 940, 770], 20),
        ("the details", [970, 440, 1264, 720], 30),
    ];
    let is_there =
        |parts: &(&str, [usize; 4], usize)| parts.2 <= count_colours(&picture(&display.name), parts.1);
    assert!(wait_until(|| parts.iter().all(is_there)), "{:?} stay empty", {
        parts.iter().filter(|part| !is_there(part)).map(|part| part.0).collect::<Vec<_>>()
    });
    let red = display.shows(OOM_RED);
    // Keys reach the window: after P the cursor stands at the peak, and the red frame around the
    // failed request in the details is gone.
    display.act(&["key", "p"]);
    assert!(wait_until(|| display.shows(OOM_RED) != red), "the P key changed nothing");
}

#[test]
fn without_a_system_dialog_the_window_says_so_and_goes_on() {
    let Some(display) = display(1, &[]) else { return };
    let settings = tempfile::tempdir().unwrap();
    let mut command = display.program(settings.path());
    // Neither a desktop that has dialogs, nor the program that stands in for one.
    command.env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/no/bus").env("PATH", settings.path());
    let _window = start(&mut command);
    assert!(wait_until(|| 100 <= display.shows(OOM_RED)), "nothing shows the OOM");
    let is_noticed = || 10_000 <= display.shows(NOTICE);
    assert!(!is_noticed());
    display.act(&["key", "ctrl+o"]);
    let opens_dialog = || {
        display.act(&["mousemove", "406", "433", "click", "1"]);
        is_noticed()
    };
    assert!(wait_until(opens_dialog), "nothing is said");
    display.act(&["key", "Escape"]);
    assert!(wait_until(|| !is_noticed()), "the notice stays");
}

#[test]
fn without_opengl_the_report_is_printed() {
    let Some(display) = display(2, &["-extension", "GLX"]) else { return };
    let settings = tempfile::tempdir().unwrap();
    let mut command = display.program(settings.path());
    let output = command
        .env("__EGL_VENDOR_LIBRARY_DIRS", "/no/libraries")
        .env("LIBGL_DRIVERS_PATH", "/no/drivers")
        .output()
        .expect("the program runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    assert!(errors.starts_with("oomscope: the window could not be opened ("), "{errors}");
    assert_eq!(errors.lines().count(), 1, "{errors}");
    let report = Command::new(env!("CARGO_BIN_EXE_oomscope"))
        .args(["report".as_ref(), support::sample("frag_oom.pickle").as_os_str()])
        .env("OOMSCOPE_CONFIG", "")
        .output()
        .expect("the program runs");
    assert_eq!(output.stdout, report.stdout);
}
