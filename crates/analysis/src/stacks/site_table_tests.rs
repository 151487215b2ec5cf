//! The table of sites against plain sums.

use super::*;
use crate::{Clock, Measure, stack_totals};
use oomscope_fixtures::first;
use oomscope_fixtures::stacks::Recording;
use oomscope_model::Moment;

#[test]
fn stacks_that_share_their_first_own_frame_are_one_site() {
    let mut recording = Recording::default();
    let frames = ["model.py:3 forward", "train.py:9 main"];
    let linear = recording.stack(&["/torch/nn.py:1 linear", frames[0], frames[1]]);
    let relu = recording.stack(&["/torch/nn.py:2 relu", frames[0], frames[1]]);
    let main = recording.stack(&frames[1..]);
    for (slot, size, stack) in [(0, 10, linear), (1, 30, relu), (2, 5, relu), (3, 40, main), (4, 2, linear)] {
        recording.alloc(slot, size, stack, None);
    }
    let recording = first(recording.finish());
    let names = FrameNames::new(recording.snapshot());
    let sites = SiteTable::new(recording.snapshot(), &names);
    let live = Measure::Live { at: Moment(5) };
    let totals = stack_totals(&recording, Clock::of(&recording), live, |_| true);
    let rows = sites.rows(&totals, |_| true);
    let read: Vec<_> = rows
        .iter()
        .map(|row| {
            (
                names.get(row.site).label.as_str(),
                row.stack,
                row.stacks,
                row.totals.bytes.0,
                row.totals.largest.0,
            )
        })
        .collect();
    assert_eq!(read, [("model.py:3 forward", relu, 2, 47, 30), ("train.py:9 main", main, 1, 40, 40)]);
    let of_relu = sites.rows(&totals, |stack| stack == relu);
    assert_eq!(of_relu.iter().map(|row| (row.stack, row.totals.bytes.0)).collect::<Vec<_>>(), [(relu, 35)]);
    let (all, heaviest) = totals.of_all(|stack| sites.site(stack) == rows[0].site);
    assert_eq!((all, heaviest), (rows[0].totals, Some(relu)));
}
