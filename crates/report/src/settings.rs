//! Allocator settings that were changed by the user.

use oomscope_model::{Setting, SettingValue, Snapshot};
use oomscope_units as units;

/// Settings that differ from the allocator's default, as `name=value`, in file order.
///
/// Defaults are those of `CUDAAllocatorConfig.h` in torch 2.15.
pub fn non_default_settings(snapshot: &Snapshot) -> Vec<String> {
    snapshot.settings.iter().filter(|s| !is_default(s)).map(describe).collect()
}

/// The facts of oomscope's own recorder in a line: the versions, the rank, the step and why it wrote the file.
pub(super) fn recorder_line(snapshot: &Snapshot) -> Option<String> {
    let fact = |name: &str| snapshot.recorder.iter().find(|s| s.name == name).map(|s| &s.value);
    let text = |name| fact(name).filter(|&value| *value != SettingValue::None).map(value_text);
    let of_world = text("world_size").map_or_else(String::new, |world| format!(" of {world}"));
    let parts = [
        text("recorder").map(|version| format!("oomscope {version}")),
        text("torch").map(|version| format!("torch {version}")),
        text("rank").map(|rank| format!("rank {rank}{of_world}")),
        text("step").map(|step| format!("step {step}")),
        text("reason").map(|reason| format!("written on: {reason}")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(" · "))
}

fn is_default(setting: &Setting) -> bool {
    match (setting.name.as_str(), &setting.value) {
        (_, SettingValue::None | SettingValue::Bool(false)) => true,
        (_, SettingValue::Text(text)) => text.is_empty(),
        ("pinned_num_register_threads", value) => *value == SettingValue::Int(1),
        (_, SettingValue::Int(n)) => matches!(n, -1 | 0) || *n == i64::MAX,
        (_, SettingValue::Float(f)) => *f == 0.0,
        (_, SettingValue::Table(entries)) => entries.iter().all(is_default),
        (_, SettingValue::List(values)) => values.is_empty(),
        (_, SettingValue::Bool(true)) => false,
    }
}

fn describe(setting: &Setting) -> String {
    format!("{}={}", units::printable(&setting.name), value_text(&setting.value))
}

pub(super) fn value_text(value: &SettingValue) -> String {
    match value {
        SettingValue::None => "None".to_owned(),
        SettingValue::Bool(true) => "True".to_owned(),
        SettingValue::Bool(false) => "False".to_owned(),
        SettingValue::Int(n) => n.to_string(),
        SettingValue::Float(f) => f.to_string(),
        SettingValue::Text(text) => units::printable(text),
        SettingValue::Table(entries) => {
            let entry = |s: &Setting| format!("{}:{}", units::printable(&s.name), value_text(&s.value));
            format!("[{}]", entries.iter().map(entry).collect::<Vec<_>>().join(","))
        }
        SettingValue::List(values) => {
            format!("[{}]", values.iter().map(value_text).collect::<Vec<_>>().join(","))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_changed_settings_are_named() {
        let setting = |name: &str, value| Setting { name: name.to_owned(), value };
        let snapshot = Snapshot {
            settings: vec![
                setting("PYTORCH_CUDA_ALLOC_CONF", SettingValue::Text("expandable_segments:True".to_owned())),
                setting("max_split_size", SettingValue::Int(-1)),
                setting("expandable_segments", SettingValue::Bool(true)),
                setting("pinned_num_register_threads", SettingValue::Int(1)),
                setting(
                    "roundup_power2_divisions",
                    SettingValue::Table(vec![setting("1", SettingValue::Int(4))]),
                ),
            ],
            ..Snapshot::default()
        };
        assert_eq!(
            non_default_settings(&snapshot),
            [
                "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
                "expandable_segments=True",
                "roundup_power2_divisions=[1:4]"
            ]
        );
    }

    #[test]
    fn the_recorder_is_a_line() {
        let fact = |name: &str, value| Setting { name: name.to_owned(), value };
        let text = |text: &str| SettingValue::Text(text.to_owned());
        let recorder = vec![
            fact("recorder", text("0.1.0")),
            fact("torch", text("2.15.0\u{1b}")),
            fact("rank", SettingValue::Int(3)),
            fact("world_size", SettingValue::None),
            fact("reason", text("oom")),
        ];
        let line = recorder_line(&Snapshot { recorder, ..Snapshot::default() });
        let expected =
            format!("oomscope 0.1.0 · torch {} · rank 3 · written on: oom", units::printable("2.15.0\u{1b}"));
        assert_eq!(line, Some(expected));
        assert_eq!(recorder_line(&Snapshot::default()), None);
    }
}
