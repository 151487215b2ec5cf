//! What is known of the thing that a menu is about.

use crate::device::Selection;
use crate::panes::OpenDevice;
use crate::pointed::{OpenMenu, Thing};
use crate::rules::Scope;
use oomscope_analysis::{Category, SiteFrame, frame_line, site_frame, site_label, site_place};
use oomscope_model::{AllocId, Recording, ReservedRange, StackId};
use oomscope_units as units;
use tr::tr;

/// A thing with everything that actions need to know of it.
pub(super) struct About {
    pub(super) recording: Recording,
    pub(super) thing: Thing,
    /// The thing itself, or one that stands for it.
    pub(super) allocation: Option<AllocId>,
    pub(super) stack: Option<StackId>,
    /// Its line of code, and whether that names stacks or is in the middle of them.
    pub(super) line: Option<(SiteFrame, Scope)>,
    /// The category, and whether a rule of the user decided it.
    pub(super) category: Option<(Category, bool)>,
    /// The segment, as it is at the cursor, else as it was last.
    pub(super) segment: Option<ReservedRange>,
}

impl About {
    pub(super) fn new(device: &OpenDevice, menu: &OpenMenu) -> Self {
        let (recording, thing) = (&device.recording, menu.pointed.thing.clone());
        let own = own_allocation(&thing);
        let allocation = own.or(menu.example);
        let stack = stack(recording, &thing, own);
        let category = device.derived.attribution().zip(allocation).map(|(found, id)| {
            let verdict = found.categories.verdict(id);
            (verdict.category, verdict.rule.rule().id == "rules-file")
        });
        Self {
            line: line(recording, &thing, stack),
            segment: segment(device, &thing),
            recording: recording.clone(),
            category: category.or_else(|| meant_category(&thing).map(|category| (category, false))),
            thing,
            allocation,
            stack,
        }
    }

    /// The thing in a few words.
    pub(super) fn title(&self) -> String {
        let timeline = self.recording.timeline();
        let of_line = self.line.as_ref().map(|(frame, _)| format!(" · {}", frame_line(frame)));
        let of_line = of_line.unwrap_or_default();
        match &self.thing {
            Thing::Allocation(id) => format!("{}{of_line}", units::bytes(timeline.size(*id))),
            Thing::Event { event, .. } => format!("{}{of_line}", tr!("Event {}", units::count(event.0))),
            Thing::Segment { addr } => tr!("Segment {}", units::address(*addr)),
            Thing::Meaning { label, .. } => label.clone(),
            Thing::Range { name, .. } => name.clone(),
            Thing::Stack(_) | Thing::Line { .. } | Thing::Frame { .. } => match &self.line {
                Some((frame, _)) => frame_line(frame),
                None => site_label(self.recording.snapshot(), self.stack.unwrap_or(StackId::EMPTY)),
            },
        }
    }

    /// What a click on it selects.
    pub(super) fn selection(&self) -> Selection {
        match (&self.thing, self.stack) {
            (Thing::Allocation(id), _) => Selection::Allocation(*id),
            (Thing::Event { of, .. }, _) => *of,
            (Thing::Segment { addr }, _) => Selection::Segment { addr: *addr },
            (Thing::Stack(_) | Thing::Line { .. } | Thing::Frame { .. }, Some(stack)) => {
                Selection::Stack(stack)
            }
            _ => Selection::None,
        }
    }

    /// The allocation, where the thing is one.
    pub(super) fn own_allocation(&self) -> Option<AllocId> {
        own_allocation(&self.thing)
    }
}

fn own_allocation(thing: &Thing) -> Option<AllocId> {
    match thing {
        Thing::Allocation(id) | Thing::Event { of: Selection::Allocation(id), .. } => Some(*id),
        _ => None,
    }
}

fn stack(recording: &Recording, thing: &Thing, own: Option<AllocId>) -> Option<StackId> {
    let stack = match thing {
        Thing::Stack(stack) => Some(*stack),
        Thing::Event { event, .. } => Some(recording.events.stack(*event)),
        Thing::Line { stack, .. } | Thing::Frame { stack, .. } => *stack,
        _ => own.map(|id| recording.stack(id)),
    };
    stack.filter(|stack| *stack != StackId::EMPTY)
}

/// The line of a thing: that of its frame, else the site of its stack.
fn line(recording: &Recording, thing: &Thing, stack: Option<StackId>) -> Option<(SiteFrame, Scope)> {
    let snapshot = recording.snapshot();
    let site = stack.and_then(|stack| {
        let frames = snapshot.stacks.frames(stack).iter().map(|&id| site_frame(snapshot, id));
        let mut frames: Vec<SiteFrame> = frames.collect();
        site_place(&frames).map(|at| frames.swap_remove(at))
    });
    let frame = match thing {
        Thing::Line { frame, .. } => Some(frame.clone()),
        Thing::Frame { frame, .. } => Some(frame.clone()?),
        _ => None,
    };
    match frame {
        Some(frame) if site.as_ref() != Some(&frame) => Some((frame, Scope::AnyFrame)),
        _ => site.map(|site| (site, Scope::Site)),
    }
}

/// The category that a meaning of a colour stands for.
fn meant_category(thing: &Thing) -> Option<Category> {
    let Thing::Meaning { query, .. } = thing else { return None };
    Category::from_key(query.strip_prefix("category:")?)
}

fn segment(device: &OpenDevice, thing: &Thing) -> Option<ReservedRange> {
    let (Thing::Segment { addr } | Thing::Event { of: Selection::Segment { addr }, .. }) = thing else {
        return None;
    };
    let all = || device.recording.ranges.all().iter().filter(|range| range.contains(*addr));
    all().find(|range| range.is_live_at(device.at.cursor)).or_else(|| all().next_back()).copied()
}

/// An allocation that stands for a thing: the largest that is live at the cursor, else the first there was.
pub(super) fn example(device: &OpenDevice, thing: &Thing) -> Option<AllocId> {
    let recording = &device.recording;
    let (stack, category) = (stack(recording, thing, None), meant_category(thing));
    let found = device.derived.attribution();
    let is_meant = |id: &AllocId| match (category, stack) {
        (Some(category), _) => found.is_some_and(|found| found.categories.get(*id) == category),
        (None, Some(stack)) => recording.stack(*id) == stack,
        (None, None) => false,
    };
    if own_allocation(thing).is_some() || (stack.is_none() && category.is_none()) {
        return None;
    }
    let live = recording.lifetimes.live_at(device.at.cursor).filter(is_meant);
    live.max_by_key(|&id| recording.size(id)).or_else(|| recording.ids().find(is_meant))
}
