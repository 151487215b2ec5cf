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

    /// A snapshot's settings, those that only its text has by keys of their own, too, as torch states them.
    pub(crate) fn stated(snapshot: &Snapshot) -> Vec<Setting> {
        let mut asked = Self::default();
        for (name, value) in Self::asked_for(snapshot) {
            // Other settings do not decide where blocks go.
            asked.set(name, value).ok();
        }
        let mut stated = snapshot.settings.clone();
        for (name, key) in TWICE {
            let is_asked = Self::asked_for(snapshot).any(|(asked, _)| asked == name);
            if is_asked && stated.iter().all(|setting| setting.name != key) {
                stated.push(Setting { name: key.to_owned(), value: asked.value(key) });
            }
        }
        stated
    }

    /// The value of a key as torch writes it.
    fn value(&self, key: &str) -> SettingValue {
        match key {
            "expandable_segments" => SettingValue::Bool(self.expandable_segments),
            "max_split_size" => {
                let bytes = self.max_split_bytes.and_then(|bytes| i64::try_from(bytes).ok());
                SettingValue::Int(bytes.unwrap_or(-1))
            }
            "garbage_collection_threshold" => SettingValue::Float(self.garbage_collection_threshold),
            "roundup_power2_divisions" => {
                let entry = |(class, &divisions): (usize, &u32)| Setting {
                    name: (1u64 << class).to_string(),
                    value: SettingValue::Int(i64::from(divisions)),
                };
                SettingValue::Table(self.roundup_power2_divisions.iter().enumerate().map(entry).collect())
            }
            _ => SettingValue::None,
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_only_the_text_has_are_stated_as_torch_does() {
        let text = "expandable_segments:True,max_split_size_mb:64,garbage_collection_threshold:0.5,\
            roundup_power2_divisions:[1:4,>:2],pinned_use_background_threads:True";
        let setting = |name: &str, value| Setting { name: name.to_owned(), value };
        let given = vec![
            setting(CONF_VARIABLES[1], SettingValue::Text(text.to_owned())),
            setting("garbage_collection_threshold", SettingValue::Float(0.0)),
        ];
        let snapshot = Snapshot { settings: given.clone(), ..Snapshot::default() };
        let settings = Settings::stated(&snapshot);
        assert_eq!(settings[..2], given, "what is stated stays");
        assert_eq!(settings.len(), 5);
        let read = Settings::recorded(&Snapshot { settings, ..Snapshot::default() });
        assert!(read.expandable_segments && read.garbage_collection_threshold == 0.0);
        assert_eq!(read.max_split_bytes, Some(64 << 20));
        assert_eq!(read.roundup_power2_divisions[..3], [4, 2, 2]);
        assert!(Settings::stated(&Snapshot::default()).is_empty());
    }
}
