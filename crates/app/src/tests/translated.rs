//! Every text of the window is marked for translation: where a translator puts brackets around all that is marked, the rest is data
//! of the file or the words of another package.
//!
//! A translator is one for the whole process, so the window is shown by a process of its own: these tests once more, with one of them.

mod actions;
mod views;
mod words;

use super::*;
use eframe::egui::epaint::Shape;
use eframe::egui::{Event, PointerButton, Pos2, Rect};
use egui_kittest::kittest::NodeT as _;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use tr::Translator;
use words::Words;

/// Set for the process that shows the window with a translator.
const IS_TRANSLATED: &str = "OOMSCOPE_TEST_TRANSLATED";

/// The test that is run there.
const TEST: &str = "tests::translated::all_texts_are_marked";

/// What the window shows at least of different texts: less of it would say little.
const MIN_TEXTS: usize = 4000;

/// Points across and down a picture at which its hints are read.
const ACROSS: usize = 7;
const DOWN: usize = 4;

/// Puts brackets around what is fixed in a text: what is filled in stays outside of them.
struct Brackets;

impl Translator for Brackets {
    fn translate<'a>(&'a self, text: &'a str, _: Option<&'a str>) -> Cow<'a, str> {
        format!("«{}»", text.replace('{', "»{").replace('}', "}«")).into()
    }

    fn ntranslate<'a>(&'a self, n: u64, one: &'a str, many: &'a str, _: Option<&'a str>) -> Cow<'a, str> {
        self.translate(if n == 1 { one } else { many }, None)
    }
}

/// A text without what is in brackets, each of which leaves a separator.
fn outside(text: &str) -> String {
    let mut depth = 0;
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '«' => {
                depth += 1;
                out.push('\0');
            }
            '»' => depth -= 1,
            c if depth == 0 => out.push(c),
            _ => {}
        }
    }
    out
}

/// The texts that were seen, each with the view that had it first.
#[derive(Default)]
struct Seen {
    texts: BTreeMap<String, String>,
    /// What was hovered already: its kind, and its name.
    hovered: BTreeSet<String>,
    words: Words,
}

impl Seen {
    /// Read everything that is shown, the hints of it included.
    fn view(&mut self, name: &str, harness: &mut Harness<'static, App>) {
        harness.ctx.all_styles_mut(|style| {
            style.interaction.tooltip_delay = 0.0;
            style.interaction.show_tooltips_only_when_still = false;
        });
        harness.run_steps(4);
        self.words.add_files(harness.state_mut());
        self.read(name, harness);
        for at in self.places(harness) {
            harness.event(Event::PointerMoved(at));
            harness.run_steps(2);
            self.read(name, harness);
        }
        harness.event(Event::PointerGone);
        harness.run_steps(2);
    }

    /// The middle of what was not hovered yet, and points of pictures; of a file, each picture once.
    fn places(&mut self, harness: &Harness<'static, App>) -> Vec<Pos2> {
        let file = harness.state().title.as_str();
        let window = harness.ctx.content_rect();
        let mut places = Vec::new();
        for node in harness.root().children_recursive() {
            let kind = node.accesskit_node().role();
            // Some only group others.
            let Some(bounds) = node.accesskit_node().bounding_box() else { continue };
            let corners = [(bounds.x0, bounds.y0), (bounds.x1, bounds.y1)];
            let [min, max] = corners.map(|(x, y)| egui::pos2(x as f32, y as f32));
            let rect = Rect::from_min_max(min, max);
            let name = node.accesskit_node().label().unwrap_or_default();
            let is_picture = kind == Role::Canvas;
            let name = if is_picture { format!("{name} of {file}") } else { name };
            let is_in_sight = window.intersects(rect) && rect.area() != 0.0;
            if !is_in_sight || !self.hovered.insert(format!("{kind:?} {name}")) {
                continue;
            }
            if is_picture {
                places.extend(grid(rect));
            } else {
                places.push(rect.center());
            }
        }
        places
    }

    fn read(&mut self, name: &str, harness: &Harness<'static, App>) {
        let mut add = |text: &str| {
            if !self.texts.contains_key(text) {
                self.texts.insert(text.to_owned(), name.to_owned());
            }
        };
        for node in harness.root().children_recursive() {
            let node = node.accesskit_node();
            // A line of a text that is wrapped: the whole text is that of its label.
            if node.role() == Role::TextRun {
                continue;
            }
            for text in [node.label(), node.value(), node.description()].into_iter().flatten() {
                add(&text);
            }
        }
        for clipped in &harness.output().shapes {
            painted(&clipped.shape, &mut add);
        }
    }

    /// What of the texts is neither marked nor data.
    fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for (text, view) in &self.texts {
            for part in outside(text).split(['\0', '\n']) {
                if !self.words.explain(part) {
                    faults.push(format!("{view}: {part:?} of {text:?}"));
                }
            }
        }
        faults
    }
}

fn grid(rect: Rect) -> impl Iterator<Item = Pos2> {
    let share = |at: usize, of: usize| (at as f32 + 0.5) / of as f32;
    (0..ACROSS * DOWN)
        .map(move |at| rect.lerp_inside(egui::vec2(share(at % ACROSS, ACROSS), share(at / ACROSS, DOWN))))
}

/// The texts of a shape, whole where they are cut.
fn painted(shape: &Shape, add: &mut impl FnMut(&str)) {
    match shape {
        Shape::Vec(shapes) => shapes.iter().for_each(|shape| painted(shape, add)),
        Shape::Text(text) => add(text.galley.text()),
        _ => {}
    }
}

#[test]
fn all_texts_are_marked() {
    if std::env::var_os(IS_TRANSLATED).is_some() {
        tr::set_translator!(Brackets);
        let mut seen = Seen::default();
        views::all(&mut seen);
        actions::all(&mut seen);
        assert!(MIN_TEXTS < seen.texts.len(), "only {} texts are shown", seen.texts.len());
        let faults = seen.faults();
        assert!(faults.is_empty(), "{} texts are not marked:\n{}", faults.len(), faults.join("\n"));
        return;
    }
    let program = std::env::current_exe().expect("this is a program");
    let mut command = Command::new(program);
    command.args([TEST, "--exact", "--nocapture"]).env(IS_TRANSLATED, "1");
    let output = command.output().expect("it starts once more");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

#[test]
fn what_stands_in_brackets_is_left_out() {
    let text = Brackets.translate("{size} in {} blocks", None);
    assert_eq!(text, "«»{size}« in »{}« blocks»");
    assert_eq!(outside(&text.replace("{size}", "1 MiB").replace("{}", "free")), "\u{0}1 MiB\0free\0");
    assert_eq!(outside("«a «b»»c"), "\0\0c");
}
