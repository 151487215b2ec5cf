//! Whether attention is fused already.

use crate::remedies::scene::Scene;

/// What names of functions and files of fused attention have in them: PyTorch's own, its kernels, and those of flash-attn,
/// xFormers and transformers.
const FUSED: [&str; 6] = [
    "scaled_dot_product",
    "sdpa_attention",
    "flash_att",
    "flashatt",
    "efficient_attention",
    "memory_efficient",
];

/// Whether some frame of the recording is one of fused attention.
pub(super) fn is_fused(scene: &Scene<'_>) -> bool {
    scene.has_frame(|file, name| {
        let file = file.rsplit('/').next().unwrap_or(file).to_ascii_lowercase();
        let name = name.to_ascii_lowercase();
        FUSED.iter().any(|word| name.contains(word) || file.contains(word))
    })
}
