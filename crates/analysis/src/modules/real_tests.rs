//! Tables by the modules that the program said it has.

use super::{ModulePlace, ModuleTable, module_table};
use crate::{Attribution, UserRules};
use oomscope_fixtures::first;
use oomscope_fixtures::stacks::Recording;
use oomscope_model::{
    Bytes, Census, CensusIx, CensusModule, CensusOwner, DeviceId, ModuleClass, NamedTensor, StackId,
    TensorRole,
};

const MAIN: &str = "/home/me/train.py:9 <module>";
const CALL: &str = "/env/lib/python3.11/site-packages/torch/nn/modules/module.py:1798 _call_impl";
const NET: &str = "/home/me/model.py:113 forward";
const EMBED: &str = "/home/me/model.py:110 forward";
const ATTENTION: &str = "/home/me/model.py:30 forward";

/// The `forward` of each class: its file and first line; 0 where it has none.
const CLASSES: [(&str, &str, u32); 4] = [
    ("Net", "/home/me/model.py", 108),
    ("Block", "/home/me/model.py", 86),
    ("Attention", "/home/me/model.py", 20),
    ("ModuleList", "", 0),
];

/// The modules of a net of blocks with two kinds of parts, by their paths and classes.
fn modules(blocks: usize) -> Vec<(String, usize)> {
    let mut out = vec![(String::new(), 0), ("blocks".to_owned(), 3)];
    for block in 0..blocks {
        out.extend([(format!("blocks.{block}"), 1), (format!("blocks.{block}.attn"), 2)]);
    }
    out
}

/// What a program says of its nets, with a parameter of one, and a state of it.
fn census(nets: usize, blocks: usize, tensors: &[(u64, TensorRole, &str)]) -> Census {
    let mut texts: Vec<String> = Vec::new();
    let mut text = |text: &str| {
        let known = texts.iter().position(|known| known == text);
        let at = known.unwrap_or_else(|| {
            texts.push(text.to_owned());
            texts.len() - 1
        });
        CensusIx(at as u32)
    };
    let classes = CLASSES.map(|(name, file, line)| ModuleClass {
        name: text(name),
        file: (line != 0).then(|| text(file)),
        line,
        // Each is twelve lines long.
        last_line: line + 12,
    });
    let mut owners: Vec<CensusOwner> = (0..nets as u32)
        .map(|number| CensusOwner {
            is_optimizer: false,
            class: text("Net"),
            number,
            holder: None,
            is_trained: None,
        })
        .collect();
    owners.push(CensusOwner {
        is_optimizer: true,
        class: text("AdamW"),
        number: 9,
        holder: None,
        is_trained: None,
    });
    let mut said = Vec::new();
    for owner in (0..nets as u32).map(CensusIx) {
        said.extend(modules(blocks).into_iter().map(|(path, class)| CensusModule {
            owner,
            path: text(&path),
            class: CensusIx(class as u32),
        }));
    }
    let tensors = tensors
        .iter()
        .map(|&(addr, role, name)| {
            let is_state = role == TensorRole::OptimizerState;
            NamedTensor {
                role: Some(role),
                name: Some(text(name)),
                owner: Some(if is_state { CensusIx(nets as u32) } else { CensusIx(0) }),
                parameter_owner: is_state.then_some(CensusIx(0)),
                ..NamedTensor::new(DeviceId(0), addr, Bytes(1))
            }
        })
        .collect();
    Census::new(tensors, texts, vec![vec![1]], owners, Vec::new()).with_modules(said, classes.to_vec())
}

fn stack(recording: &mut Recording, frames: &[&str]) -> StackId {
    let mut all = vec![MAIN];
    for frame in frames {
        all.extend([CALL, frame]);
    }
    all.reverse();
    recording.stack(&all)
}

/// The address of a slot.
fn addr(slot: u64) -> u64 {
    (slot + 1) << 20
}

/// A pass through some blocks; the block's own code, its attention, and a norm that the program has no path for.
fn pass(recording: &mut Recording, slot: u64, blocks: u64) {
    let embed = stack(recording, &[EMBED]);
    let [own, attention, norm] = [
        &["/home/me/model.py:88 forward"][..],
        &["/home/me/model.py:89 forward", ATTENTION],
        &[
            "/home/me/model.py:90 forward",
            "/env/lib/python3.11/site-packages/torch/nn/modules/normalization.py:228 forward",
        ],
    ]
    .map(|inner| stack(recording, &[&[NET], inner].concat()));
    recording.alloc(slot, 1000, embed, None);
    for block in 0..blocks {
        for (at, (size, stack)) in
            [(7, own), (100 + block as i64, attention), (40, norm)].into_iter().enumerate()
        {
            recording.alloc(slot + 1 + 3 * block + at as u64, size, stack, None);
        }
    }
}

fn lines(recording: Recording, census: Census) -> Vec<String> {
    let mut snapshot = recording.finish();
    snapshot.census = census;
    let recording = first(snapshot);
    let attribution = Attribution::of(&recording, &UserRules::default());
    let table: ModuleTable = module_table(&recording, &attribution, recording.end());
    let row = |row: &super::ModuleRow| {
        let place = match &row.place {
            ModulePlace::Module { name, class, .. } => format!("{name} {}", class.as_deref().unwrap_or("-")),
            ModulePlace::Outside => "outside".to_owned(),
            ModulePlace::NotKnown => "not known".to_owned(),
        };
        let mark = if row.total_inferred[3] == 0 { "" } else { "≈" };
        let [parameters, _, states, activations] = row.total.map(|bytes| bytes.0);
        format!("{}{place} {parameters} {states} {mark}{activations}", "  ".repeat(row.depth))
    };
    table.rows.iter().map(row).collect()
}

#[test]
fn a_pass_leads_to_each_entry_of_a_list_in_turn() {
    let mut recording = Recording::default();
    pass(&mut recording, 0, 3);
    let found = lines(recording, census(1, 3, &[]));
    assert_eq!(
        found,
        [
            "Net - 0 0 ≈1444",
            "  blocks ModuleList 0 0 ≈444",
            "    blocks.2 Block 0 0 ≈149",
            "      blocks.2.attn Attention 0 0 ≈102",
            "      normalization.py forward - 0 0 ≈40",
            "    blocks.1 Block 0 0 ≈148",
            "      blocks.1.attn Attention 0 0 ≈101",
            "      normalization.py forward - 0 0 ≈40",
            "    blocks.0 Block 0 0 ≈147",
            "      blocks.0.attn Attention 0 0 ≈100",
            "      normalization.py forward - 0 0 ≈40",
        ]
    );
}

#[test]
fn a_pass_that_is_not_over_is_told_by_the_one_before() {
    for (before, last, expected) in [(3, 2, "    blocks.1 Block"), (2, 2, "  Block -")] {
        let mut recording = Recording::default();
        let main = recording.stack(&["/home/me/train.py:30 loss", MAIN]);
        pass(&mut recording, 0, before);
        recording.alloc(100, 1, main, None);
        pass(&mut recording, 200, last);
        let found = lines(recording, census(1, 3, &[]));
        assert!(found.iter().any(|line| line.starts_with(expected)), "{found:#?}");
    }
}

#[test]
fn a_list_that_runs_otherwise_is_not_told_apart() {
    // Three blocks run, and the program has five.
    let mut recording = Recording::default();
    let main = recording.stack(&["/home/me/train.py:30 loss", MAIN]);
    for slot in [0, 100] {
        pass(&mut recording, slot, 3);
        recording.alloc(slot + 50, 1, main, None);
    }
    let found = lines(recording, census(1, 5, &[]));
    assert_eq!(found[..2], ["Net - 0 0 2888", "  Block - 0 0 888"]);
}

#[test]
fn parameters_and_states_belong_to_their_modules_and_activations_to_the_model_that_is_trained() {
    let mut recording = Recording::default();
    let load =
        recording.stack(&["/env/lib/python3.11/site-packages/torch/nn/modules/module.py:1340 convert", MAIN]);
    recording.alloc(90, 64, load, None);
    recording.alloc(91, 64, load, None);
    pass(&mut recording, 0, 1);
    let tensors = [
        (addr(90), TensorRole::Parameter, "blocks.0.attn.weight"),
        (addr(91), TensorRole::OptimizerState, "blocks.0.attn.weight"),
    ];
    let found = lines(recording, census(2, 1, &tensors));
    assert_eq!(
        found,
        [
            "Net - 64 64 ≈1147",
            "  blocks ModuleList 64 64 ≈147",
            "    blocks.0 Block 64 64 ≈147",
            "      blocks.0.attn Attention 64 64 ≈100",
            "      normalization.py forward - 0 0 ≈40",
        ]
    );
}

#[test]
fn of_two_models_alike_none_is_taken() {
    let mut recording = Recording::default();
    pass(&mut recording, 0, 1);
    let found = lines(recording, census(2, 1, &[]));
    assert!(found.iter().all(|line| !line.contains("blocks")), "{found:#?}");
}

#[test]
fn classes_that_share_a_forward_and_lines_beyond_it_are_not_told() {
    let mut recording = Recording::default();
    // Another class, whose `forward` is in the same file, after that of the net.
    let loss = stack(&mut recording, &[NET, "/home/me/model.py:150 forward"]);
    recording.alloc(0, 64, loss, None);
    let found = lines(recording, census(1, 1, &[]));
    assert_eq!(found, ["Net - 0 0 64", "  model.py forward - 0 0 64"]);
}

#[test]
fn modules_of_an_owner_that_is_not_whole_are_left_out() {
    let owner =
        |holder| CensusOwner { is_optimizer: false, class: CensusIx(0), number: 0, holder, is_trained: None };
    for (holder, count) in [(None, 1), (Some(CensusIx(999)), 0)] {
        let texts = vec!["Net".to_owned(), String::new()];
        let class = ModuleClass { name: CensusIx(0), file: None, line: 0, last_line: 0 };
        let module = CensusModule { owner: CensusIx(0), path: CensusIx(1), class: CensusIx(0) };
        let census = Census::new(Vec::new(), texts, Vec::new(), vec![owner(holder)], Vec::new());
        assert_eq!(census.with_modules(vec![module], vec![class]).modules().len(), count);
    }
}

#[test]
fn a_forward_that_a_library_put_in_place_of_a_models_own_is_not_a_module() {
    let mut recording = Recording::default();
    let wrapper = "/env/lib/python3.11/site-packages/accelerate/utils/operations.py:823 forward";
    let own = "/home/me/model.py:88 forward";
    let stack = recording.stack(&[own, CALL, NET, wrapper, CALL, MAIN]);
    recording.alloc(0, 64, stack, None);
    let found = lines(recording, census(1, 1, &[]));
    assert_eq!(found[..2], ["Net - 0 0 64", "  blocks ModuleList 0 0 64"]);
}
