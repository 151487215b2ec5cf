//! The types of numbers, as far as sizes show them.

use super::computation::Computation;
use super::declared_types::{DeclaredTypes, Numbers, Widths};
use super::dependence::Dependence;
use super::operation_kind::OperationKind;
use super::run::Run;
use super::share::{MOST, MUCH, NEARLY_ALL};
use foldhash::HashSet;
use oomscope_analysis::{Category, TorchOperation};
use oomscope_model::{AllocId, SaturatingSum as _, StackId};

/// The types of numbers in a recording.
#[derive(Debug)]
pub struct NumberTypes {
    /// Whether it computes in numbers of two bytes already.
    pub are_half: bool,
    /// Whether something shows that numbers have four bytes.
    pub are_wide: bool,
    /// Tensors of one byte for each number of another, or of eight: masks, and places in another.
    others: HashSet<AllocId>,
    declared: DeclaredTypes,
}

impl NumberTypes {
    /// Look at a recording.
    pub(super) fn of(computation: &Computation<'_>) -> Self {
        let run = &computation.run;
        let in_dropout = run.stacks_of_operations(|operation| operation == TorchOperation::Dropout);
        let in_max_pool = run.stacks_of_operations(|operation| operation == TorchOperation::MaxPool);
        let mut others = HashSet::default();
        let (mut wide, mut half) = (0u64, 0u64);
        let mut before: Option<(AllocId, StackId, u64)> = None;
        for id in run.recording.ids() {
            if !computation.depends_on_batch(id) {
                continue;
            }
            let (stack, bytes) = (run.recording.stack(id), run.bytes(id));
            let Some((one, _, one_bytes)) = before
                .replace((id, stack, bytes))
                .filter(|&(_, of_one, _)| of_one == stack && stack != StackId::EMPTY)
            else {
                continue;
            };
            // Dropout makes a mask and its result, as a comparison and what it selects do. A layer makes neither: what it has
            // beside its result is a workspace.
            if bytes == one_bytes.saturating_mul(4)
                && computation.operation_kind(id) != OperationKind::Product
            {
                others.insert(one);
                wide = wide.saturating_add(if in_dropout.has(stack) { bytes } else { 0 });
            } else if bytes == one_bytes.saturating_mul(2) && in_dropout.has(stack) {
                others.insert(one);
                half = half.saturating_add(bytes);
            } else if one_bytes < bytes && in_max_pool.has(stack) {
                others.insert(id);
            }
        }
        let losses = smallest_loss(run, computation);
        let [by_two, by_four] = bytes_by_width(run);
        let of_parameters = run.of_category(Category::Parameter);
        let parameters = of_parameters.iter().map(|&id| run.bytes(id)).saturating_sum();
        // Norms alone, or a few matrices whose sides fit by chance, tell nothing.
        let tells = |one: u64, other: u64| {
            MUCH.is_reached(one, parameters) && NEARLY_ALL.is_reached(one, one.saturating_add(other))
        };
        let declared = DeclaredTypes::of(run);
        let of_model = declared.parameters;
        let are_declared = of_model.bytes() != 0 && MOST.is_reached(of_model.bytes(), parameters);
        let seen = declared.computed;
        let is_mixed = seen.two != 0 && !NEARLY_ALL.is_reached(seen.four, seen.four.saturating_add(seen.two));
        for id in run.recording.ids() {
            match declared.get(run, id) {
                Some(Numbers::Float(4 | 8)) => _ = others.remove(&id),
                Some(Numbers::Float(_) | Numbers::Other) => _ = others.insert(id),
                None => {}
            }
        }
        if are_declared {
            return Self {
                are_wide: MUCH.is_reached(of_model.four, of_model.bytes()),
                are_half: is_mixed
                    || losses == Some(2)
                    || MUCH.is_reached(of_model.two, of_model.bytes())
                    || computation.has_weight_copies(),
                others,
                declared,
            };
        }
        Self {
            // A loss may be computed in fp32 from numbers of two bytes, but not the other way round.
            are_wide: wide != 0 || tells(by_four, by_two),
            are_half: is_mixed
                || losses == Some(2)
                || wide < half
                || tells(by_two, by_four)
                || computation.has_weight_copies()
                || has_odd_parameters(run),
            others,
            declared,
        }
    }

    /// Bytes of parameters and buffers at the end of the recording in numbers of four or eight bytes, of two, and of others, as the
    /// program said; `None` where it did not.
    pub fn declared_parameters(&self) -> Option<[u64; 3]> {
        let Widths { four, two, other } = self.declared.parameters;
        (self.declared.parameters.bytes() != 0).then_some([four, two, other])
    }

    /// Whether most bytes of some blocks are numbers of four bytes, as the program said.
    pub(super) fn are_wide_in(&self, run: &Run<'_>, blocks: &[AllocId]) -> bool {
        let all = blocks.iter().map(|&id| run.bytes(id)).saturating_sum();
        let is_wide = |id: &&AllocId| self.declared.get(run, **id) == Some(Numbers::Float(4));
        MOST.is_reached(blocks.iter().filter(is_wide).map(|&id| run.bytes(id)).saturating_sum(), all)
    }

    /// Whether an allocation has numbers of another type than the model's, whatever that is: a mask, or places.
    pub fn is_other(&self, id: AllocId) -> bool {
        self.others.contains(&id)
    }
}

/// Whether some parameter has a size that no number of four bytes fills.
fn has_odd_parameters(run: &Run<'_>) -> bool {
    let mut ids = run.recording.ids();
    ids.any(|id| run.category(id) == Category::Parameter && !run.bytes(id).is_multiple_of(4))
}

/// The bytes of matrices among the parameters whose sizes tell that a number has two bytes, and four.
///
/// A matrix and the bias or norm that a model has right after it tell the numbers on the matrix's other side, whatever their
/// type: the quotient of their bytes. A bias or norm of as many numbers elsewhere tells what they take in bytes.
fn bytes_by_width(run: &Run<'_>) -> [u64; 2] {
    let sizes: Vec<u64> = run.of_category(Category::Parameter).into_iter().map(|id| run.bytes(id)).collect();
    let with_vector = |pair: &&[u64]| 0 < pair[1] && pair[1] < pair[0] && pair[0].is_multiple_of(pair[1]);
    let pairs: Vec<&[u64]> = sizes.windows(2).filter(with_vector).collect();
    let vectors: HashSet<u64> = pairs.iter().map(|pair| pair[1]).collect();
    [2, 4].map(|width| {
        let tells = |pair: &&&[u64]| vectors.contains(&(pair[0] / pair[1]).saturating_mul(width));
        pairs.iter().filter(tells).map(|pair| pair[0]).saturating_sum()
    })
}

/// The smallest allocation of a function of torch that computes a loss, in bytes: the loss itself.
fn smallest_loss(run: &Run<'_>, computation: &Computation<'_>) -> Option<u64> {
    let in_loss = run.stacks_of_operations(TorchOperation::is_loss);
    let is_loss = |id: &AllocId| {
        computation.dependence(*id) != Dependence::Fixed && in_loss.has(run.recording.stack(*id))
    };
    run.recording.ids().filter(is_loss).map(|id| run.bytes(id)).filter(|&bytes| bytes != 0).min()
}

#[cfg(test)]
mod tests {
    use crate::{Run, Workload};
    use oomscope_analysis::{Attribution, UserRules};
    use oomscope_fixtures::programs::{DATA, LOAD, Program};
    use oomscope_model::{AllocId, Bytes, Census, CensusIx, DeviceId, NamedTensor, TensorRole};

    const MIB: i64 = 1 << 20;
    const CALL: &str = "torch/nn/modules/module.py _call_impl";
    const MAIN: &str = "/home/me/train.py:90 <module>";
    const POOL: &[&str] =
        &["torch/nn/functional.py _max_pool2d", CALL, "/home/me/net.py:9 forward", CALL, MAIN];
    const LAYER: &[&str] =
        &["torch/nn/modules/conv.py _conv_forward", CALL, "/home/me/net.py:8 forward", CALL, MAIN];
    const MASKED: &[&str] = &["/home/me/net.py:10 forward", CALL, MAIN];

    /// Whether the first and the second of two tensors that a call makes on one line are of another type than the model's.
    fn are_other(stack: &'static [&'static str], sizes: [i64; 2]) -> [bool; 2] {
        let mut program = Program::default();
        program.alloc(3 * MIB, LOAD);
        program.alloc(MIB, DATA);
        let first = sizes.map(|size| program.alloc(size * MIB, stack))[0];
        let recording = program.finish();
        let attribution = Attribution::of(&recording, &UserRules::default());
        let workload = Workload::of(Run { recording: &recording, attribution: &attribution });
        let mut ids = recording.ids().skip_while(|&id| recording.allocation(id).addr != first);
        [(); 2].map(|()| ids.next().is_some_and(|id: AllocId| workload.number_types().is_other(id)))
    }

    /// The types of a model of two matrices, whose sizes do not tell, as the program says.
    fn declared(dtypes: [&str; 2], computed: &str) -> (bool, bool, [bool; 3]) {
        let mut program = Program::default();
        let weights = dtypes.map(|_| program.alloc(3 * MIB, LOAD));
        program.alloc(MIB, DATA);
        let made = program.alloc(2 * MIB, MASKED);
        let texts = [dtypes[0], dtypes[1], computed, "w", "AddBackward0"].map(str::to_owned).to_vec();
        let tensor = |addr, dtype, role: Option<TensorRole>| NamedTensor {
            dtype: CensusIx(dtype),
            requires_grad: true,
            grad_fn: role.is_none().then_some(CensusIx(4)),
            role,
            name: role.map(|_| CensusIx(3)),
            ..NamedTensor::new(DeviceId(0), addr, Bytes(MIB))
        };
        let parameter = Some(TensorRole::Parameter);
        let tensors =
            vec![tensor(weights[0], 0, parameter), tensor(weights[1], 1, parameter), tensor(made, 2, None)];
        program.name(Census::new(tensors, texts, vec![vec![1024]], Vec::new(), Vec::new()));
        let recording = program.finish();
        let attribution = Attribution::of(&recording, &UserRules::default());
        let workload = Workload::of(Run { recording: &recording, attribution: &attribution });
        let types = workload.number_types();
        let is_other = |addr: u64| {
            let id = recording.ids().find(|&id| recording.addr(id) == addr);
            types.is_other(id.expect("it was made"))
        };
        (types.are_wide, types.are_half, [weights[0], weights[1], made].map(is_other))
    }

    #[test]
    fn what_the_program_says_of_its_tensors_counts() {
        assert_eq!(declared(["float32", "float32"], "float32"), (true, false, [false; 3]));
        assert_eq!(declared(["bfloat16", "bfloat16"], "bfloat16"), (false, true, [true; 3]));
        // Autocast.
        assert_eq!(declared(["float32", "float32"], "float16"), (true, true, [false, false, true]));
        // Weights that are packed, beside others of four bytes.
        assert_eq!(declared(["uint8", "float32"], "float32"), (true, false, [true, false, false]));
        assert_eq!(declared(["uint8", "uint8"], "float32"), (false, false, [true, true, false]));
    }

    #[test]
    fn masks_and_places_are_of_other_types() {
        assert_eq!(are_other(MASKED, [2, 8]), [true, false]);
        assert_eq!(are_other(POOL, [4, 8]), [false, true]);
        // A layer has a workspace beside its result.
        assert_eq!(are_other(LAYER, [2, 8]), [false, false]);
    }
}
