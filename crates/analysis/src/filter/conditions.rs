//! The terms of a query made ready for one device: what is the same for all rows with one stack, or with
//! one context, is in tables, so that a row costs a few look-ups.

use super::common_terms::{CommonTest, PoolIs, Queried, RowCheck, by_context};
use super::notes::Notes;
use super::term::{Term, Test};
use crate::Phases;
use crate::segments::pools::lacks_pools;
use oomscope_model::{Context, Recording, Timeline};

/// Terms that must all hold. `C` are the checks that only the query's subject has.
#[derive(Debug)]
pub(super) struct Conditions<C> {
    /// By stack; empty where stacks do not matter.
    by_stack: Vec<bool>,
    /// By context; empty where contexts do not matter. Those of the events come first, then one for each
    /// allocation from before the first event, whose context no event has.
    by_context: Vec<bool>,
    checks: Vec<SignedCheck<C>>,
    notes: Notes,
}

/// A condition that each row has to be asked for.
#[derive(Debug)]
struct SignedCheck<C> {
    is_negated: bool,
    check: Check<C>,
}

#[derive(Debug)]
enum Check<C> {
    Row(RowCheck),
    /// By row.
    Listed(Vec<bool>),
    Own(C),
}

/// A check that only rows of one kind can be asked.
pub(super) trait OwnCheck<R> {
    fn holds(&self, row: &R) -> bool;
}

/// Where terms are looked up.
#[derive(Clone, Copy)]
pub(super) struct Device<'a> {
    pub(super) recording: &'a Recording,
    /// Iterations and phases; only asked where a term needs them.
    pub(super) phases: &'a Phases,
    /// By row, whether it is in one of the pools. Only asked where events lack their pool.
    pub(super) in_pools: fn(&[PoolIs], &Timeline) -> Vec<bool>,
}

impl<C> Conditions<C> {
    /// Fill the tables. `own` makes the checks that only the subject has, `missing` says why its tests
    /// cannot hold.
    pub(super) fn new<T>(
        terms: &[Term<T>],
        device: Device<'_>,
        own: impl Fn(&T, &mut Notes) -> C,
        missing: impl Fn(&T) -> Option<&'static str>,
    ) -> Self {
        let mut out = Self {
            by_stack: Vec::new(),
            by_context: Vec::new(),
            checks: Vec::new(),
            notes: Notes::default(),
        };
        for Term { is_negated, test } in terms {
            match test {
                Test::Common(test) => out.add_common(*is_negated, test, device),
                Test::Own(test) => {
                    let check = Check::Own(own(test, &mut out.notes));
                    out.checks.push(SignedCheck { is_negated: *is_negated, check });
                }
            }
        }
        let why = terms.iter().filter_map(|term| match &term.test {
            Test::Common(test) => test.missing(device.recording, device.phases),
            Test::Own(test) => missing(test),
        });
        why.for_each(|note| out.notes.add(note));
        out
    }

    fn add_common(&mut self, is_negated: bool, test: &CommonTest, device: Device<'_>) {
        let Device { recording, phases, in_pools } = device;
        match test {
            CommonTest::Stack(test) => {
                and(&mut self.by_stack, is_negated, test.by_stack(recording.snapshot()));
            }
            CommonTest::Context(test) => {
                and(&mut self.by_context, is_negated, test.by_context(recording));
            }
            CommonTest::Pool(pools) if lacks_pools(recording) => {
                let check = Check::Listed(in_pools(pools, recording));
                self.checks.push(SignedCheck { is_negated, check });
            }
            CommonTest::Pool(pools) => {
                let is_one = |context: &Context| context.pool.is_some_and(|pool| PoolIs::any(pools, pool));
                and(&mut self.by_context, is_negated, by_context(recording, is_one));
            }
            CommonTest::Row(test) => {
                let check = Check::Row(test.check(recording, phases, &mut self.notes));
                self.checks.push(SignedCheck { is_negated, check });
            }
        }
    }

    /// The query asks for this, and the device cannot answer it: what was not recorded.
    pub(super) fn notes(&self) -> &[String] {
        self.notes.all()
    }

    /// The checks that only the subject has and that all matches pass.
    pub(super) fn required(&self) -> impl Iterator<Item = &C> {
        self.checks.iter().filter(|signed| !signed.is_negated).filter_map(|signed| match &signed.check {
            Check::Own(check) => Some(check),
            _ => None,
        })
    }

    /// Whether all of it holds for a row. Nothing is allocated: this runs for every row of a file.
    #[inline]
    pub(super) fn hold<R: Queried>(&self, row: &R) -> bool
    where
        C: OwnCheck<R>,
    {
        // Small enough to be inlined into the loop over rows, most of which the tables refuse.
        (self.by_context.is_empty() || self.by_context[row.context()])
            && (self.by_stack.is_empty() || self.by_stack[row.stack().index()])
            && (self.checks.is_empty() || self.checks_hold(row))
    }

    fn checks_hold<R: Queried>(&self, row: &R) -> bool
    where
        C: OwnCheck<R>,
    {
        self.checks.iter().all(|SignedCheck { is_negated, check }| {
            let holds = match check {
                Check::Row(check) => check.holds(row),
                Check::Listed(holds) => holds[row.index()],
                Check::Own(check) => check.holds(row),
            };
            holds != *is_negated
        })
    }
}

/// Let a table hold only where another term holds, too.
fn and(all: &mut Vec<bool>, is_negated: bool, holds: Vec<bool>) {
    let holds = holds.into_iter().map(|holds| holds != is_negated);
    if all.is_empty() {
        all.extend(holds);
    } else {
        all.iter_mut().zip(holds).for_each(|(all, holds)| *all &= holds);
    }
}
