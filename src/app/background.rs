//! Answers of a worker, kept with the questions that they are for.

use crate::app::worker::{RasterMode, Task, Worker};
use eframe::egui;

/// A worker that is started with the first question, and its latest answer.
pub(super) struct Background<T: Task> {
    worker: Option<Worker<Paired<T>>>,
    latest: Option<(T::Wish, T::Done)>,
}

/// A task that says what it was asked.
#[derive(Clone)]
struct Paired<T>(T);

impl<T: Task> Task for Paired<T> {
    type Wish = T::Wish;
    type Done = (T::Wish, T::Done);

    fn run(&self, wish: &T::Wish) -> Self::Done {
        (wish.clone(), self.0.run(wish))
    }
}

impl<T: Task> Default for Background<T> {
    fn default() -> Self {
        Self { worker: None, latest: None }
    }
}

impl<T: Task> Background<T> {
    /// The answer to a question if it is there, else it is on its way. To be asked in every frame;
    /// `task` is only called for the first question.
    pub(super) fn ask(
        &mut self,
        wish: &T::Wish,
        ctx: &egui::Context,
        mode: RasterMode,
        name: &str,
        task: impl FnOnce() -> T,
    ) -> Option<&T::Done> {
        if self.latest.as_ref().is_none_or(|(known, _)| known != wish) {
            let start = || Worker::new(name, Paired(task()), ctx, mode);
            let done = self.worker.get_or_insert_with(start).ask(wish.clone());
            self.latest = done.or(self.latest.take());
        }
        self.latest.as_ref().filter(|(known, _)| known == wish).map(|(_, done)| done)
    }

    /// The latest answer, maybe to an earlier question.
    pub(super) fn latest(&self) -> Option<&T::Done> {
        self.latest.as_ref().map(|(_, done)| done)
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
        type Wish = u64;
        type Done = u64;

        fn run(&self, wish: &u64) -> u64 {
            wish * wish
        }
    }

    fn ask(squares: &mut Background<Square>, wish: u64, mode: RasterMode) -> Option<u64> {
        squares.ask(&wish, &egui::Context::default(), mode, "test", || Square).copied()
    }

    #[test]
    fn an_answer_is_given_for_its_question_only() {
        let mut squares = Background::default();
        let patience = Instant::now() + Duration::from_secs(20);
        for wish in [3, 5, 3, 9] {
            while ask(&mut squares, wish, RasterMode::Background).is_none() && Instant::now() < patience {
                thread::sleep(Duration::from_millis(1));
            }
            assert_eq!(ask(&mut squares, wish, RasterMode::Background), Some(wish * wish));
        }
        assert_eq!(squares.latest(), Some(&81));
    }

    #[test]
    fn without_a_thread_the_answer_is_there_at_once() {
        let mut squares = Background::default();
        assert_eq!(
            [7, 7, 2].map(|wish| ask(&mut squares, wish, RasterMode::Blocking)),
            [Some(49), Some(49), Some(4)]
        );
    }
}
