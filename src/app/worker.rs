//! Work that does not fit into a frame, on a thread of its own.
//!
//! The window says what it wants in every frame. Only the latest wish counts: earlier ones that were
//! not begun are dropped, and the window shows the last finished result until the right one lands.

use crate::analysis::UserRules;
use eframe::egui;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Where work is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RasterMode {
    /// On another thread.
    Background,
    /// At once, so that no frame ever shows an old result.
    Blocking,
}

/// How files are looked at, from the start of the window to its end.
#[derive(Debug, Clone)]
pub(super) struct Setup {
    /// Where work is done.
    pub(super) mode: RasterMode,
    /// The user's own rules for categories.
    pub(super) rules: Arc<UserRules>,
}

impl Setup {
    /// Without rules.
    pub(super) fn new(mode: RasterMode) -> Self {
        Self { mode, rules: Arc::default() }
    }
}

/// What a worker does.
pub(super) trait Task: Clone + Send + 'static {
    /// What is asked for.
    type Wish: Clone + PartialEq + Send;
    /// What comes of it.
    type Done: Send;

    /// Do it.
    fn run(&self, wish: &Self::Wish) -> Self::Done;
}

/// A task, and the thread that does it.
pub(super) struct Worker<T: Task> {
    desk: Arc<Desk<T>>,
    /// The task, where there is no thread.
    here: Option<T>,
    wished: Option<T::Wish>,
}

/// What the window and the thread share.
struct Desk<T: Task> {
    papers: Mutex<Papers<T>>,
    has_news: Condvar,
}

struct Papers<T: Task> {
    wish: Option<T::Wish>,
    done: Option<T::Done>,
    is_closed: bool,
}

impl<T: Task> Worker<T> {
    /// Start a thread, or do without one.
    pub(super) fn new(name: &str, task: T, ctx: &egui::Context, mode: RasterMode) -> Self {
        let papers = Mutex::new(Papers { wish: None, done: None, is_closed: false });
        let desk = Arc::new(Desk { papers, has_news: Condvar::new() });
        let has_thread = mode == RasterMode::Background && start_thread(name, &desk, task.clone(), ctx);
        Self { desk, here: (!has_thread).then_some(task), wished: None }
    }

    /// Ask for something, and take what is finished: the answer to this wish or to an earlier one.
    pub(super) fn ask(&mut self, wish: T::Wish) -> Option<T::Done> {
        let is_new = self.wished.as_ref() != Some(&wish);
        if is_new {
            self.wished = Some(wish.clone());
        }
        if let Some(task) = &self.here {
            return is_new.then(|| task.run(&wish));
        }
        let mut papers = self.desk.lock();
        if is_new {
            papers.wish = Some(wish);
            self.desk.has_news.notify_one();
        }
        papers.done.take()
    }
}

impl<T: Task> Drop for Worker<T> {
    fn drop(&mut self) {
        self.desk.lock().is_closed = true;
        self.desk.has_news.notify_one();
    }
}

impl<T: Task> Desk<T> {
    /// A thread that panicked leaves nothing half-written here.
    fn lock(&self) -> MutexGuard<'_, Papers<T>> {
        self.papers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next wish; `None` when the window no longer needs anything.
    fn wait(&self) -> Option<T::Wish> {
        let idle = |papers: &mut Papers<T>| papers.wish.is_none() && !papers.is_closed;
        let mut papers = self.has_news.wait_while(self.lock(), idle).unwrap_or_else(PoisonError::into_inner);
        if papers.is_closed { None } else { papers.wish.take() }
    }
}

fn start_thread<T: Task>(name: &str, desk: &Arc<Desk<T>>, task: T, ctx: &egui::Context) -> bool {
    let (desk, ctx) = (Arc::clone(desk), ctx.clone());
    let thread = thread::Builder::new().name(format!("oomscope-{name}")).spawn(move || {
        while let Some(wish) = desk.wait() {
            let done = task.run(&wish);
            desk.lock().done = Some(done);
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
        type Wish = u64;
        type Done = u64;

        fn run(&self, wish: &u64) -> u64 {
            wish * 2
        }
    }

    #[test]
    fn without_a_thread_every_new_wish_is_done_at_once() {
        let mut worker = Worker::new("test", Double, &egui::Context::default(), RasterMode::Blocking);
        assert_eq!([worker.ask(4), worker.ask(4), worker.ask(5)], [Some(8), None, Some(10)]);
    }

    #[test]
    fn with_a_thread_the_last_wish_is_done_last() {
        let mut worker = Worker::new("test", Double, &egui::Context::default(), RasterMode::Background);
        let first: Vec<u64> = (0..100).filter_map(|wish| worker.ask(wish)).collect();
        let patience = Instant::now() + Duration::from_secs(20);
        let mut last = first.last().copied();
        while last != Some(198) && Instant::now() < patience {
            last = worker.ask(99).or(last);
            thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(last, Some(198));
    }
}
