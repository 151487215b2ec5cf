//! Texts of the timeline about the band under the pointer.

use super::input::Under;
use super::pictures::Shown;
use super::share_totals::ShareTotal;
use crate::device::TimelineMode;
use crate::device::figures::Figures;
use crate::texts;
use crate::theme;
use eframe::egui;
use oomscope_analysis::{PrivatePools, TensorLabels, tensor_and_site};
use oomscope_draw::{Pixel, Share, pool_of_band, range_of_band};
use oomscope_model::{AllocId, Bytes, EventIx, Moment, PoolKey, Recording, ReservedRange, Timeline};
use oomscope_report as report;
use oomscope_units as units;
use tr::tr;

/// The source of the texts.
pub(super) struct HoverTexts<'a> {
    pub(super) recording: &'a Recording,
    pub(super) figures: &'a Figures,
    pub(super) tensors: Option<&'a TensorLabels>,
    /// The private pools of the picture, whose free parts are bands, too.
    pub(super) pools: Option<&'a PrivatePools>,
    /// The picture under the pointer.
    pub(super) shown: Option<&'a Shown>,
}

impl HoverTexts<'_> {
    /// Explain the band under the pointer.
    pub(super) fn ui(&self, response: &egui::Response, under: Option<Under>) {
        let Some(under) = under else { return };
        match under.pixel {
            Pixel::Empty => {}
            Pixel::Share(share) => {
                let [what, largest] = self.share_text(share, under);
                response.clone().on_hover_ui_at_pointer(|ui| {
                    ui.label(theme::strong(what, 13.0));
                    ui.label(largest);
                    ui.label(theme::muted(
                        ui,
                        tr!("Too thin to be told apart: zoom in, with Shift vertically"),
                    ));
                    self.when_ui(ui, under);
                });
            }
            Pixel::Block(id) => {
                let [size, place, life] = self.text(id, under);
                response.clone().on_hover_ui_at_pointer(|ui| {
                    ui.label(theme::strong(size, 13.0));
                    ui.label(place);
                    ui.label(theme::muted(ui, life));
                    self.when_ui(ui, under);
                });
            }
        }
    }

    /// The moment of the column under the pointer, with the wall clock.
    fn when_ui(&self, ui: &mut egui::Ui, under: Under) {
        if let Some(moment) = under.moment {
            ui.label(theme::muted(ui, report::when_text(self.recording, moment)));
        }
    }

    /// What a share stands for at the moment of its column, and the largest part of it.
    fn share_text(&self, share: Share, under: Under) -> [String; 2] {
        let Some((shown, moment)) = self.shown.zip(under.moment) else { return Default::default() };
        let total = shown.share_total(share, moment, self.recording);
        let ShareTotal { label, count, bytes, largest } = &*total;
        let label = if share.is_faded { tr!("{label}, faded", label) } else { label.clone() };
        let size = units::bytes(*bytes);
        let live = match under.mode {
            TimelineMode::Blocks => texts::in_blocks(&size, *count),
            TimelineMode::Segments => {
                let number = units::count(*count as u64);
                tr!("{size} in {number} range" | "{size} in {number} ranges" % *count, size, number)
            }
        };
        let largest = largest.map_or_else(String::new, |(id, size)| {
            let place = match under.mode {
                TimelineMode::Blocks => tensor_and_site(self.recording, self.tensors, id),
                TimelineMode::Segments => self.segment_text(id)[1].clone(),
            };
            tr!("the largest {} · {place}", units::bytes(size), place)
        });
        [format!("{label} · {live}"), largest]
    }

    /// Size, site and lifetime of a block; for the free part of a pool, its reserved bytes.
    fn text(&self, id: AllocId, under: Under) -> [String; 3] {
        let timeline = self.recording;
        if under.mode == TimelineMode::Segments {
            return self.segment_text(id);
        }
        if let Some(pools) = self.pools
            && let Some(at) = pool_of_band(id, pools)
        {
            let pool = &pools.pools[at];
            let reserved = under.moment.map_or(Bytes::ZERO, |moment| pool.reserved.at(moment));
            return [
                tr!("Private pool {}.{}", pool.key.0, pool.key.1),
                tr!("{} reserved", units::bytes_exact(reserved)),
                tr!("Pale: free in the pool. It is not active, so the bands reach above the active line"),
            ];
        }
        let allocation = timeline.allocation(id);
        let is_awaiting = under.moment.is_some_and(|moment| allocation.is_awaiting_at(moment));
        [
            units::bytes_exact(allocation.size),
            tensor_and_site(self.recording, self.tensors, id),
            self.figures.lives(timeline, &allocation, is_awaiting),
        ]
    }

    /// Size, kind and place of reserved memory, and the time for which it is reserved.
    fn segment_text(&self, id: AllocId) -> [String; 3] {
        let Some(range) = range_of_band(id, self.recording) else { return Default::default() };
        let address = units::address(range.addr);
        [
            units::bytes_exact(range.size),
            if range.is_expandable {
                tr!("pages of an expandable segment at {}", address)
            } else {
                tr!("segment at {}", address)
            },
            reserved_text(self.recording, range),
        ]
    }
}

/// The stream and the pool of reserved memory, and its first and last event.
pub(crate) fn reserved_text(timeline: &Timeline, range: &ReservedRange) -> String {
    let stream = range.stream.map(|stream| tr!("stream {stream}", stream));
    let pool =
        range.pool.filter(|pool| pool.is_private()).map(|PoolKey(a, b)| tr!("private pool {a}.{b}", a, b));
    let event = |moment: Moment| moment.event().map(|EventIx(event)| units::count(event));
    let start = event(range.start)
        .map_or(tr!("reserved before the recording"), |at| tr!("reserved by event {at}", at));
    let end = match range.end {
        None if timeline.events.is_empty() => None,
        None => Some(tr!("still there at the end")),
        Some(end) => event(end).map(|at| tr!("released by event {at}", at)),
    };
    let parts: Vec<String> = [stream, pool, Some(start), end].into_iter().flatten().collect();
    parts.join(" · ")
}
