//! A worker's latest answer, kept with the question that it answers.

use super::watch::Watch;
use super::worker::{Task, WorkMode, Worker};
use eframe::egui;

/// A worker that is started with the first question, and its latest answer.
pub(crate) struct Background<T: Task> {
    worker: Option<Worker<Paired<T>>>,
    /// The question that the user does not want to be answered.
    cancelled: Option<T::Request>,
    latest: Option<(T::Request, T::Response)>,
}

/// A task that returns its question with the answer.
#[derive(Clone)]
struct Paired<T>(T);

impl<T: Task> Task for Paired<T> {
    type Request = T::Request;
    type Response = (T::Request, T::Response);

    fn run(&self, request: &T::Request) -> Self::Response {
        (request.clone(), self.0.run(request))
    }

    fn run_watched(&self, request: &T::Request, watch: &Watch) -> Option<Self::Response> {
        Some((request.clone(), self.0.run_watched(request, watch)?))
    }
}

impl<T: Task> Default for Background<T> {
    fn default() -> Self {
        Self { worker: None, cancelled: None, latest: None }
    }
}

impl<T: Task> Background<T> {
    /// The answer to a question; `None` while it is on its way. Call it in every frame until then. `task` is
    /// only called for the first question.
    pub(crate) fn ask(
        &mut self,
        request: &T::Request,
        ctx: &egui::Context,
        mode: WorkMode,
        name: &str,
        task: impl FnOnce() -> T,
    ) -> Option<&T::Response> {
        if self.latest.as_ref().is_none_or(|(known, _)| known != request) && !self.is_cancelled(request) {
            self.cancelled = None;
            let start = || Worker::new(name, Paired(task()), ctx, mode);
            let response = self.worker.get_or_insert_with(start).ask(request.clone());
            self.latest = response.or(self.latest.take());
        }
        self.latest.as_ref().filter(|(known, _)| known == request).map(|(_, response)| response)
    }

    /// Do not answer a question that was asked, until [`Self::resume`].
    pub(crate) fn cancel(&mut self, request: &T::Request) {
        if let Some(worker) = &mut self.worker {
            worker.cancel();
        }
        self.cancelled = Some(request.clone());
    }

    /// Answer again what was cancelled.
    pub(crate) fn resume(&mut self) {
        self.cancelled = None;
    }

    /// Whether the user does not want a question to be answered.
    pub(crate) fn is_cancelled(&self, request: &T::Request) -> bool {
        self.cancelled.as_ref() == Some(request)
    }

    /// How much of the work is done, and of how much, once that is known.
    pub(crate) fn progress(&self) -> Option<(usize, usize)> {
        self.worker.as_ref().and_then(Worker::progress)
    }

    /// The latest answer, maybe to an earlier question.
    pub(crate) fn latest(&self) -> Option<&T::Response> {
        self.latest.as_ref().map(|(_, response)| response)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;
    use std::time::{Duration, Instant};

    #[derive(Clone)]
    struct Square;

    impl Task for Square {
        type Request = u64;
        type Response = u64;

        fn run(&self, request: &u64) -> u64 {
            request * request
        }
    }

    fn ask(squares: &mut Background<Square>, request: u64, mode: WorkMode) -> Option<u64> {
        squares.ask(&request, &egui::Context::default(), mode, "test", || Square).copied()
    }

    #[test]
    fn an_answer_is_given_for_its_question_only() {
        let mut squares = Background::default();
        let patience = Instant::now() + Duration::from_secs(20);
        for request in [3, 5, 3, 9] {
            while ask(&mut squares, request, WorkMode::Background).is_none() && Instant::now() < patience {
                thread::sleep(Duration::from_millis(1));
            }
            assert_eq!(ask(&mut squares, request, WorkMode::Background), Some(request * request));
        }
        assert_eq!(squares.latest(), Some(&81));
    }

    #[test]
    fn a_question_that_is_cancelled_is_not_answered_until_it_is_resumed() {
        let mut squares = Background::default();
        assert_eq!(ask(&mut squares, 2, WorkMode::Blocking), Some(4));
        squares.cancel(&3);
        assert_eq!(ask(&mut squares, 3, WorkMode::Blocking), None);
        assert!(squares.is_cancelled(&3));
        squares.resume();
        assert_eq!(ask(&mut squares, 3, WorkMode::Blocking), Some(9));
        squares.cancel(&4);
        assert_eq!(ask(&mut squares, 5, WorkMode::Blocking), Some(25));
        assert_eq!(ask(&mut squares, 4, WorkMode::Blocking), Some(16), "another question came between");
    }

    #[test]
    fn without_a_thread_the_answer_is_there_at_once() {
        let mut squares = Background::default();
        assert_eq!(
            [7, 7, 2].map(|request| ask(&mut squares, request, WorkMode::Blocking)),
            [Some(49), Some(49), Some(4)]
        );
    }
}
