//! Pictures, as the program writes them on a machine without a display.

use crate::support::{oomscope, run, sample, stdout};
use std::path::{Path, PathBuf};

/// A decoded picture.
struct Picture {
    size: [usize; 2],
    rgb: Vec<[u8; 3]>,
}

impl Picture {
    fn decode(file: &[u8]) -> Self {
        let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().expect("a PNG file");
        let mut bytes = vec![0; reader.output_buffer_size().expect("a small picture")];
        let info = reader.next_frame(&mut bytes).expect("a whole PNG file");
        assert_eq!((info.color_type, info.bit_depth), (png::ColorType::Rgb, png::BitDepth::Eight));
        let (rgb, rest) = bytes.as_chunks::<3>();
        assert!(rest.is_empty());
        Self { size: [info.width as usize, info.height as usize], rgb: rgb.to_vec() }
    }

    /// The different colours of a part, given in fractions of the picture.
    fn colors(&self, x: [f32; 2], y: [f32; 2]) -> Vec<[u8; 3]> {
        let part =
            |[from, to]: [f32; 2], size: usize| (from * size as f32) as usize..(to * size as f32) as usize;
        let [width, height] = self.size;
        let rows = part(y, height);
        let mut colors: Vec<[u8; 3]> =
            rows.flat_map(|row| part(x, width).map(move |column| self.rgb[row * width + column])).collect();
        colors.sort_unstable();
        colors.dedup();
        colors
    }

    /// How many pixels differ from another picture.
    fn difference(&self, other: &Self) -> usize {
        assert_eq!(self.size, other.size);
        self.rgb.iter().zip(&other.rgb).filter(|(a, b)| a != b).count()
    }
}

const VIEWS: [&str; 6] = ["timeline", "reserved", "curves", "segments", "segment-timeline", "stacks"];

fn render(name: &str, args: &[&str]) -> Vec<u8> {
    let output = run([&["render", &sample(name).to_string_lossy(), "-o", "-"], args].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn picture(name: &str, args: &[&str]) -> Picture {
    Picture::decode(&render(name, args))
}

#[test]
fn a_picture_has_the_size_the_caption_the_bands_and_the_ground_of_the_theme() {
    for (theme, ground, text) in
        [("dark", [0x0f, 0x12, 0x16], [0xd9, 0xde, 0xe4]), ("light", [0xff, 0xff, 0xff], [0x1b, 0x21, 0x28])]
    {
        let picture = picture("frag_oom.pickle", &["--size", "900x500", "--theme", theme]);
        assert_eq!(picture.size, [900, 500]);
        assert_eq!(picture.rgb[0], ground);
        let caption = picture.colors([0.0, 0.5], [0.0, 0.2]);
        assert!(caption.contains(&text), "the caption is not written in {theme}");
        let bands = picture.colors([0.1, 0.6], [0.4, 0.93]);
        assert!(40 < bands.len(), "{theme} has {} colours", bands.len());
        assert!(picture.colors([0.1, 0.6], [0.3, 0.6]).len() < bands.len());
    }
}

#[test]
fn the_same_arguments_give_the_same_bytes_on_any_number_of_threads() {
    for view in VIEWS {
        let args = ["--size", "700x400", "--scale", "1.5", "--view", view];
        let first = render("annotated.pickle", &args);
        assert_eq!(first, render("annotated.pickle", &args));
        let path = sample("annotated.pickle");
        let alone = oomscope()
            .args(["render", &path.to_string_lossy(), "-o", "-"])
            .args(args)
            .env("RAYON_NUM_THREADS", "1")
            .output()
            .expect("the program starts");
        assert_eq!(first, alone.stdout);
        assert_eq!(Picture::decode(&first).size, [1050, 600]);
    }
}

#[test]
fn every_argument_changes_the_picture() {
    let size = ["--size", "800x450"];
    let plain = picture("frag_oom.pickle", &size);
    let changes: [&[&str]; 12] = [
        &["--view", "stacks"],
        &["--view", "reserved"],
        &["--view", "segments"],
        &["--view", "segment-timeline"],
        &["--filter", "size>200MB"],
        &["--filter", "size>200MB", "--only"],
        &["--view", "curves"],
        &["--at", "1000"],
        &["--range", "500..1,500"],
        &["--axis", "time"],
        &["--color-by", "size"],
        &["--capacity", "3GiB"],
    ];
    for change in changes {
        let changed = picture("frag_oom.pickle", &[&size[..], change].concat());
        assert!(200 < plain.difference(&changed), "{change:?} changes too little");
    }
    let flame = [&size[..], &["--view", "stacks"]].concat();
    let plain = picture("frag_oom.pickle", &flame);
    let changes: [&[&str]; 5] = [
        &["--weigh", "allocated"],
        &["--weigh", "time"],
        &["--weigh", "allocated", "--range", "500..1500"],
        &["--callees-first"],
        &["--all-frames"],
    ];
    for change in changes {
        let changed = picture("frag_oom.pickle", &[&flame[..], change].concat());
        assert!(200 < plain.difference(&changed), "{change:?} changes too little");
    }
    let (first, second) = (["--device", "0"], ["--device", "1"]);
    let device = |args: [&str; 2]| picture("two_devices_oom.pickle", &[size, args].concat());
    assert!(1000 < device(first).difference(&device(second)));
}

#[test]
fn a_filter_changes_the_views_of_allocations_and_is_refused_by_the_others() {
    fn with<'a>(view: &'a str, filter: &[&'a str]) -> Vec<&'a str> {
        [&["--size", "800x450", "--view", view], filter].concat()
    }
    for view in ["timeline", "segments", "segment-timeline", "stacks"] {
        let all = picture("frag_oom.pickle", &with(view, &[]));
        let some = picture("frag_oom.pickle", &with(view, &["--filter", "site:attend"]));
        assert!(1000 < all.difference(&some), "{view}");
    }
    for view in ["reserved", "curves"] {
        let path = sample("frag_oom.pickle");
        let args = with(view, &["--filter", "site:attend"]);
        let output = run([&["render", &path.to_string_lossy(), "-o", "-"], &args[..]].concat());
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1));
        assert!(errors.contains(&format!("a filter does not change --view {view}")), "{errors}");
    }
}

#[test]
fn a_range_is_shown_at_its_peak_unless_a_moment_is_named() {
    let name = "gpt_oom_forward.pickle";
    let map = |args: &[&str]| render(name, &[&["--view", "segments"], args].concat());
    let of_range = map(&["--range", "iteration:0"]);
    assert_eq!(of_range, map(&["--range", "iteration:0", "--at", "peak-of:iteration:0"]));
    assert_ne!(of_range, map(&["--range", "iteration:0", "--at", "oom"]));
}

#[test]
fn the_segment_timeline_still_answers_to_its_old_name() {
    let view = |name| render("frag_oom.pickle", &["--size", "400x300", "--view", name]);
    assert_eq!(view("addresses"), view("segment-timeline"));
    let help = stdout(["render", "--help"]);
    assert!(
        help.contains("- segment-timeline: Addresses over time") && !help.contains("- addresses"),
        "{help}"
    );
}

#[test]
fn every_sample_can_be_painted() {
    let folder = sample("");
    for path in crate::support::pickles_in(&folder, false) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for view in ["timeline", "segments", "segment-timeline", "stacks"] {
            let picture = picture(&name, &["--size", "400x300", "--view", view]);
            assert!(10 < picture.colors([0.0, 1.0], [0.0, 1.0]).len(), "{name} is blank");
        }
    }
}

#[test]
fn the_file_is_written_where_it_is_wanted() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("timeline.png");
    std::fs::write(&path, "an old file").expect("a temporary file");
    let sample = sample("compact.pickle.gz");
    let args = |output: &Path| -> Vec<PathBuf> {
        ["render".into(), sample.clone(), "--size".into(), "300x200".into(), "-o".into(), output.into()]
            .into()
    };
    let output = run(args(&path));
    assert!(output.status.success() && output.stdout.is_empty() && output.stderr.is_empty());
    assert_eq!(Picture::decode(&std::fs::read(&path).expect("the picture")).size, [300, 200]);
    let nowhere = run(args(&folder.path().join("missing/timeline.png")));
    assert_eq!(nowhere.status.code(), Some(1));
    let errors = String::from_utf8_lossy(&nowhere.stderr);
    assert!(errors.contains("cannot write") && errors.contains("hint: check the folder"), "{errors}");
}

#[test]
fn the_flame_graph_can_be_an_svg_that_is_the_same_every_time() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let svg = |name: &str| {
        let path = folder.path().join(name);
        let (sample, output) = (sample("frag_oom.pickle"), path.to_string_lossy().into_owned());
        let sample = sample.to_string_lossy();
        let output = run(["render", &sample, "--view", "stacks", "--at", "peak", "-o", &output]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        std::fs::read_to_string(path).expect("the picture")
    };
    let first = svg("a.svg");
    assert!(first.starts_with("<?xml") && first.contains("index.py") && first.contains("frag_oom.pickle"));
    assert_eq!(first.len(), svg("b.SVG").len());
    assert!(first == svg("c.svg"));
}

#[test]
fn what_cannot_be_painted_is_refused_with_a_hint() {
    let refused: [(&str, &[&str], &str); 6] = [
        ("pools.pickle", &["--at", "oom"], "no out-of-memory event was recorded"),
        ("pools.pickle", &["--range", "0..99999999"], "there is no event 99,999,999"),
        ("pools.pickle", &["--device", "7"], "device 7 is not in the snapshot"),
        ("pools.pickle", &["--size", "20000x9000", "--scale", "8"], "pixels are too many"),
        ("pools.pickle", &["-o", "picture.gif"], "pictures are PNG files, or SVG"),
        ("pools.pickle", &["-o", "picture.svg"], "only --view stacks can be an SVG file"),
    ];
    for (name, args, what) in refused {
        let path = sample(name);
        let mut all = vec!["render".to_owned(), path.to_string_lossy().into_owned()];
        if !args.contains(&"-o") {
            all.extend(["-o".to_owned(), "-".to_owned()]);
        }
        all.extend(args.iter().map(|&arg| arg.to_owned()));
        let output = run(&all);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {errors}");
        assert!(errors.contains(what) && errors.contains("  hint: "), "{args:?}: {errors}");
        assert!(output.stdout.is_empty());
    }
    let wrong: [&[&str]; 4] =
        [&["--size", "big"], &["--scale", "0"], &["--range", "9..2"], &["--range", "9"]];
    for args in wrong {
        let path = sample("pools.pickle");
        let output = run([&["render", &path.to_string_lossy(), "-o", "-"], args].concat());
        assert_eq!(output.status.code(), Some(2), "{args:?}");
    }
}
