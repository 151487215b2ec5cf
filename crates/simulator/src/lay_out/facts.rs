//! What the recorder would have noted of a device, had there been one.

use crate::allocator::Counters;
use oomscope_model::{DeviceId, ESTIMATE_KEY, NeededMemory, Setting, SettingValue, Snapshot};

/// Note the peaks that the allocator counted, under the names that the recorder has for them.
pub(super) fn note_peaks(recorder: &mut Vec<Setting>, device: DeviceId, counters: &Counters) {
    let peaks = [
        ("peak_requested_bytes", counters.requested_bytes.peak),
        ("peak_reserved_bytes", counters.reserved_bytes.peak),
    ];
    in_table(recorder, "devices", |devices| {
        in_table(devices, &device.0.to_string(), |about| {
            for (name, peak_bytes) in peaks {
                let value = SettingValue::Int(i64::try_from(peak_bytes).unwrap_or(i64::MAX));
                about.retain(|setting| setting.name != name);
                about.push(Setting { name: name.to_owned(), value });
            }
        });
    });
}

/// Note what is needed of the devices that were asked about, beside what the estimate says of itself.
pub fn note_needed(snapshot: &mut Snapshot, needed: &[NeededMemory<'_>]) {
    let new = NeededMemory::setting(needed);
    in_table(&mut snapshot.recorder, ESTIMATE_KEY, |estimate| {
        estimate.retain(|known| known.name != new.name);
        estimate.push(new);
    });
}

/// Change the table of a name, which is made where there is none.
fn in_table(settings: &mut Vec<Setting>, name: &str, change: impl FnOnce(&mut Vec<Setting>)) {
    for setting in settings.iter_mut() {
        if let (true, SettingValue::Table(entries)) = (setting.name == name, &mut setting.value) {
            return change(entries);
        }
    }
    let mut entries = Vec::new();
    change(&mut entries);
    settings.push(Setting { name: name.to_owned(), value: SettingValue::Table(entries) });
}
