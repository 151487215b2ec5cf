//! `allocator_settings`: a dict of scalars and small tables.

use super::builder::Builder;
use super::containers::DictState;
use crate::model::{Setting, SettingValue};
use crate::pickle::Value;

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
        match value {
            Value::Bool(b) => SettingValue::Bool(b),
            Value::Int(i) => SettingValue::Int(i),
            Value::Float(f) => SettingValue::Float(f),
            Value::Str(text) => SettingValue::Text(self.strings.get(Self::str_id(text)).into_owned()),
            Value::Dict(dict) if depth < MAX_DEPTH => {
                let DictState::Loose(container) = self.dicts.get(dict) else { return SettingValue::Table(Vec::new()) };
                let pairs = self.loose.get(container).chunks_exact(2);
                SettingValue::Table(
                    pairs
                        .filter_map(|pair| match pair[0] {
                            Value::Str(name) => Some(Setting {
                                name: self.strings.get(Self::str_id(name)).into_owned(),
                                value: self.setting(pair[1], depth + 1),
                            }),
                            _ => None,
                        })
                        .collect(),
                )
            }
            _ => SettingValue::None,
        }
    }
}
