//! Answers that take too long for a frame: one question at a time on a thread, and only the latest
//! counts.

use eframe::egui;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::thread;

/// A question and its answer.
pub(super) struct Latest<Q, A> {
    answer: Option<(Q, A)>,
    running: Option<(Q, Receiver<A>)>,
    /// What could not be answered; it is not tried again.
    failed: Option<Q>,
}

impl<Q, A> Default for Latest<Q, A> {
    fn default() -> Self {
        Self { answer: None, running: None, failed: None }
    }
}

impl<Q: Clone + PartialEq, A: Send + 'static> Latest<Q, A> {
    /// Make sure that the answer to a question is there or on its way. Asked in every frame; `work`
    /// is only called, on a thread named `name`, when nothing else is being worked on.
    pub(super) fn ask<W>(&mut self, ctx: &egui::Context, name: &str, question: &Q, work: impl FnOnce() -> W)
    where
        W: FnOnce() -> A + Send + 'static,
    {
        self.take_answer();
        let is_known = self.answer(question).is_some() || self.failed.as_ref() == Some(question);
        if is_known || self.running.is_some() {
            return;
        }
        let (sender, receiver) = sync_channel(1);
        let (ctx, work) = (ctx.clone(), work());
        let thread = thread::Builder::new().name(format!("oomscope-{name}")).spawn(move || {
            // The window may have closed the file meanwhile.
            sender.send(work()).ok();
            ctx.request_repaint();
        });
        match thread {
            Ok(_) => self.running = Some((question.clone(), receiver)),
            Err(error) => log::warn!("cannot start a thread: {error}"),
        }
    }

    fn take_answer(&mut self) {
        match self.running.as_ref().map(|(_, answer)| answer.try_recv()) {
            None | Some(Err(TryRecvError::Empty)) => {}
            Some(answer) => {
                let Some((question, _)) = self.running.take() else { return };
                match answer {
                    Ok(answer) => self.answer = Some((question, answer)),
                    Err(_) => self.failed = Some(question),
                }
            }
        }
    }

    /// The latest answer, and the question that it is for: maybe one that was asked earlier.
    pub(super) fn latest(&self) -> Option<(&Q, &A)> {
        self.answer.as_ref().map(|(question, answer)| (question, answer))
    }

    /// The answer to a question, once it is there.
    pub(super) fn answer(&self, question: &Q) -> Option<&A> {
        self.latest().filter(|(known, _)| *known == question).map(|(_, answer)| answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn the_last_question_is_answered_in_the_end() {
        let mut squares = Latest::<u32, u32>::default();
        let ctx = egui::Context::default();
        let patience = Instant::now() + Duration::from_secs(20);
        for question in 1..5 {
            squares.ask(&ctx, "test", &question, || move || question * question);
        }
        while squares.answer(&4).is_none() && Instant::now() < patience {
            squares.ask(&ctx, "test", &4, || || 16);
            thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(squares.answer(&4), Some(&16));
        assert_eq!(squares.answer(&1), None);
        assert!(squares.running.is_none());
    }

    #[test]
    fn work_that_panics_leaves_the_answer_before() {
        let mut numbers = Latest::<u32, u32>::default();
        let ctx = egui::Context::default();
        let wait = |numbers: &mut Latest<u32, u32>| {
            while numbers.running.is_some() {
                thread::sleep(Duration::from_millis(1));
                numbers.take_answer();
            }
        };
        numbers.ask(&ctx, "test", &1, || || 7);
        wait(&mut numbers);
        numbers.ask(&ctx, "test", &2, || || panic!("as work may"));
        wait(&mut numbers);
        assert_eq!((numbers.answer(&1), numbers.answer(&2)), (Some(&7), None));
        numbers.ask(&ctx, "test", &2, || || 4);
        assert!(numbers.running.is_none(), "what cannot be answered is not asked again");
    }
}
