//! The optimizer that steps, by the files of torch that its steps run through.

use super::role::Role;

/// An optimizer of torch, by the state that it keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Optimizer {
    /// This many tensors of the size of each parameter, unless it is told to keep more.
    StatesPerParameter(usize),
    /// No state, or one tensor of the size of each parameter.
    Momentum,
    /// Tensors of other sizes than parameters: factored state, blocks, or an optimizer that is no part of torch.
    StatesOfOwnSize,
}

impl Optimizer {
    /// The optimizer that a frame with a role is part of, where it shows.
    pub(crate) fn of_frame(file: &str, role: Role) -> Option<Self> {
        if !matches!(role, Role::Step | Role::State | Role::Foreach) {
            return None;
        }
        let file = file.replace('\\', "/");
        let (folders, base) = file.rsplit_once('/').unwrap_or(("", &file));
        if !folders.ends_with("torch/optim") {
            return None;
        }
        match base {
            "adam.py" | "adamw.py" | "nadam.py" | "radam.py" | "adamax.py" | "sparse_adam.py"
            | "adadelta.py" | "rprop.py" => Some(Self::StatesPerParameter(2)),
            "rmsprop.py" | "adagrad.py" | "asgd.py" | "_muon.py" => Some(Self::StatesPerParameter(1)),
            "sgd.py" => Some(Self::Momentum),
            "_adafactor.py" | "lbfgs.py" => Some(Self::StatesOfOwnSize),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_torch_tell_the_optimizer() {
        let of = |base: &str| Optimizer::of_frame(&format!("/env/torch/optim/{base}"), Role::Step);
        assert_eq!(of("adam.py"), Some(Optimizer::StatesPerParameter(2)));
        assert_eq!(of("sgd.py"), Some(Optimizer::Momentum));
        assert_eq!(of("_adafactor.py"), Some(Optimizer::StatesOfOwnSize));
        assert_eq!(of("optimizer.py"), None);
        assert_eq!(Optimizer::of_frame("/home/me/adam.py", Role::Step), None);
        assert_eq!(Optimizer::of_frame("/env/torch/optim/adam.py", Role::ZeroGrad), None);
    }
}
