//! Useful settings side by side, and the one that is recommended.

use super::replay::Outcome;
use super::settings::{Device, ExpandableSegments, Settings};
use super::subject::Subject;
use rayon::prelude::*;

/// Changes that are tried, those that cost a program least first.
const CHANGES: [&str; 12] = [
    "expandable_segments:True",
    "max_split_size_mb:64",
    "max_split_size_mb:128",
    "max_split_size_mb:256",
    "max_split_size_mb:512",
    "roundup_power2_divisions:4",
    "roundup_power2_divisions:8",
    "large_segment_size_mb:64",
    "max_split_size_mb:128,roundup_power2_divisions:8",
    "expandable_segments:True,roundup_power2_divisions:8",
    "garbage_collection_threshold:0.8,per_process_memory_fraction:0.95",
    "expandable_segments:False",
];

/// The recorded settings, then the defaults where they differ, then useful changes to the recorded ones. Settings that
/// are a share of the device's memory are only tried where that is known.
pub fn useful_settings(subject: &Subject, device: &Device) -> Vec<Settings> {
    all_useful(subject.recorded_settings(), subject.expandable_segments(), device)
}

fn all_useful(recorded: &Settings, expandable: ExpandableSegments, device: &Device) -> Vec<Settings> {
    let mut all = vec![recorded.clone(), Settings::default()];
    for change in CHANGES.into_iter().filter(|change| expandable.allows(change)) {
        let mut settings = recorded.clone();
        let is_part = change.contains("per_process_memory_fraction");
        if (!is_part || device.limit_bytes().is_some()) && settings.set_all(change).is_ok() {
            all.push(settings);
        }
    }
    let mut distinct: Vec<Settings> = Vec::new();
    for settings in all {
        if !distinct.contains(&settings) {
            distinct.push(settings);
        }
    }
    distinct
}

/// The single settings among the changes that are tried, as names and values, where they differ from the recorded ones. A
/// share of the device's memory is none.
pub fn useful_changes(subject: &Subject) -> Vec<(&'static str, &'static str)> {
    let (recorded, expandable) = (subject.recorded_settings(), subject.expandable_segments());
    let differs = |&(name, value): &(&str, &str)| {
        let mut settings = recorded.clone();
        settings.set(name, value).is_ok() && settings != *recorded
    };
    let single = CHANGES.iter().filter(|change| !change.contains(',') && expandable.allows(change));
    single.filter_map(|change| change.split_once(':')).filter(differs).collect()
}

/// Simulate a recording under several settings, in parallel. The outcomes are in the same order.
pub fn sweep(subject: &Subject, settings: &[Settings], device: &Device) -> Vec<Outcome> {
    settings.par_iter().map(|settings| subject.simulate(settings, device)).collect()
}

/// The outcome of the smallest change to the recorded settings with which every request is met: fewest
/// settings, then fewest bytes. `None` if there is none, or if nothing needs to change.
pub fn recommended<'a>(recorded: &Settings, outcomes: &'a [Outcome]) -> Option<&'a Outcome> {
    let as_recorded = outcomes.iter().find(|outcome| outcome.settings == *recorded);
    if as_recorded.is_some_and(Outcome::fits) {
        return None;
    }
    let fitting = outcomes.iter().filter(|outcome| outcome.fits());
    fitting.min_by_key(|outcome| (outcome.settings.differences(recorded), outcome.peak_reserved_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_is_a_setting() {
        for change in CHANGES {
            assert_eq!(Settings::default().set_all(change), Ok(()), "{change}");
        }
    }

    #[test]
    fn settings_are_tried_once_and_the_recorded_ones_first() {
        let mut recorded = Settings::default();
        recorded.set_all("max_split_size_mb:128").expect("the setting is valid");
        let all = all_useful(&recorded, ExpandableSegments::Off, &Device::default());
        assert!(all.iter().all(|settings| settings.memory_fraction.is_none()));
        assert_eq!(all[0], recorded);
        assert_eq!(all[1], Settings::default());
        for (i, settings) in all.iter().enumerate() {
            assert!(!all[..i].contains(settings), "{} is tried twice", settings.conf());
        }
        assert!(
            all.iter().any(|settings| settings.conf() == "expandable_segments:True,max_split_size_mb:128")
        );
    }
}
