//! The innermost module of every stack.

use super::call_path::Place;
use super::places::Places;
use super::real::RealModules;
use super::tree::{NodeIx, name_of};
use crate::StackLabels;
use oomscope_model::{Snapshot, StackId};

/// The name of the innermost module that each stack shows; empty where it shows none. The time grows with the number of frames.
pub fn module_labels(snapshot: &Snapshot) -> StackLabels {
    let modules = RealModules::of(snapshot);
    let mut places = Places::new(snapshot, &modules);
    let stacks = (0..snapshot.stacks.len() as u32).map(StackId);
    let nodes: Vec<Option<NodeIx>> = stacks.map(|stack| innermost(places.read(stack))).collect();
    let names: Vec<String> = places.tree.nodes.iter().map(|node| name_of(snapshot, &node.step)).collect();
    let name = |node: &Option<NodeIx>| node.map_or("", |node| names[node.index()].as_str());
    StackLabels::of(&nodes.iter().map(name).collect::<Vec<&str>>())
}

fn innermost(place: &Place<NodeIx>) -> Option<NodeIx> {
    match place {
        Place::Called(path) | Place::Made(path) => path.last().copied(),
        Place::Outside | Place::NotKnown => None,
    }
}
