//! Defects of this program that a thread of the window met: the window says so, since the answer never comes.

use eframe::egui;
use oomscope_snapshot::load::panic_text;
use oomscope_units as units;
use std::any::Any;
use tr::tr;

/// A message that waits until the window takes it.
#[derive(Clone, Default)]
struct Defect(String);

/// Keep what a panic says of a worker's answer for the window.
pub(crate) fn report(ctx: &egui::Context, worker: &str, panic: &(dyn Any + Send)) {
    let text = units::printable(&panic_text(panic));
    log::error!("internal error in {worker}: {text}");
    let message = tr!(
        "Internal error in {worker}: {text}. This answer is missing; please report it together with the file.",
        worker,
        text
    );
    ctx.data_mut(|data| data.insert_temp(egui::Id::NULL, Defect(message)));
    ctx.request_repaint();
}

/// The message of the last defect; once.
pub(crate) fn take(ctx: &egui::Context) -> Option<String> {
    ctx.data_mut(|data| data.remove_temp::<Defect>(egui::Id::NULL)).map(|Defect(message)| message)
}
