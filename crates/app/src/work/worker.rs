//! Work that does not fit into a frame, on a thread of its own.
//!
//! The window repeats its request in every frame. Only the latest request counts: earlier ones that were
//! not begun are dropped, those that are going on may stop, and the window shows the last finished result until the right
//! one lands.

use super::defect;
use super::watch::{Watch, Watched};
use eframe::egui;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// The place where work is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WorkMode {
    /// On another thread.
    Background,
    /// At once, so that no frame ever shows an old result.
    Blocking,
}

/// Work that a [`Worker`] does.
pub(crate) trait Task: Clone + Send + 'static {
    /// The question: everything that the answer depends on, so that equal ones have the same answer.
    type Request: Clone + PartialEq + Send;
    /// The answer.
    type Response: Send;

    /// Find the answer. May take its time.
    fn run(&self, request: &Self::Request) -> Self::Response;

    /// [`Self::run`] for long work, which says how far it is and stops when nobody waits for it: then there is no answer.
    fn run_watched(&self, request: &Self::Request, _: &Watch) -> Option<Self::Response> {
        Some(self.run(request))
    }
}

/// A task, and the thread that does it.
pub(crate) struct Worker<T: Task> {
    shared: Arc<Shared<T>>,
    /// The task, if there is no thread to do it.
    here: Option<T>,
    /// The latest request, to notice another one.
    requested: Option<T::Request>,
}

/// Shared by the window and the thread.
struct Shared<T: Task> {
    slots: Mutex<Slots<T>>,
    has_news: Condvar,
    watched: Arc<Watched>,
}

struct Slots<T: Task> {
    /// The next request; a newer one takes its place.
    request: Option<T::Request>,
    response: Option<T::Response>,
    is_closed: bool,
}

impl<T: Task> Worker<T> {
    /// Start a thread, unless `mode` or the system wants it to be done without one.
    pub(crate) fn new(name: &str, task: T, ctx: &egui::Context, mode: WorkMode) -> Self {
        let slots = Mutex::new(Slots { request: None, response: None, is_closed: false });
        let shared = Arc::new(Shared { slots, has_news: Condvar::new(), watched: Arc::default() });
        let has_thread = mode == WorkMode::Background && start_thread(name, &shared, task.clone(), ctx);
        Self { shared, here: (!has_thread).then_some(task), requested: None }
    }

    /// Make a request, and take the answer that is finished: to this request or to an earlier one.
    pub(crate) fn ask(&mut self, request: T::Request) -> Option<T::Response> {
        let is_new = self.requested.as_ref() != Some(&request);
        if is_new {
            self.requested = Some(request.clone());
        }
        if let Some(task) = &self.here {
            return is_new.then(|| task.run(&request));
        }
        let mut slots = self.shared.lock();
        if is_new {
            self.shared.watched.supersede();
            slots.request = Some(request);
            self.shared.has_news.notify_one();
        }
        slots.response.take()
    }

    /// Stop what is going on. The next request is a new one, also if it is the same.
    pub(crate) fn cancel(&mut self) {
        let mut slots = self.shared.lock();
        self.shared.watched.supersede();
        slots.request = None;
        self.requested = None;
    }

    /// How much of the work is done, and of how much, once that is known.
    pub(crate) fn progress(&self) -> Option<(usize, usize)> {
        self.shared.watched.progress()
    }
}

impl<T: Task> Drop for Worker<T> {
    fn drop(&mut self) {
        self.shared.watched.supersede();
        self.shared.lock().is_closed = true;
        self.shared.has_news.notify_one();
    }
}

impl<T: Task> Shared<T> {
    /// The slots, also after a panic: a thread leaves nothing half-written here.
    fn lock(&self) -> MutexGuard<'_, Slots<T>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next request, with the means to notice that another one takes its place; `None` when the window no longer needs
    /// anything.
    fn wait(&self) -> Option<(T::Request, Watch)> {
        let idle = |slots: &mut Slots<T>| slots.request.is_none() && !slots.is_closed;
        let mut slots = self.has_news.wait_while(self.lock(), idle).unwrap_or_else(PoisonError::into_inner);
        let request = slots.request.take().filter(|_| !slots.is_closed)?;
        Some((request, Watch::new(&self.watched)))
    }
}

fn start_thread<T: Task>(name: &str, shared: &Arc<Shared<T>>, task: T, ctx: &egui::Context) -> bool {
    let (shared, ctx, of) = (Arc::clone(shared), ctx.clone(), name.to_owned());
    let thread = thread::Builder::new().name(format!("oomscope-{name}")).spawn(move || {
        while let Some((request, watch)) = shared.wait() {
            // A defect in one answer must not leave all later questions without any.
            match catch_unwind(AssertUnwindSafe(|| task.run_watched(&request, &watch))) {
                Ok(Some(response)) => shared.lock().response = Some(response),
                Ok(None) => {}
                Err(panic) => defect::report(&ctx, &of, &*panic),
            }
            ctx.request_repaint();
        }
    });
    thread.inspect_err(|error| log::warn!("{name} blocks the window: {error}")).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[derive(Clone)]
    struct Double;

    impl Task for Double {
        type Request = u64;
        type Response = u64;

        fn run(&self, request: &u64) -> u64 {
            request * 2
        }
    }

    #[test]
    fn without_a_thread_every_new_request_is_answered_at_once() {
        let mut worker = Worker::new("test", Double, &egui::Context::default(), WorkMode::Blocking);
        assert_eq!([worker.ask(4), worker.ask(4), worker.ask(5)], [Some(8), None, Some(10)]);
    }

    /// Runs until nobody wants it any more.
    #[derive(Clone)]
    struct Endless;

    impl Task for Endless {
        type Request = u64;
        type Response = u64;

        fn run(&self, request: &u64) -> u64 {
            *request
        }

        fn run_watched(&self, request: &u64, watch: &Watch) -> Option<u64> {
            watch.progress(1, 3);
            assert!(*request != 13, "a defect");
            let is_endless = *request == 0;
            while is_endless && watch.is_wanted() {
                thread::sleep(Duration::from_millis(1));
            }
            (!is_endless).then_some(*request)
        }
    }

    fn answer(worker: &mut Worker<Endless>, request: u64, patience: Duration) -> Option<u64> {
        let end = Instant::now() + patience;
        while Instant::now() < end {
            if let Some(answer) = worker.ask(request) {
                return Some(answer);
            }
            thread::sleep(Duration::from_millis(1));
        }
        None
    }

    #[test]
    fn work_stops_for_a_newer_request_and_when_it_is_cancelled() {
        let (short, long) = (Duration::from_millis(30), Duration::from_secs(20));
        let mut worker = Worker::new("test", Endless, &egui::Context::default(), WorkMode::Background);
        assert_eq!(answer(&mut worker, 0, short), None);
        assert_eq!(worker.progress(), Some((1, 3)));
        assert_eq!(answer(&mut worker, 5, long), Some(5));
        assert_eq!(answer(&mut worker, 0, short), None);
        worker.cancel();
        assert_eq!(worker.progress(), None);
        assert_eq!(answer(&mut worker, 5, long), Some(5), "the same question again");
    }

    #[test]
    fn a_defect_in_one_answer_leaves_the_others() {
        let ctx = egui::Context::default();
        let mut worker = Worker::new("test", Endless, &ctx, WorkMode::Background);
        assert_eq!(answer(&mut worker, 13, Duration::from_millis(100)), None);
        assert_eq!(answer(&mut worker, 5, Duration::from_secs(20)), Some(5));
        let said = defect::take(&ctx).expect("the window is told");
        assert!(said.starts_with("Internal error in test: a defect. "), "{said}");
        assert_eq!(defect::take(&ctx), None);
    }

    #[test]
    fn with_a_thread_the_last_request_is_answered_last() {
        let mut worker = Worker::new("test", Double, &egui::Context::default(), WorkMode::Background);
        let first: Vec<u64> = (0..100).filter_map(|request| worker.ask(request)).collect();
        let patience = Instant::now() + Duration::from_secs(20);
        let mut last = first.last().copied();
        while last != Some(198) && Instant::now() < patience {
            last = worker.ask(99).or(last);
            thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(last, Some(198));
    }
}
