//! Dicts of the snapshot itself: `allocator_settings`, of scalars and small tables, and `source_code`, of texts.

use super::builder::Builder;
use super::census::CENSUS;
use super::containers::{DictState, ListState};
use oomscope_model::{Setting, SettingValue, Sources, StrId};
use oomscope_pickle::{Kind, Value, View};

/// The deepest nesting of tables and lists that is read. torch nests one, and the recorder three; the limit keeps recursion short.
const MAX_DEPTH: usize = 4;

/// The most settings that are read in all. torch has a few dozen; tables that share their entries would multiply.
const MAX_SETTINGS: usize = 2000;

/// The most bytes of text that settings have in all. torch's have a few kilobytes; those that share a text would multiply it.
const MAX_TEXT_BYTES: usize = 1 << 20;

/// What is left to be read.
struct Left {
    settings: usize,
    text_bytes: usize,
    /// Texts for which there was no room.
    dropped: u64,
}

impl Builder {
    /// The files in a dict of texts by path.
    pub(super) fn sources(&self, value: Value) -> Sources {
        let container = value.handle(Kind::Dict).map(|dict| self.dicts.get(dict));
        let Some(DictState::Loose(container)) = container else { return Sources::default() };
        let files = self.loose.get(container).chunks_exact(2).filter_map(|pair| {
            let [path, text] = [pair[0], pair[1]].map(|value| value.handle(Kind::Str).map(Self::str_id));
            path.zip(text)
        });
        Sources::new(files.collect(), &self.strings)
    }

    /// The settings in a dict, in file order.
    pub(super) fn settings(&mut self, value: Value) -> Vec<Setting> {
        let mut left = Left { settings: MAX_SETTINGS, text_bytes: MAX_TEXT_BYTES, dropped: 0 };
        let setting = self.setting(value, 0, &mut left);
        self.notes.skipped("settings of long texts, beyond the first MiB", left.dropped);
        match setting {
            SettingValue::Table(settings) => settings,
            _ => Vec::new(),
        }
    }

    fn setting(&self, value: Value, depth: usize, left: &mut Left) -> SettingValue {
        match value.view() {
            View::Bool(b) => SettingValue::Bool(b),
            View::Int(i) => SettingValue::Int(i),
            View::Float(f) => SettingValue::Float(f),
            View::Ref(Kind::Str, text) => {
                self.text(Self::str_id(text), left).map_or(SettingValue::None, SettingValue::Text)
            }
            View::Ref(Kind::Dict, dict) if depth < MAX_DEPTH => {
                let DictState::Loose(container) = self.dicts.get(dict) else {
                    return SettingValue::Table(Vec::new());
                };
                let pairs = self.loose.get(container).chunks_exact(2);
                let mut settings = Vec::new();
                for pair in pairs {
                    let Some(name) = pair[0].handle(Kind::Str).filter(|_| left.settings != 0) else {
                        continue;
                    };
                    if depth == 0 && self.strings.name(Self::str_id(name)) == CENSUS {
                        continue;
                    }
                    left.settings -= 1;
                    let Some(name) = self.text(Self::str_id(name), left) else { continue };
                    settings.push(Setting { name, value: self.setting(pair[1], depth + 1, left) });
                }
                SettingValue::Table(settings)
            }
            View::Ref(Kind::List, list) if depth < MAX_DEPTH => {
                let ListState::Loose(container) = self.lists.get(list) else {
                    return SettingValue::List(Vec::new());
                };
                let mut values = Vec::new();
                for &value in self.loose.get(container) {
                    let Some(rest) = left.settings.checked_sub(1) else { break };
                    left.settings = rest;
                    values.push(self.setting(value, depth + 1, left));
                }
                SettingValue::List(values)
            }
            _ => SettingValue::None,
        }
    }

    /// A text, if there is room left for it.
    fn text(&self, text: StrId, left: &mut Left) -> Option<String> {
        let rest = left.text_bytes.checked_sub(self.strings.whole_bytes(text).len());
        left.dropped += u64::from(rest.is_none());
        left.text_bytes = rest?;
        Some(self.strings.whole(text).into_owned())
    }
}
