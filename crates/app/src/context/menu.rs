//! The menu of the thing under the pointer, or of the selection.

use super::about::{About, example};
use super::actions::{ACTIONS, MenuPart, Reach, rule_change};
use super::terms::{Term, terms, with, without};
use crate::command::Command;
use crate::panes::OpenDevice;
use crate::pointed::{self, OpenMenu, Pointed, Thing};
use crate::texts;
use crate::theme;
use eframe::egui::containers::menu::menu_style;
use eframe::egui::{self, Align, Context, Id, Layout, Popup, PopupAnchor, PopupKind, SetOpenCommand, Ui};
use oomscope_analysis::Category;
use tr::tr;

/// Largest width of a menu, in points: a line of code with its file fits.
const MAX_WIDTH_PX: f32 = 280.0;

/// Show the menu, after the panes of a device are drawn.
pub(crate) fn ui(ui: &Ui, device: &mut OpenDevice, commands: &mut Vec<Command>) {
    let (ctx, now) = (ui.ctx(), ui.ctx().cumulative_pass_nr());
    // Another file or device was shown in between.
    device.menu.take_if(|menu| menu.seen + 1 < now);
    if let Some(pointed) = pointed::take(ctx).or_else(|| of_selection(ctx, device)) {
        device.menu = Some(opened(ctx, device, pointed));
    }
    let Some(menu) = &mut device.menu else { return };
    menu.seen = now;
    let menu = menu.clone();
    let about = About::new(device, &menu);
    let takes_focus = menu.pointed.by_key && now <= menu.since + 1;
    let popup = popup(ui, &menu, now);
    let id = popup.get_id();
    popup.show(|ui| {
        ui.set_max_width(MAX_WIDTH_PX);
        ui.style_mut().wrap_mode = Some(egui::TextWrapMode::Truncate);
        menu_ui(ui, &about, &mut Reach { device, ctx, commands }, takes_focus);
    });
    if !Popup::is_id_open(ctx, id) {
        device.menu = None;
    }
}

/// The selection, if the key of menus was pressed for it: at what has the keyboard, else in the middle.
fn of_selection(ctx: &Context, device: &OpenDevice) -> Option<Pointed> {
    if device.menu.is_some() || !pointed::is_key_pressed(ctx) {
        return None;
    }
    let focused = ctx.memory(|memory| memory.focused()).and_then(|id| ctx.read_response(id));
    let place = focused.map_or_else(|| ctx.content_rect().center(), |response| response.rect.center());
    Some(Pointed { thing: Thing::selected(device.at.selection())?, place, by_key: true })
}

fn opened(ctx: &Context, device: &OpenDevice, pointed: Pointed) -> OpenMenu {
    // The keys of the menu are its own.
    if let Some(focused) = ctx.memory(|memory| memory.focused()) {
        ctx.memory_mut(|memory| memory.surrender_focus(focused));
    }
    ctx.request_repaint();
    let (example, now) = (example(device, &pointed.thing), ctx.cumulative_pass_nr());
    OpenMenu { pointed, example, since: now, seen: now }
}

/// A popup of its own for each opening: a click that opens another one would close it.
fn popup(ui: &Ui, menu: &OpenMenu, now: u64) -> Popup<'static> {
    let id = Id::unique("context menu").with(menu.since);
    Popup::new(id, ui.ctx().clone(), PopupAnchor::Position(menu.pointed.place), ui.layer_id())
        .kind(PopupKind::Menu)
        .layout(Layout::top_down_justified(Align::Min))
        .style(menu_style)
        .gap(0.0)
        .accessible_name(tr!("Context menu"))
        .open_memory((menu.since == now).then_some(SetOpenCommand::Bool(true)))
}

fn menu_ui(ui: &mut Ui, about: &About, reach: &mut Reach<'_>, takes_focus: bool) {
    ui.add(egui::Label::new(theme::muted(ui, about.title()).size(12.0)).truncate());
    let first = filters_ui(ui, about, reach);
    if let Some(first) = first.filter(|_| takes_focus) {
        first.request_focus();
    }
    if has_any(&[MenuPart::Go], about) {
        ui.separator();
    }
    part_ui(ui, MenuPart::Go, about, reach);
    if has_any(&[MenuPart::Show, MenuPart::Take, MenuPart::Copy], about) {
        ui.separator();
    }
    sub_menu_ui(ui, &tr!("Show in"), MenuPart::Show, about, reach);
    part_ui(ui, MenuPart::Take, about, reach);
    sub_menu_ui(ui, &tr!("Copy"), MenuPart::Copy, about, reach);
    if has_any(&[MenuPart::Meaning], about) || rule_change(about, None).is_some() {
        ui.separator();
    }
    part_ui(ui, MenuPart::Meaning, about, reach);
    categories_ui(ui, about, reach);
}

/// Filters to the thing, and to what it has in common with others. Returns the first entry.
fn filters_ui(ui: &mut Ui, about: &About, reach: &mut Reach<'_>) -> Option<egui::Response> {
    let terms = terms(about);
    let (first, rest) = terms.split_first()?;
    let filter = entry(ui, &tr!("Filter to {}", first.name)).on_hover_text(&first.query);
    if filter.clicked() {
        reach.device.at.filter(first.query.clone());
    }
    if first.has_opposite && entry(ui, &tr!("Exclude {}", first.name)).clicked() {
        let query = without(&reach.device.at.query, &first.query);
        reach.device.at.filter(query);
    }
    let set = |_: &str, term: &Term| term.query.clone();
    terms_ui(ui, &tr!("Filter to"), rest, reach, set);
    if !reach.device.at.query.trim().is_empty() {
        let all: Vec<&Term> =
            terms.iter().filter(|term| !reach.device.at.query.contains(&term.query)).collect();
        chosen_ui(ui, &tr!("Filter further to"), &all, reach, |query, term| with(query, &term.query));
    }
    let rest: Vec<&Term> = rest.iter().filter(|term| term.has_opposite).collect();
    chosen_ui(ui, &tr!("Exclude"), &rest, reach, |query, term| without(query, &term.query));
    Some(filter)
}

fn terms_ui(
    ui: &mut Ui,
    name: &str,
    terms: &[Term],
    reach: &mut Reach<'_>,
    query: impl Fn(&str, &Term) -> String,
) {
    chosen_ui(ui, name, &terms.iter().collect::<Vec<_>>(), reach, query);
}

/// A menu of terms, each of which makes another query.
fn chosen_ui(
    ui: &mut Ui,
    name: &str,
    terms: &[&Term],
    reach: &mut Reach<'_>,
    query: impl Fn(&str, &Term) -> String,
) {
    if terms.is_empty() {
        return;
    }
    ui.menu_button(name, |ui| {
        for term in terms {
            if entry(ui, &term.name).on_hover_text(&term.query).clicked() {
                let query = query(&reach.device.at.query, term);
                reach.device.at.filter(query);
            }
        }
    });
}

fn has_any(parts: &[MenuPart], about: &About) -> bool {
    ACTIONS.iter().any(|action| parts.contains(&action.part) && (action.applies)(about))
}

fn part_ui(ui: &mut Ui, part: MenuPart, about: &About, reach: &mut Reach<'_>) {
    for action in ACTIONS.iter().filter(|action| action.part == part && (action.applies)(about)) {
        if entry(ui, &texts::translated(action.name)).clicked() {
            (action.run)(about, reach);
        }
    }
}

fn sub_menu_ui(ui: &mut Ui, name: &str, part: MenuPart, about: &About, reach: &mut Reach<'_>) {
    if has_any(&[part], about) {
        ui.menu_button(name, |ui| part_ui(ui, part, about, reach));
    }
}

/// The user's own word on what the line allocates.
fn categories_ui(ui: &mut Ui, about: &About, reach: &mut Reach<'_>) {
    if rule_change(about, None).is_none() {
        return;
    }
    let mut chosen = None;
    ui.menu_button(tr!("This line is"), |ui| {
        for category in Category::ALL.into_iter().filter(|category| *category != Category::Unknown) {
            let is_now = about.category.is_some_and(|(known, _)| known == category);
            if ui.selectable_label(is_now, category.label()).clicked() {
                chosen = Some(Some(category));
            }
        }
        if about.category.is_some_and(|(_, by_rule)| by_rule) {
            ui.separator();
            let hint = tr!("Take the rule for this line back");
            if entry(ui, &tr!("as found without a rule")).on_hover_text(hint).clicked() {
                chosen = Some(None);
            }
        }
    });
    if let Some(change) = chosen.and_then(|category| rule_change(about, category)) {
        reach.commands.push(Command::ChangeRule(change));
        ui.close();
    }
}

/// One entry; a click closes the menu.
fn entry(ui: &mut Ui, name: &str) -> egui::Response {
    let response = ui.button(name);
    if response.clicked() {
        ui.close();
    }
    response
}
