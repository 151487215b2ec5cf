//! The fuzz targets, bounded: the body of each on its seeds and on some mutations of them, the same in every run.

#[path = "../fuzz/bodies/mod.rs"]
mod bodies;

use bodies::{TARGETS, Target};
use std::fs;
use std::panic::catch_unwind;
use std::path::Path;
use std::thread;
use std::time::Instant;

/// The most bytes of an input.
const MAX_BYTES: usize = 4096;

/// Numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n.max(1)
    }

    /// Change some bytes, take some out, or put in a part of another input.
    fn mutate(&mut self, seed: &[u8], other: &[u8]) -> Vec<u8> {
        let mut bytes = seed[..seed.len().min(MAX_BYTES)].to_vec();
        for _ in 0..=self.below(4) {
            let (at, len) = (self.below(bytes.len()), 1 + self.below(16));
            let until = (at + len).min(bytes.len());
            match self.below(6) {
                0 => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << (len % 8)),
                1 => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte = self.below(256) as u8),
                2 => bytes.iter_mut().skip(at).take(len).for_each(|byte| *byte = [0, 0xff][len % 2]),
                3 => drop(bytes.drain(at..until)),
                4 => bytes.truncate(at.max(1)),
                _ => {
                    let from = self.below(other.len());
                    let part = &other[from..other.len().min(from + len * 8)];
                    bytes.splice(at..until, part.iter().copied());
                }
            }
        }
        bytes
    }
}

fn seeds(target: &Target) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds").join(target.seeds);
    let mut paths: Vec<_> =
        fs::read_dir(folder).expect("it has seeds").map(|entry| entry.expect("a file").path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).expect("a file")).collect()
}

/// Run a body; an input that breaks it is kept and named.
fn check(target: &Target, input: &[u8]) {
    if catch_unwind(|| bodies::run(target.name, input)).is_err() {
        let kept = std::env::temp_dir().join(format!("oomscope-fuzz-{}", target.name));
        fs::write(&kept, input).ok();
        panic!("the input is kept as {}", kept.display());
    }
}

fn run(target: &Target) {
    let seeds = seeds(target);
    assert!(!seeds.is_empty(), "{} has seeds", target.name);
    let start = Instant::now();
    seeds.iter().chain([&Vec::new()]).for_each(|seed| check(target, seed));
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..target.mutations {
        let [seed, other] = [(); 2].map(|()| &seeds[random.below(seeds.len())]);
        check(target, &random.mutate(seed, other));
    }
    println!("{}: {} inputs in {:?}", target.name, seeds.len() + target.mutations, start.elapsed());
}

#[test]
fn no_input_breaks_a_target() {
    thread::scope(|scope| TARGETS.iter().for_each(|target| drop(scope.spawn(|| run(target)))));
}

#[test]
fn every_target_is_built() {
    let manifest = include_str!("../fuzz/Cargo.toml");
    let names = manifest.split("{ name = \"").skip(1).filter_map(|rest| rest.split('"').next());
    assert_eq!(names.collect::<Vec<_>>(), TARGETS.map(|target| target.name));
}
