//! What is fuzzed: one file and one line in [`TARGETS`] per target, besides its line in `fuzz/Cargo.toml`.
//!
//! A body takes any bytes, uses nothing but the library's public functions, and panics where a promise is broken. Fuzz
//! targets run bodies guided by coverage; `cargo test` runs each on its seeds and on some mutations of them.

mod census;
mod choices;
mod compressed;
mod decode;
mod events;
mod export;
mod filter;
mod html;
mod json;
mod load;
mod made_up;
mod pieces;
mod places;
mod questions;
mod render;
mod report;
mod rules;
mod simulate;

/// A target. Only `cargo test` reads seeds and mutations.
#[cfg_attr(fuzzing, expect(dead_code))]
pub(crate) struct Target {
    pub(crate) name: &'static str,
    /// The folder in `fuzz/seeds` with its first inputs.
    pub(crate) seeds: &'static str,
    /// How many mutations `cargo test` tries.
    pub(crate) mutations: usize,
    pub(crate) body: fn(&[u8]),
}

const fn target(name: &'static str, seeds: &'static str, mutations: usize, body: fn(&[u8])) -> Target {
    Target { name, seeds, mutations, body }
}

/// All targets.
pub(crate) const TARGETS: [Target; 15] = [
    target("decode", "pickle", 1000, decode::body),
    target("load", "pickle", 300, load::body),
    target("pieces", "pickle", 300, pieces::body),
    target("html", "html", 300, html::body),
    target("json", "json", 300, json::body),
    target("census", "census", 600, census::body),
    target("compressed", "compressed", 300, compressed::body),
    target("events", "choices", 300, events::body),
    target("filter", "filter", 600, filter::body),
    target("rules", "rules", 300, rules::body),
    target("places", "places", 600, places::body),
    target("simulate", "choices", 300, simulate::body),
    target("report", "choices", 200, report::body),
    target("render", "choices", 150, render::body),
    target("export", "choices", 200, export::body),
];

/// Run the body of a target.
pub(crate) fn run(name: &str, bytes: &[u8]) {
    let target = TARGETS.iter().find(|target| target.name == name).expect("the target is registered");
    (target.body)(bytes);
}
