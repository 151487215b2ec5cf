//! `allocator_settings`: a dict of scalars and small tables.

use super::builder::Builder;
use super::containers::DictState;
use crate::model::{Setting, SettingValue};
use crate::pickle::{Kind, Value, View};

/// The deepest table that is read.
const MAX_DEPTH: usize = 4;

impl Builder {
    /// The settings in a dict, in file order.
    pub(super) fn settings(&self, value: Value) -> Vec<Setting> {
        match self.setting(value, 0) {
            SettingValue::Table(settings) => settings,
            _ => Vec::new(),
        }
    }

    fn setting(&self, value: Value, depth: usize) -> SettingValue {
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
                SettingValue::Table(
                    pairs
                        .filter_map(|pair| {
                            let name =
                                self.strings.get(Self::str_id(pair[0].handle(Kind::Str)?)).into_owned();
                            Some(Setting { name, value: self.setting(pair[1], depth + 1) })
                        })
                        .collect(),
                )
            }
            _ => SettingValue::None,
        }
    }
}
