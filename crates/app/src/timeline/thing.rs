//! What a menu on the timeline is about: the block or segment under the pointer, or the colour where blocks are too thin.

use super::input::{self, Under};
use crate::device::{PaneCtx, TimelineMode};
use crate::pointed::Thing;
use oomscope_draw::{Palette, Pixel};

pub(super) fn of(ctx: &PaneCtx<'_>, palette: &Palette, under: Under) -> Option<Thing> {
    let timeline = ctx.recording.timeline();
    if let Pixel::Share(share) = under.pixel {
        let coloring = ctx.coloring(palette);
        let label = coloring.class_label(share.class, timeline);
        let mut keys = coloring.keys(timeline).into_iter().filter(|_| under.mode == TimelineMode::Blocks);
        let query = keys.find(|key| key.label == label)?.query?;
        return Some(Thing::Meaning { label, query });
    }
    Thing::selected(input::selection(timeline, under))
}
