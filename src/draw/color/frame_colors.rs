//! The colours of a call tree's frames.

use super::palette::text_hash;
use super::palette::{Palette, Rgb};
use crate::analysis::{FrameKey, FrameName, FrameNames};
use crate::model::Snapshot;
use crate::units;
use rayon::prelude::*;

/// The colour of every frame of a file in one theme.
#[derive(Debug, Clone)]
pub struct FrameColors {
    by_key: Vec<Rgb>,
}

impl FrameColors {
    /// The colours of a file's frames. They depend on files and functions, not on the order of frames, so
    /// that the same code has the same colour in every file and run.
    pub fn new(snapshot: &Snapshot, names: &FrameNames, palette: &Palette) -> Self {
        let color = |name: &FrameName| match name.frame {
            None => palette.unknown,
            Some(frame) => {
                let file = snapshot.strings.get(snapshot.frames.get(frame).file);
                let group = if name.is_internal { package(&file) } else { units::basename(&file) };
                palette.frame(text_hash(group), text_hash(name.function()), name.is_internal)
            }
        };
        Self { by_key: names.all().par_iter().map(color).collect() }
    }

    /// The colour of a frame.
    #[inline]
    pub fn get(&self, key: FrameKey) -> Rgb {
        self.by_key[key.index()]
    }
}

/// The package of a file that is not the user's own: `torch/nn`, `python`, `native`.
fn package(file: &str) -> &str {
    let installed = ["site-packages/", "dist-packages/"];
    if let Some(path) = installed.iter().find_map(|folder| Some(file.split_once(folder)?.1)) {
        let two = path.match_indices('/').nth(1).or_else(|| path.match_indices('/').next());
        return two.map_or(path, |(end, _)| &path[..end]);
    }
    if std::path::Path::new(file).extension().is_some_and(|extension| extension == "py")
        || file.starts_with('<')
    {
        "python"
    } else {
        "native"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::stacks_fixture::allocated_with;

    #[test]
    fn files_belong_to_packages() {
        let site = "/env/lib/python3.11/site-packages/";
        assert_eq!(package(&format!("{site}torch/nn/modules/linear.py")), "torch/nn");
        assert_eq!(package(&format!("{site}torch/functional.py")), "torch");
        assert_eq!(package(&format!("{site}six.py")), "six.py");
        assert_eq!(package("/usr/lib/python3.11/runpy.py"), "python");
        assert_eq!(package("<frozen runpy>"), "python");
        assert_eq!(package("CUDACachingAllocator.cpp"), "native");
    }

    #[test]
    fn own_code_is_more_colourful_than_what_it_calls() {
        let snapshot = allocated_with(&[&["/x/site-packages/torch/nn.py:1 linear", "train.py:1 main"], &[]]);
        let names = FrameNames::new(&snapshot);
        let chroma = |Rgb(r, g, b)| r.max(g).max(b) - r.min(g).min(b);
        for palette in [Palette::DARK, Palette::LIGHT] {
            let colors = FrameColors::new(&snapshot, &names, &palette);
            let of = |label: &str| {
                let key =
                    names.all().iter().position(|name| name.label == label).expect("there is such a frame");
                colors.get(FrameKey(key as u32))
            };
            assert!(30 < chroma(of("train.py:1 main")) && chroma(of("nn.py:1 linear")) < 20);
            assert_eq!(of("no stack recorded"), palette.unknown);
        }
    }
}
