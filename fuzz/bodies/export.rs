//! A made-up recording in all formats of other programs, and as a snapshot again.

use super::choices::Choices;
use super::made_up;
use oomscope_analysis::{Attribution, UserRules};
use oomscope_export::cut::{CutOptions, DeviceRange, cut};
use oomscope_export::interchange::{Content, FORMATS, Portion, Progress, Selection, TABLES};
use oomscope_model::{Recording, Snapshot};
use oomscope_pickle as pickle;
use oomscope_snapshot::Builder;
use std::sync::Arc;

pub(crate) fn body(bytes: &[u8]) {
    let choices = &mut Choices::new(bytes);
    let ends = [choices.byte(), choices.byte()].map(u32::from);
    let redacts = choices.once_in(2);
    let snapshot = made_up::snapshot(choices);
    let portion = |recording: Recording| {
        let attribution = Attribution::of(&recording, &UserRules::default());
        let whole = Portion::whole(recording, Arc::new(attribution));
        if redacts { whole.within(ends) } else { whole }
    };
    let selection = Selection::new(&snapshot, Recording::all(&snapshot).map(portion).collect());
    for format in FORMATS {
        let mut out = Vec::new();
        let mut report = |_| {};
        let progress = &mut Progress::new(&mut report);
        match format.content {
            Content::Table(open) => TABLES.into_iter().for_each(|table| {
                let mut writer = open(&mut out, &table.columns());
                table.write(&selection, &mut *writer, progress).expect("memory can be written");
            }),
            Content::Database(write) | Content::Stacks(write) | Content::Trace(write) => {
                write(&selection, &mut out, progress).expect("memory can be written");
            }
        }
    }
    check_cut(&snapshot, CutOptions { redacts, strips_compiled: redacts });
}

/// The recording as a snapshot again: it loads, with the same number of events.
fn check_cut(snapshot: &Arc<Snapshot>, options: CutOptions) {
    let whole = |recording: Recording| DeviceRange {
        events: 0..recording.events.len() as u32,
        recording,
        matches: None,
    };
    let ranges: Vec<DeviceRange> = Recording::all(snapshot).map(whole).collect();
    let all = cut(snapshot, &ranges, options);
    let mut out = Vec::new();
    all.write(&mut out).expect("memory can be written");
    let mut builder = Builder::default();
    let decoded = pickle::decode(out.as_slice(), &mut builder, None).expect("its own pickle");
    let again = builder.finish(decoded).expect("its own snapshot");
    assert!(again.damage.is_none());
    let events = |of: &Snapshot| of.timelines.iter().map(|one| one.events.len()).sum::<usize>();
    assert_eq!(events(&again), events(snapshot));
}
