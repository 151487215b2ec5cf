//! The real program in a real window, on a virtual display.

use super::support;
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

#[test]
fn a_sample_opens_and_its_oom_is_marked() {
    let missing: Vec<&str> =
        ["Xvfb", "import", "xdotool"].into_iter().filter(|program| !is_installed(program)).collect();
    if !missing.is_empty() {
        eprintln!("SKIPPED: no window test without {}", missing.join(", "));
        return;
    }
    let display = format!(":{}", 100 + std::process::id() % 800);
    let _server =
        start(Command::new("Xvfb").args([&display, "-screen", "0", &format!("{}x{}x24", SIZE[0], SIZE[1])]));
    assert!(wait_until(|| count_pixels(&display, [0; 3]) != 0), "the virtual display does not start");
    let settings = tempfile::tempdir().unwrap();
    let _window = start(
        Command::new(env!("CARGO_BIN_EXE_oomscope"))
            .arg(support::sample("frag_oom.pickle"))
            .env("DISPLAY", &display)
            .env("LIBGL_ALWAYS_SOFTWARE", "1")
            .env("XDG_DATA_HOME", settings.path())
            .env_remove("WAYLAND_DISPLAY"),
    );
    // The red of a request that could not be met: the verdict's edge, its label, its box.
    const OOM_RED: [u8; 3] = [0xf8, 0x74, 0x7a];
    assert!(wait_until(|| 100 <= count_pixels(&display, OOM_RED)), "nothing shows the OOM");
    // Every panel shows something: text, bands, blocks.
    let parts = [
        ("the header", [10, 40, 900, 90], 20),
        ("the minimap", [80, 178, 948, 206], 8),
        ("the timeline", [80, 240, 940, 505], 30),
        ("the segment map", [110, 720, 940, 770], 20),
        ("the details", [970, 440, 1264, 720], 30),
    ];
    let is_there = |parts: &(&str, [usize; 4], usize)| parts.2 <= count_colours(&picture(&display), parts.1);
    assert!(wait_until(|| parts.iter().all(is_there)), "{:?} stay empty", {
        parts.iter().filter(|part| !is_there(part)).map(|part| part.0).collect::<Vec<_>>()
    });
    let red = count_pixels(&display, OOM_RED);
    // Keys reach the window: after P the cursor stands at the peak, and the red frame around the
    // failed request in the details is gone.
    let press_p = ["search", "--onlyvisible", "--name", "oomscope", "windowfocus", "key", "p"];
    Command::new("xdotool").args(press_p).env("DISPLAY", &display).status().expect("keys can be sent");
    assert!(wait_until(|| count_pixels(&display, OOM_RED) != red), "the P key changed nothing");
}
