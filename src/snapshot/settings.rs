//! Dicts of the snapshot itself: `allocator_settings`, of scalars and small tables, and `source_code`, of texts.

use super::builder::Builder;
use super::containers::DictState;
use crate::model::{Setting, SettingValue, Sources};
use crate::pickle::{Kind, Value, View};

/// The deepest nesting of tables that is read. torch nests one; the limit keeps recursion short.
const MAX_DEPTH: usize = 4;

/// The most settings that are read in all. torch has a few dozen; tables that share their entries would multiply.
const MAX_SETTINGS: usize = 2000;

impl Builder {
    /// The files in a dict of texts by path.
    pub(super) fn sources(&self, value: Value) -> Sources {
        let container = value.handle(Kind::Dict).map(|dict| self.dicts.get(dict));
        let Some(DictState::Loose(container)) = container else { return Sources::default() };
        let files = self.loose.get(container).chunks_exact(2).filter_map(|pair| {
            let [path, text] = [pair[0], pair[1]].map(|value| value.handle(Kind::Str).map(Self::str_id));
            path.zip(text)
        });
        Sources::new(files.collect())
    }

    /// The settings in a dict, in file order.
    pub(super) fn settings(&self, value: Value) -> Vec<Setting> {
        match self.setting(value, 0, &mut MAX_SETTINGS.clone()) {
            SettingValue::Table(settings) => settings,
            _ => Vec::new(),
        }
    }

    fn setting(&self, value: Value, depth: usize, left: &mut usize) -> SettingValue {
        match value.view() {
            View::Bool(b) => SettingValue::Bool(b),
            View::Int(i) => SettingValue::Int(i),
            View::Float(f) => SettingValue::Float(f),
            View::Ref(Kind::Str, text) => {
                SettingValue::Text(self.strings.get(Self::str_id(text)).into_owned())
            }
            View::Ref(Kind::Dict, dict) if depth < MAX_DEPTH => {
                let DictState::Loose(container) = self.dicts.get(dict) else {
                    return SettingValue::Table(Vec::new());
                };
                let pairs = self.loose.get(container).chunks_exact(2);
                let mut settings = Vec::new();
                for pair in pairs {
                    let Some(name) = pair[0].handle(Kind::Str).filter(|_| *left != 0) else { continue };
                    *left -= 1;
                    let name = self.strings.get(Self::str_id(name)).into_owned();
                    settings.push(Setting { name, value: self.setting(pair[1], depth + 1, left) });
                }
                SettingValue::Table(settings)
            }
            _ => SettingValue::None,
        }
    }
}
