//! Settings that were asked for, beside those that are in effect.

use super::{ExpandableSegments, Settings, pairs};
use oomscope_model::{CONF_VARIABLES, Recording, Setting, SettingValue, Snapshot};

/// Settings that a snapshot has in the text and by a key of their own: their names in the text, and these keys.
const TWICE: [(&str, &str); 4] = [
    ("expandable_segments", "expandable_segments"),
    ("max_split_size_mb", "max_split_size"),
    ("garbage_collection_threshold", "garbage_collection_threshold"),
    ("roundup_power2_divisions", "roundup_power2_divisions"),
];

/// A setting that was asked for and is not in effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ignored {
    /// Its name.
    pub name: &'static str,
    /// The environment variable, or the key of the file, that asks for it.
    pub variable: Option<&'static str>,
}

impl Settings {
    /// The settings that the file's text asks for, as torch reads it: of a setting that stands there twice, the later counts.
    pub(super) fn asked_for(snapshot: &Snapshot) -> impl Iterator<Item = (&str, &str)> {
        texts(snapshot).flat_map(|(_, text)| latest(text))
    }

    /// The settings that were asked for and are not in effect.
    pub fn ignored(recording: &Recording) -> Vec<Ignored> {
        let snapshot = recording.snapshot();
        let in_effect = Self::in_effect(recording);
        let is_stated = |key: &str| snapshot.settings.iter().any(|setting| setting.name == key);
        let mut ignored = Vec::new();
        for (variable, text) in texts(snapshot) {
            for (name, key) in TWICE {
                let asked = latest(text).find(|(asked, _)| *asked == name);
                let Some((_, value)) = asked.filter(|_| is_stated(key) || key == "expandable_segments")
                else {
                    continue;
                };
                let mut wanted = in_effect.clone();
                if wanted.set(name, value).is_ok() && wanted != in_effect {
                    ignored.push(Ignored { name, variable: Some(variable) });
                }
            }
        }
        let is_expandable = |ignored: &Ignored| ignored.name == "expandable_segments";
        if ExpandableSegments::of(recording) != ExpandableSegments::NotInEffect {
            // No segment may be there to show that they are obeyed.
            ignored.retain(|ignored| !is_expandable(ignored));
        } else if !ignored.iter().any(is_expandable) {
            ignored.push(Ignored { name: "expandable_segments", variable: None });
        }
        ignored
    }
}

/// The texts of the environment, with the names under which the file has them.
fn texts(snapshot: &Snapshot) -> impl Iterator<Item = (&'static str, &str)> {
    let text = |setting: &'_ Setting| CONF_VARIABLES.into_iter().find(|name| *name == setting.name);
    snapshot.settings.iter().filter_map(move |setting| match &setting.value {
        SettingValue::Text(value) => Some((text(setting)?, value.as_str())),
        _ => None,
    })
}

/// The settings of a text, each once.
fn latest(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let all = pairs(text);
    let is_last = |at: usize| all.iter().skip(at + 1).all(|later| later.0 != all[at].0);
    (0..all.len()).filter(|&at| is_last(at)).map(|at| all[at]).collect::<Vec<_>>().into_iter()
}
