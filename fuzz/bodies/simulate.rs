//! Made-up requests under made-up settings.

use super::choices::Choices;
use super::made_up;
use oomscope_model::{Moment, Recording, Timeline};
use oomscope_program::projection::Unprojected;
use oomscope_report::{Simulation, TextStyle, simulation_json, simulation_text};
use oomscope_simulator::{Device, Settings, Subject, recommended, smallest_capacity, sweep};

const SETTINGS: [&str; 12] = [
    "expandable_segments:True",
    "max_split_size_mb:21",
    "max_split_size_mb:9999999999999",
    "max_non_split_rounding_mb:21",
    "max_non_split_rounding_mb:17592186044415",
    "garbage_collection_threshold:0.01",
    "per_process_memory_fraction:0.5",
    "roundup_power2_divisions:8",
    "roundup_power2_divisions:[256:1,512:2,1024:4,>:8]",
    "roundup_power2_divisions:2147483648",
    "large_segment_size_mb:64",
    "large_segment_size_mb:17592186044414",
];

pub(crate) fn body(bytes: &[u8]) {
    let choices = &mut Choices::new(bytes);
    let settings: Vec<Settings> = (0..=choices.below(3)).map(|_| settings(choices)).collect();
    let known = device(choices);
    let factor = f64::from(choices.short()) / 256.0;
    let snapshot = made_up::snapshot(choices);
    for recording in Recording::all(&snapshot) {
        let recorded = Subject::on_device(&recording, known);
        assert!(recorded.fidelity().identical <= recorded.fidelity().events);
        let other = recorded.scaled(|event| if event.0 % 2 == 0 { factor } else { 1.0 });
        for subject in [&recorded, &other] {
            let outcomes = sweep(subject, &settings, &subject.device());
            let smallest = smallest_capacity(subject, &settings[0]);
            let simulation = Simulation {
                file: "fuzz",
                recording: &recording,
                recorded: subject.recorded_settings(),
                fidelity: subject.fidelity(),
                projected: Err(Unprojected::Complete),
                capacity_bytes: known.limit_bytes(),
                is_capacity_given: known.capacity_bytes.is_some(),
                change: String::new(),
                is_sweep: true,
                outcomes: &outcomes,
                recommended: recommended(subject.recorded_settings(), &outcomes),
                smallest: smallest.as_ref().map(|(outcome, _)| outcome),
                smallest_bytes: smallest.as_ref().map(|&(_, bytes)| bytes),
            };
            simulation_text(&mut Vec::new(), &simulation, TextStyle::default())
                .expect("memory can be written");
            simulation_json(&mut Vec::new(), &simulation).expect("memory can be written");
            layouts(subject, &settings[0], &recording);
        }
    }
}

/// Segment maps at some moments: blocks lie within their segment, one after the other.
fn layouts(subject: &Subject, settings: &Settings, timeline: &Timeline) {
    let last = timeline.events.len() as u32;
    for moment in [Moment::START, Moment(last / 2), Moment(last)] {
        subject.layout_at(settings, &subject.device(), moment);
    }
}

fn settings(choices: &mut Choices<'_>) -> Settings {
    let mut settings = Settings::default();
    for _ in 0..choices.below(4) {
        let text = if choices.once_in(8) { choices.text() } else { choices.pick(&SETTINGS).to_owned() };
        // What torch refuses changes nothing.
        settings.set_all(&text).ok();
    }
    settings
}

fn device(choices: &mut Choices<'_>) -> Device {
    let mut bytes = || match choices.byte() {
        0..100 => None,
        100..250 => Some(u64::from(choices.short()) << 12),
        _ => Some(choices.absurd().unsigned_abs()),
    };
    Device { capacity_bytes: bytes(), total_bytes: bytes(), allowed_bytes: bytes() }
}
