//! The height of a view that fits what it shows.

use super::scale::Scale;
use super::view::{View, top_bytes};
use std::ops::Range;

/// Steps of the height for each halving. With four, at most a sixth of the height stays empty, and the scale does not
/// change with every event that a moving view uncovers.
const STEPS_PER_HALF: f64 = 4.0;

impl Scale<'_> {
    /// The view as high as the memory in it, in steps down from the height of `full`.
    pub fn fitting_height(&self, full: &View) -> View {
        let top = top_bytes(self.timeline, self.moments());
        let share = View::with_air(top) / full.height_bytes();
        let is_less = 0 < top && share < 1.0;
        let steps = if is_less { (-share.log2() * STEPS_PER_HALF).floor() } else { 0.0 };
        View {
            y0: full.y0,
            y1: full.y0 + full.height_bytes() / (steps / STEPS_PER_HALF).exp2(),
            ..*self.view
        }
    }

    /// The moments of which any part is in view.
    fn moments(&self) -> Range<usize> {
        let moments = self.timeline.moments() as f64;
        let inside = |moment: f64| moment.clamp(0.0, moments) as usize;
        inside(self.moment_from_x(0.0).floor())..inside(self.moment_from_x(1.0).floor() + 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oomscope_fixtures::timelines::{self as fixture, Step};
    use oomscope_model::Moment;
    use proptest::prelude::*;

    #[test]
    fn everything_has_the_full_height() {
        let timeline = fixture::timeline(&fixture::sawtooth(200));
        let full = View::fit(&timeline);
        assert_eq!(full.on(&timeline).fitting_height(&full), full);
    }

    #[test]
    fn a_failed_request_is_in_view() {
        let timeline = fixture::timeline(&[Step::Alloc(0, 4096), Step::Oom(1 << 30), Step::Alloc(1, 512)]);
        let full = View::fit(&timeline);
        let height = |x0, x1| View { x0, x1, ..full }.on(&timeline).fitting_height(&full).height_bytes();
        assert_eq!(height(1.0, 3.0), full.height_bytes());
        assert!(height(3.0, 4.0) < 8192.0);
    }

    proptest! {
        #[test]
        fn the_top_is_in_view_and_little_is_empty(
            raw in prop::collection::vec((0u64..96, 1i64..(1 << 20)), 1..80),
            from in 0usize..60,
            len in 2usize..40,
        ) {
            let timeline = fixture::timeline(&fixture::segments_and_blocks(&raw));
            let full = View::fit(&timeline);
            let view = View { x0: from as f64, x1: (from + len) as f64, ..full };
            let fitted = view.on(&timeline).fitting_height(&full);
            prop_assert_eq!((fitted.x0, fitted.x1, fitted.y0), (view.x0, view.x1, 0.0));
            if timeline.moments() <= from {
                prop_assert_eq!(fitted.y1, full.y1);
                return Ok(());
            }
            let seen = (from..(from + len).min(timeline.moments())).map(|m| Moment(m as u32));
            let top = seen.map(|m| timeline.active.at(m).max(timeline.reserved.at(m))).max().unwrap_or_default();
            prop_assert!(top.as_f64() <= fitted.y1 && fitted.y1 <= full.y1);
            // The next moment may be in view with its first part.
            let next = Moment((from + len).min(timeline.moments() - 1) as u32);
            let most = top.max(timeline.active.at(next)).max(timeline.reserved.at(next));
            prop_assert!(most == 0 || fitted.y1 < (most.as_f64() * 1.06).max(512.0) * 1.2);
        }
    }
}
