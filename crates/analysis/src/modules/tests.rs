//! Tables of modules of small programs.

use super::{ModulePlace, ModuleTable, module_table};
use crate::{Attribution, UserRules};
use oomscope_fixtures::first;
use oomscope_fixtures::stacks::Recording;
use oomscope_model::{Bytes, Snapshot};
use proptest::prelude::*;

const MAIN: &str = "/home/me/train.py:9 <module>";
const CALL: &str = "/env/lib/python3.11/site-packages/torch/nn/modules/module.py:1798 _call_impl";
const LINEAR: &str = "/env/lib/python3.11/site-packages/torch/nn/modules/linear.py:134 forward";
const NORM: &str = "/env/lib/python3.11/site-packages/torch/nn/modules/normalization.py:228 forward";

/// The stack of frames, outermost first, with `Module.__call__` before each `forward`.
fn stack(recording: &mut Recording, frames: &[&str]) -> oomscope_model::StackId {
    let mut all = vec![MAIN];
    for frame in frames {
        if frame.ends_with("forward") {
            all.push(CALL);
        }
        all.push(frame);
    }
    all.reverse();
    recording.stack(&all)
}

fn table(recording: &oomscope_model::Recording) -> ModuleTable {
    let attribution = Attribution::of(recording, &UserRules::default());
    let moment = recording.end();
    let table = module_table(recording, &attribution, moment);
    assert_adds_up(recording.snapshot(), &attribution, &table);
    table
}

/// The columns add up to the totals of the categories.
fn assert_adds_up(snapshot: &Snapshot, attribution: &Attribution, table: &ModuleTable) {
    let by_category = attribution.categories.bytes_at(&snapshot.timelines[0], table.moment);
    for (at, category) in super::MODULE_COLUMNS.into_iter().enumerate() {
        let expected =
            by_category.iter().find(|of| of.category == category).map_or(Bytes::ZERO, |of| of.bytes);
        assert_eq!(table.rows.iter().map(|row| row.own[at]).sum::<Bytes>(), expected, "{category:?}");
        let roots = table.rows.iter().filter(|row| row.depth == 0);
        assert_eq!(roots.map(|row| row.total[at]).sum::<Bytes>(), expected, "{category:?}");
    }
}

/// Rows as text: depth, module, activations with those below, and calls.
fn lines(table: &ModuleTable) -> Vec<String> {
    let row = |row: &super::ModuleRow| {
        let place = match &row.place {
            ModulePlace::Module { name, from, .. } => format!("{name} ({})", from.as_deref().unwrap_or("?")),
            ModulePlace::Outside => "outside".to_owned(),
            ModulePlace::NotKnown => "not known".to_owned(),
        };
        format!("{}{place} {} x{}", "  ".repeat(row.depth), row.total[3].0, row.calls)
    };
    table.rows.iter().map(row).collect()
}

/// A model of three equal blocks, each a norm and a linear layer, called by one line.
fn blocks(recording: &mut Recording) {
    let (model, block) =
        ("/home/me/model.py:113 forward", ["/home/me/model.py:88 forward", "/home/me/model.py:89 forward"]);
    let embed = stack(recording, &["/home/me/model.py:110 forward"]);
    let norm = stack(recording, &[model, block[0], NORM]);
    let linear = stack(recording, &[model, block[1], LINEAR]);
    let relu = stack(recording, &[model, block[1]]);
    recording.alloc(0, 1000, embed, None);
    for at in 0..3u64 {
        // Both outputs of a norm have one stack.
        recording.alloc(10 * at + 1, 10, norm, None);
        recording.alloc(10 * at + 2, 20, norm, None);
        recording.alloc(10 * at + 3, 100 + at as i64, linear, None);
        recording.alloc(10 * at + 4, 7, relu, None);
    }
}

#[test]
fn activations_lie_below_the_modules_that_their_stacks_show() {
    let mut recording = Recording::default();
    blocks(&mut recording);
    let table = table(&first(recording.finish()));
    assert_eq!(
        lines(&table),
        [
            "model.py forward (train.py:9) 1414 x1",
            "  model.py forward (model.py:113) 414 x3",
            "    linear.py forward (model.py:89) 303 x3",
            "    normalization.py forward (model.py:88) 90 x3",
        ]
    );
    assert_eq!(table.rows[1].by_call, [137, 138, 139]);
    assert_eq!(table.rows[1].own[3], 21);
    assert!(table.rows[2].by_call.is_empty(), "the blocks tell it");
}

#[test]
fn modules_are_called_by_their_class_where_that_was_recorded() {
    let mut recording = Recording::default();
    let model = "/home/me/model.py:113 Net.forward";
    let inner = stack(&mut recording, &[model, "/home/me/model.py:8 make.<locals>.Head.forward"]);
    recording.alloc(0, 64, inner, None);
    assert_eq!(
        lines(&table(&first(recording.finish()))),
        ["Net (train.py:9) 64 x1", "  Head (model.py:113) 64 x1"]
    );
}

#[test]
fn wrappers_and_helpers_are_no_modules() {
    let mut recording = Recording::default();
    let wrapper = "/env/lib/python3.11/site-packages/torch/amp/autocast_mode.py:44 decorate_autocast";
    let frames =
        [LINEAR, CALL, "/home/me/model.py:30 attend", "/home/me/model.py:34 forward", wrapper, CALL, MAIN];
    let stack = recording.stack(&frames);
    recording.alloc(0, 64, stack, None);
    assert_eq!(
        lines(&table(&first(recording.finish()))),
        ["model.py forward (train.py:9) 64 x1", "  linear.py forward (model.py:30) 64 x1"]
    );
}

/// Parameters that constructors make, with the frames of the constructors from the outermost on.
fn parameter(recording: &mut Recording, slot: u64, size: i64, frames: &[&str]) {
    let mut all = vec![MAIN];
    all.extend(frames);
    all.reverse();
    let stack = recording.stack(&all);
    recording.alloc(slot, size, stack, None);
}

const MAKE_LINEAR: &str = "/env/lib/python3.11/site-packages/torch/nn/modules/linear.py:106 __init__";

#[test]
fn parameters_join_the_module_whose_constructor_made_them() {
    let mut recording = Recording::default();
    let (net, head) = ("/home/me/model.py:20 Net.__init__", "/home/me/model.py:5 Head.__init__");
    parameter(&mut recording, 100, 4096, &[net, head, MAKE_LINEAR]);
    parameter(&mut recording, 101, 8192, &[net, MAKE_LINEAR]);
    let forward = ["/home/me/model.py:113 Net.forward", "/home/me/model.py:8 Head.forward"];
    let inner = stack(&mut recording, &[forward[0], forward[1], LINEAR]);
    recording.alloc(0, 64, inner, None);
    let table = table(&first(recording.finish()));
    let parameters: Vec<Bytes> = table.rows.iter().map(|row| row.total[0]).collect();
    let rows = lines(&table);
    // The linear layer of the net is only known by its constructor.
    assert_eq!(
        rows,
        [
            "Net (train.py:9) 64 x1",
            "  linear.py __init__ (model.py:20) 0 x0",
            "  Head (model.py:113) 64 x1",
            "    linear.py forward (model.py:8) 64 x1",
        ]
    );
    assert_eq!(parameters, [12288, 8192, 4096, 4096]);
}

#[test]
fn moved_parameters_are_of_no_known_module() {
    let mut recording = Recording::default();
    let apply = "/env/lib/python3.11/site-packages/torch/nn/modules/module.py:930 _apply";
    let convert = "/env/lib/python3.11/site-packages/torch/nn/modules/module.py:1340 convert";
    parameter(&mut recording, 100, 4096, &["/home/me/trainer.py:20 Trainer.__init__", apply, convert]);
    assert_eq!(lines(&table(&first(recording.finish()))), ["not known 0 x0"]);
}

#[test]
fn containers_and_wrappers_do_not_repeat_by_what_they_call() {
    let mut recording = Recording::default();
    let wrapper = "/env/lib/python3.11/site-packages/torch/nn/parallel/distributed.py:1912 forward";
    let container = "/env/lib/python3.11/site-packages/torch/nn/modules/container.py:259 forward";
    let relu = "/env/lib/python3.11/site-packages/torch/nn/modules/activation.py:133 forward";
    let net = "/home/me/net.py:7 forward";
    let linear = stack(&mut recording, &[wrapper, net, container, LINEAR]);
    let relu = stack(&mut recording, &[wrapper, net, container, relu]);
    let add = stack(&mut recording, &[wrapper, net]);
    for slot in [0, 10] {
        recording.alloc(slot, 8, linear, None);
        recording.alloc(slot + 1, 9, relu, None);
        recording.alloc(slot + 2, 10, linear, None);
        recording.alloc(slot + 3, 11, add, None);
    }
    assert_eq!(
        lines(&table(&first(recording.finish()))),
        [
            "distributed.py forward (train.py:9) 76 x1",
            "  net.py forward (distributed.py:1912) 76 x1",
            "    container.py forward (net.py:7) 54 x2",
            "      linear.py forward (container.py:259) 36 x4",
            "      activation.py forward (container.py:259) 18 x2",
        ]
    );
}

proptest! {
    #[test]
    fn blocks_that_one_line_calls_are_told_apart(
        blocks in prop::collection::vec(prop::collection::vec(1i64..100, 3), 1..9),
        passes in 1usize..4,
        has_middle in any::<bool>(),
    ) {
        let mut recording = Recording::default();
        let (net, block) = ("/home/me/net.py:5 forward", "/home/me/net.py:9 forward");
        let before = stack(&mut recording, &["/home/me/net.py:3 forward"]);
        let parts = [[net, block, NORM], [net, block, LINEAR]].map(|path| stack(&mut recording, &path));
        let own = stack(&mut recording, &[net, "/home/me/net.py:11 forward"]);
        let main = recording.stack(&["/home/me/train.py:30 loss", MAIN]);
        let mut slot = 0;
        let mut alloc = |recording: &mut Recording, size, stack| {
            recording.alloc(slot, size, stack, None);
            slot += 1;
        };
        for _ in 0..passes {
            alloc(&mut recording, 1, before);
            for sizes in &blocks {
                alloc(&mut recording, sizes[0], parts[0]);
                // One line may allocate several times, or not at all.
                if has_middle {
                    alloc(&mut recording, sizes[1], parts[0]);
                }
                alloc(&mut recording, sizes[2], parts[1]);
                alloc(&mut recording, 2, own);
            }
            alloc(&mut recording, 3, main);
        }
        let table = table(&first(recording.finish()));
        let row = table.rows.iter().find(|row| row.depth == 1).expect("the blocks");
        prop_assert_eq!(row.calls as usize, blocks.len());
        let of_call = |sizes: &Vec<i64>| sizes[0] + sizes[2] + 2 + if has_middle { sizes[1] } else { 0 };
        let in_a_pass: Vec<i64> = blocks.iter().map(of_call).collect();
        let kept = row.total[3].0;
        prop_assert_eq!(kept, passes as i64 * in_a_pass.iter().sum::<i64>());
        if 1 < blocks.len() {
            let expected: Vec<i64> = in_a_pass.iter().map(|bytes| bytes * passes as i64).collect();
            prop_assert_eq!(&row.by_call, &expected);
        }
    }
}
