//! A flame graph as an SVG that browsers can zoom and search, without this program.

use inferno::flamegraph::color::{BackgroundColor, Color, PaletteMap};
use inferno::flamegraph::{self, Direction, Options, TextTruncateDirection};
use oomscope_analysis::{CallTree, FrameKey, FrameNames, NodeIx, WeightUnit};
use std::cmp::Reverse;
use std::io::{self, Write};

/// A node is drawn if it has at least one part in this many of the total weight: about a quarter of a pixel in a
/// picture 1,200 pixels wide. The weight of smaller nodes stays with the node above.
const SMALLEST_SHARE: i128 = 5_000;

/// The most rows of frames: a picture about 4,000 pixels high. Deeper stacks are mostly runaway recursion.
const MAX_ROWS: usize = 256;

/// The most characters of a label, which names from a file could otherwise make as long as they like.
const MAX_LABEL: usize = 200;

/// The largest number that scripts in a browser count exactly.
const MAX_EXACT: i128 = 1 << 53;

/// The label for stacks without any frame that is drawn.
const OTHERS: &str = "(other stacks)";

/// The label of an empty picture.
const NOTHING: &str = "nothing was allocated";

/// The content of the picture.
pub struct FlameSvg<'a> {
    /// The nodes.
    pub tree: &'a CallTree,
    /// The labels of frames.
    pub names: &'a FrameNames,
    /// The weight of every node, with everything below it.
    pub weights: &'a [i128],
    /// The unit of weights.
    pub unit: WeightUnit,
    /// The title, such as `Live bytes by stack`.
    pub title: &'a str,
    /// File, device and moment.
    pub subtitle: &'a str,
    /// Red, green and blue for a frame.
    pub color: &'a dyn Fn(FrameKey) -> [u8; 3],
}

/// Write the picture. The same content always gives the same bytes. Where nothing weighs anything,
/// the picture says so.
///
/// # Errors
/// When writing fails.
pub fn flame_svg(out: &mut dyn Write, flame: &FlameSvg<'_>) -> io::Result<()> {
    let (divisor, unit) = scale(flame.unit, flame.weight(NodeIx::ROOT));
    let mut lines = Vec::new();
    let mut colors = PaletteMap::default();
    // A label without a colour in the map would get a random one, and the picture other bytes each time.
    for label in ["", OTHERS, NOTHING] {
        colors.insert(label, Color { r: 208, g: 213, b: 219 });
    }
    flame.collect(divisor, &mut lines, &mut colors);
    if lines.is_empty() {
        lines.push(format!("{NOTHING} 1"));
    }
    let mut options = Options::default();
    flame.title.clone_into(&mut options.title);
    options.subtitle = Some(flame.subtitle.to_owned());
    unit.clone_into(&mut options.count_name);
    "Frame:".clone_into(&mut options.name_type);
    options.direction = Direction::Inverted;
    options.text_truncate_direction = TextTruncateDirection::Right;
    options.palette_map = Some(&mut colors);
    options.min_width = 0.0;
    options.bgcolors = Some(BackgroundColor::Flat(Color { r: 255, g: 255, b: 255 }));
    // Lines are in the order of the picture, from its right end.
    options.flame_chart = true;
    lines.reverse();
    flamegraph::from_lines(&mut options, lines.iter().map(String::as_str), out)
}

/// The divisor with which scripts count all weights exactly, and the name of the resulting unit.
pub(super) fn scale(unit: WeightUnit, total: i128) -> (i128, &'static str) {
    let steps: [(i128, &str); 4] = match unit {
        WeightUnit::Bytes => [(1, "bytes"), (1 << 10, "KiB"), (1 << 20, "MiB"), (1 << 40, "TiB")],
        WeightUnit::ByteMicros => [
            (1, "byte·µs"),
            (1_000_000, "byte·s"),
            (1_000_000 << 20, "MiB·s"),
            (1_000_000_000_000 << 40, "TiB·Ms"),
        ],
        WeightUnit::ByteEvents => [
            (1, "byte·events"),
            (1 << 10, "KiB·events"),
            (1 << 20, "MiB·events"),
            (1_000_000_000 << 40, "billion TiB·events"),
        ],
    };
    let fits = |&(divisor, _): &(i128, &str)| total / divisor < MAX_EXACT;
    steps.into_iter().find(fits).unwrap_or(steps[3])
}

/// A node whose line is still to be written.
struct PendingNode {
    node: NodeIx,
    /// Its weight, at most as much as its parent has left.
    weight: i128,
    /// Length of the path without it.
    prefix: usize,
    depth: usize,
}

impl FlameSvg<'_> {
    fn weight(&self, node: NodeIx) -> i128 {
        self.weights.get(node.index()).copied().unwrap_or(0).max(0)
    }

    /// A line for each node that holds something of its own, from left to right.
    fn collect(&self, divisor: i128, lines: &mut Vec<String>, colors: &mut PaletteMap) {
        let total = self.weight(NodeIx::ROOT);
        let smallest = (total / SMALLEST_SHARE).max(divisor);
        let mut path = String::new();
        let mut todo =
            vec![Task::Enter(PendingNode { node: NodeIx::ROOT, weight: total, prefix: 0, depth: 0 })];
        while let Some(task) = todo.pop() {
            let step = match task {
                Task::Enter(step) => step,
                Task::Own { prefix, weight } => {
                    path.truncate(prefix);
                    let name = if path.is_empty() { OTHERS } else { path.as_str() };
                    if 0 < weight / divisor {
                        lines.push(format!("{name} {}", weight / divisor));
                    }
                    continue;
                }
            };
            path.truncate(step.prefix);
            if step.node != NodeIx::ROOT {
                let key = self.tree.frame(step.node);
                let label = plain(&self.tree.label(self.names, step.node));
                let [r, g, b] = (self.color)(key);
                colors.insert(label.as_str(), Color { r, g, b });
                if !path.is_empty() {
                    path.push(';');
                }
                path.push_str(&label);
            }
            self.enter(&step, smallest, path.len(), &mut todo);
        }
    }

    /// Queue the children of a node, heaviest first, and then the weight that is its own.
    fn enter(&self, step: &PendingNode, smallest: i128, prefix: usize, todo: &mut Vec<Task>) {
        let mut children: Vec<(NodeIx, i128)> = Vec::new();
        if step.depth < MAX_ROWS {
            let all = self.tree.children(step.node).map(|child| (child, self.weight(child)));
            children.extend(all.filter(|&(_, weight)| smallest <= weight));
            children.sort_by_key(|&(child, weight)| (Reverse(weight), child));
        }
        let mut own = step.weight;
        let first = todo.len();
        for (node, weight) in children {
            let weight = weight.min(own);
            own -= weight;
            todo.push(Task::Enter(PendingNode { node, weight, prefix, depth: step.depth + 1 }));
        }
        todo.push(Task::Own { prefix, weight: own });
        todo[first..].reverse();
    }
}

enum Task {
    Enter(PendingNode),
    /// The weight that no child of a node has. Its path is this long.
    Own {
        prefix: usize,
        weight: i128,
    },
}

/// A label for a line of collapsed stacks that is made elsewhere.
pub(super) fn label_for_lines(label: &str) -> String {
    plain(label)
}

/// A label without anything that has a meaning in the format of collapsed stacks.
fn plain(label: &str) -> String {
    const FIXED_SPACE: &str = "\u{a0}";
    let mut plain: String = label.trim().chars().take(MAX_LABEL).collect::<String>().replace(';', ",");
    if plain.len() < label.trim().len() {
        plain.push('…');
    }
    let last = plain.rsplit(' ').next().unwrap_or_default();
    // A number at the end would be counted, and a leading hash makes a comment.
    if last.chars().all(|c| c.is_ascii_digit() || c == '.') || plain.starts_with('#') {
        plain = plain.replace(' ', FIXED_SPACE);
    }
    if plain.is_empty() { "(no name)".to_owned() } else { plain }
}

#[cfg(test)]
#[path = "flame_svg_tests.rs"]
mod tests;
