//! One pass over all allocations, with what it needs to know beforehand.

use super::buckets;
use super::explicit::Labels;
use super::heirs;
use super::main_code::MainCode;
use super::pairing;
use super::unrecorded;
use super::verdicts::Verdicts;
use super::workspaces;
use super::{Category, Reason, Rules, Verdict};
use crate::analysis::address_order::{AddressKey, AddressOrder};
use crate::analysis::announced::Announced;
use crate::analysis::flow::{Act, Flow, Part, Place, Places};
use crate::analysis::phases::Phases;
use crate::analysis::pools::PoolPlaces;
use crate::model::{AllocId, EventIx, Moment, Snapshot, StackId, Timeline};
use foldhash::HashMap;

/// Everything that rules look at.
pub(super) struct Scene<'a> {
    pub(super) timeline: &'a Timeline,
    pub(super) places: &'a Places,
    pub(super) flow: &'a Flow,
    pub(super) phases: &'a Phases,
    pub(super) announced: &'a Announced,
    /// Which addresses are older.
    pub(super) order: AddressOrder,
    /// Pools by address, where events do not say theirs and some are private.
    pools: Option<PoolPlaces<'a>>,
    /// Stacks of blocks that are live at the end, where their events have none.
    stacks_at_end: HashMap<u64, StackId>,
}

impl<'a> Scene<'a> {
    fn new(
        timeline: &'a Timeline,
        places: &'a Places,
        flow: &'a Flow,
        phases: &'a Phases,
        announced: &'a Announced,
    ) -> Self {
        let blocks = timeline.segments.blocks.iter();
        let live = blocks.filter(|block| block.is_active() && block.stack != StackId::EMPTY);
        let stacks_at_end = live.map(|block| (block.addr, block.stack)).collect();
        let pools = has_hidden_pools(timeline).then(|| PoolPlaces::new(timeline));
        let order = AddressOrder::of(timeline);
        Self { timeline, places, flow, phases, announced, order, pools, stacks_at_end }
    }

    /// The stack of an allocation: its event's, else that of its block at the end.
    pub(super) fn stack(&self, id: AllocId) -> StackId {
        let Timeline { lifetimes, events, .. } = self.timeline;
        match lifetimes.stack(id, events) {
            StackId::EMPTY if lifetimes.end(id).is_none() && !self.stacks_at_end.is_empty() => {
                self.stacks_at_end.get(&lifetimes.addr(id, events)).copied().unwrap_or(StackId::EMPTY)
            }
            stack => stack,
        }
    }

    /// Whether blocks have stacks that their events have not.
    pub(super) fn has_stacks_at_end(&self) -> bool {
        !self.stacks_at_end.is_empty()
    }

    /// The event at which the program gave an allocation back.
    pub(super) fn gone(&self, id: AllocId) -> Option<EventIx> {
        let lifetimes = &self.timeline.lifetimes;
        lifetimes.requested(id).or(lifetimes.end(id)).and_then(Moment::event)
    }

    /// A key by which allocations with older addresses come first.
    pub(super) fn address_key(&self, id: AllocId) -> AddressKey {
        self.order.key(self.timeline.lifetimes.addr(id, &self.timeline.events))
    }

    pub(super) fn size(&self, id: AllocId) -> i64 {
        self.timeline.lifetimes.size(id, &self.timeline.events)
    }

    pub(super) fn ids(&self) -> impl DoubleEndedIterator<Item = AllocId> + use<> {
        (0..self.timeline.lifetimes.len() as u32).map(AllocId)
    }
}

/// Whether the pool of events is found only by the memory that they lie in.
fn has_hidden_pools(timeline: &Timeline) -> bool {
    let ranges = timeline.ranges.all().iter();
    let has_private = ranges.filter_map(|range| range.pool).any(crate::model::PoolKey::is_private);
    has_private && timeline.events.contexts().iter().any(|context| context.pool.is_none())
}

/// The category of every allocation.
pub(super) fn assign(
    snapshot: &Snapshot,
    timeline: &Timeline,
    rules: &Rules,
    places: &Places,
    flow: &Flow,
    phases: &Phases,
    announced: &Announced,
) -> Verdicts {
    let scene = Scene::new(timeline, places, flow, phases, announced);
    let labels = Labels::of(snapshot, timeline, rules);
    let habits = Habits::of(&scene);
    let main_code = MainCode::new(&scene);
    let mut verdicts: Verdicts = scene
        .ids()
        .map(|id| {
            let stack = scene.stack(id);
            let event = timeline.lifetimes.start(id).event();
            label(&scene, &labels, id, stack, event)
                .unwrap_or_else(|| by_stack(&scene, &habits, &main_code, id, stack))
        })
        .collect();
    pairing::adopt_parameters(&scene, &mut verdicts);
    pairing::adopt_caches(&scene, &mut verdicts);
    heirs::find(&scene, &mut verdicts);
    workspaces::find(&scene, &mut verdicts);
    unrecorded::fill(&scene, &mut verdicts);
    buckets::find(&scene, &mut verdicts);
    verdicts
}

fn label(
    scene: &Scene<'_>,
    labels: &Labels,
    id: AllocId,
    stack: StackId,
    event: Option<EventIx>,
) -> Option<Verdict> {
    let rule = labels.of_stack(stack);
    let recorded = || event.and_then(|event| labels.of_event(scene.timeline, event));
    let pool = || {
        let pool = match (event, &scene.pools) {
            (Some(event), None) => scene.timeline.events.pool(event),
            (_, pools) => {
                let allocation = scene.timeline.lifetimes.get(id, &scene.timeline.events);
                pools.as_ref().map_or(allocation.pool, |pools| pools.pool_of(&allocation))
            }
        };
        pool.is_some_and(crate::model::PoolKey::is_private)
            .then_some((Category::GraphPool, Reason::PrivatePool))
    };
    rule.or_else(recorded).or_else(pool)
}

fn by_stack(
    scene: &Scene<'_>,
    habits: &Habits,
    main_code: &MainCode<'_>,
    id: AllocId,
    stack: StackId,
) -> Verdict {
    let place = scene.places.get(stack);
    match place.part {
        Part::Nothing => nothing(scene, id),
        Part::Load => (Category::Parameter, Reason::ModuleLoad),
        Part::Call => in_call(scene, habits, id, stack, place),
        Part::Backward => (Category::Gradient, Reason::Backward),
        Part::Recompute => (Category::Activation, Reason::Recomputed),
        Part::State | Part::Foreach | Part::Step => in_step(scene, habits, id, stack, place.part),
        Part::Comm => (Category::Comm, Reason::CommBuffer),
        Part::Data => (Category::Input, Reason::Loader),
        Part::Workspace => (Category::Temporary, Reason::Workspace),
        Part::Main if scene.places.is_compiled => (Category::Unknown, Reason::Nothing),
        Part::Main | Part::Restore | Part::BetweenSteps | Part::ZeroGrad => {
            main_code.verdict(id, stack, place.part)
        }
    }
}

/// Without a stack: the autograd engine's, where the recording has stacks.
fn nothing(scene: &Scene<'_>, id: AllocId) -> Verdict {
    let event = scene.timeline.lifetimes.start(id).event();
    match event {
        Some(event) if scene.flow.acts.at(event.0) == Act::Backward => (Category::Gradient, Reason::Backward),
        _ => (Category::Unknown, Reason::Nothing),
    }
}

fn in_call(scene: &Scene<'_>, habits: &Habits, id: AllocId, stack: StackId, place: Place) -> Verdict {
    let event = scene.timeline.lifetimes.start(id).event();
    let trains = event.and_then(|event| scene.flow.call_at(event.0)).is_some_and(|call| call.trains);
    if !trains && place.in_cache {
        return (Category::KvCache, Reason::CacheCode);
    }
    if !trains && habits.is_kept_across_calls(stack, place) {
        return (Category::KvCache, Reason::KeptAcrossCalls);
    }
    (Category::Activation, Reason::ModuleCall)
}

fn in_step(scene: &Scene<'_>, habits: &Habits, id: AllocId, stack: StackId, part: Part) -> Verdict {
    let gone = scene.gone(id);
    let Some(start) = scene.timeline.lifetimes.start(id).event() else {
        return (
            Category::OptimizerState,
            if part == Part::State { Reason::StateSetup } else { Reason::KeptAfterStep },
        );
    };
    let end = habits.step_end(start.0);
    match gone {
        Some(gone) if gone.0 < end => (Category::Temporary, Reason::GoneWithStep),
        _ if part == Part::State => (Category::OptimizerState, Reason::StateSetup),
        Some(_) => (Category::OptimizerState, Reason::KeptAfterStep),
        None if end != habits.last_step_end => (Category::OptimizerState, Reason::KeptAfterStep),
        None => habits.in_last_step(stack, part),
    }
}

/// What the allocations of a stack did, where that decides.
#[derive(Default)]
struct Habits {
    /// Start and end of each optimizer step.
    steps: Vec<(u32, u32)>,
    /// The end of the step that the trace ends in; 0 if it ends elsewhere.
    last_step_end: u32,
    /// Whether that step ran out of memory.
    is_cut: bool,
    /// Of allocations in steps: how many were gone before the step was over, and how many stayed.
    in_steps: HashMap<StackId, (u32, u32)>,
    /// Of allocations in calls: how many were kept after the call and given back within a later
    /// one, and how many were not.
    in_calls: HashMap<StackId, (u32, u32)>,
}

impl Habits {
    fn of(scene: &Scene<'_>) -> Self {
        let mut out = Self::default();
        let runs = scene.flow.acts.runs.iter().filter(|run| run.act != Act::Nothing && run.act != Act::Aside);
        let mut is_open = false;
        for run in runs {
            is_open = match (run.act, out.steps.last_mut()) {
                (Act::Step, Some(last)) if is_open => {
                    last.1 = run.end;
                    true
                }
                (Act::Step, _) => {
                    out.steps.push((run.start, run.end));
                    true
                }
                _ => false,
            };
        }
        if is_open && let Some(last) = out.steps.last() {
            out.last_step_end = last.1;
            out.is_cut = scene.timeline.ooms.last().is_some_and(|oom| last.0 <= oom.event.0);
        }
        for id in scene.ids().skip(scene.timeline.lifetimes.initial_count()) {
            out.add(scene, id);
        }
        out
    }

    fn add(&mut self, scene: &Scene<'_>, id: AllocId) {
        let Some(start) = scene.timeline.lifetimes.start(id).event() else { return };
        match scene.flow.acts.at(start.0) {
            Act::Step => {
                let end = self.step_end(start.0);
                let stays = scene.gone(id).is_none_or(|gone| end <= gone.0);
                let count = self.in_steps.entry(scene.timeline.events.stack(start)).or_default();
                if stays { count.1 += 1 } else { count.0 += 1 }
            }
            Act::Call => {
                let Some(call) = scene.flow.call_at(start.0).filter(|call| !call.trains) else { return };
                let stack = scene.timeline.events.stack(start);
                if !scene.places.get(stack).in_helper {
                    return;
                }
                let Some(gone) = scene.gone(id) else { return };
                let count = self.in_calls.entry(stack).or_default();
                let is_later = call.end <= gone.0 && scene.flow.acts.at(gone.0) == Act::Call;
                if is_later { count.0 += 1 } else { count.1 += 1 }
            }
            _ => {}
        }
    }

    /// The event at which the step is over that an event lies in.
    fn step_end(&self, event: u32) -> u32 {
        let after = self.steps.partition_point(|step| step.0 <= event);
        after.checked_sub(1).and_then(|at| self.steps.get(at)).map_or(event + 1, |step| step.1)
    }

    /// Live at the end of a trace that ends within a step.
    fn in_last_step(&self, stack: StackId, part: Part) -> Verdict {
        let (gone, stayed) = self.in_steps.get(&stack).copied().unwrap_or_default();
        let is_temporary = match part {
            _ if !self.is_cut => false,
            Part::Foreach => true,
            _ => stayed <= gone || stayed == 1,
        };
        if is_temporary {
            (Category::Temporary, Reason::LikeGoneInStep)
        } else {
            (Category::OptimizerState, Reason::LikeKeptInStep)
        }
    }

    fn is_kept_across_calls(&self, stack: StackId, place: Place) -> bool {
        let (later, otherwise) = self.in_calls.get(&stack).copied().unwrap_or_default();
        place.in_helper && otherwise < later
    }
}
