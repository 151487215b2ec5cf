//! Whether expandable segments are in effect, as a file shows it.

use super::{Settings, pairs};
use crate::model::{Action, CONF_VARIABLES, SettingValue, Snapshot, Timeline};

/// What a file shows of expandable segments on one device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpandableSegments {
    /// Nobody asked for them, and no segment is expandable.
    Off,
    /// They are in effect.
    InEffect,
    /// They were asked for, but no segment is expandable: torch ignores the setting where it was built without them.
    NotInEffect,
}

impl ExpandableSegments {
    /// Look at the settings, the segments and the events of a device.
    pub fn of(snapshot: &Snapshot, timeline: &Timeline) -> Self {
        let (events, segments) = (&timeline.events, &timeline.segments.segments);
        let has = |wanted| events.indices().any(|ix| events.action(ix) == wanted);
        let is_on = Settings::recorded(snapshot).expandable_segments;
        if segments.iter().any(|segment| segment.is_expandable) || has(Action::SegmentMap) {
            Self::InEffect
        } else if !is_on && !is_asked_for(snapshot) {
            Self::Off
        } else if is_on && segments.is_empty() && !has(Action::SegmentAlloc) {
            // No segment shows whether the setting that torch states is obeyed.
            Self::InEffect
        } else {
            Self::NotInEffect
        }
    }

    /// Whether they may be advised, and tried as a change: not where the file shows that they were asked for.
    pub fn may_be_advised(self) -> bool {
        self == Self::Off
    }

    /// Whether a change to the settings is worth a try: not one to expandable segments where they may not be advised.
    pub(in crate::simulator) fn allows(self, change: &str) -> bool {
        match self {
            Self::Off => true,
            Self::InEffect => !change.contains("expandable_segments:True"),
            Self::NotInEffect => !change.contains("expandable_segments"),
        }
    }
}

impl Settings {
    /// The settings that a device was recorded with, as far as its segments show that they were obeyed.
    pub fn in_effect(snapshot: &Snapshot, timeline: &Timeline) -> Self {
        let recorded = Self::recorded(snapshot);
        let is_ignored = ExpandableSegments::of(snapshot, timeline) == ExpandableSegments::NotInEffect;
        Self { expandable_segments: recorded.expandable_segments && !is_ignored, ..recorded }
    }
}

/// Whether the text of the environment asks for them.
fn is_asked_for(snapshot: &Snapshot) -> bool {
    let texts = snapshot.settings.iter().filter(|setting| CONF_VARIABLES.contains(&setting.name.as_str()));
    texts.into_iter().any(|setting| {
        let SettingValue::Text(text) = &setting.value else { return false };
        let mut values = pairs(text).into_iter().filter(|(key, _)| *key == "expandable_segments");
        values.next_back().is_some_and(|(_, value)| value.trim().eq_ignore_ascii_case("true"))
    })
}
