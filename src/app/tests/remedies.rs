//! Remedies in the real application.

use super::{device, harness, open_path, sample};
use crate::app::App;
use crate::app::panes::Pane;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;

fn opened(name: &str) -> Harness<'static, App> {
    let mut harness = harness();
    open_path(&mut harness, sample(name));
    device(&mut harness).wanted_pane = Some(Pane::Remedies);
    harness.set_size(eframe::egui::vec2(1280.0, 1100.0));
    harness.run_steps(4);
    harness
}

#[test]
fn the_least_change_that_fits_is_shown_with_its_code() {
    let mut harness = opened("gpt_oom_forward.pickle");
    assert!(harness.query_by_label_contains("The least change that fits into 23.6 GiB").is_some());
    harness.get_by_label("checkpoint-all+sgd").click();
    harness.run_steps(4);
    let code = "use_reentrant=False)\noptimizer = torch.optim.SGD(model.parameters(), lr=lr)";
    assert!(harness.query_by_label_contains(code).is_some());
    assert!(harness.query_by_label_contains("Costs ").is_some());
    harness.get_by_label("Capacity").click();
    harness.run_steps(2);
    let field = harness.get_by_role_and_label(eframe::egui::Role::TextInput, "Capacity");
    field.type_text("80GiB");
    harness.run_steps(4);
    assert!(harness.query_by_label("The program fits into 80.0 GiB as it is.").is_some());
}
