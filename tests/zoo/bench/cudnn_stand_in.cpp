// Convolutions and batch norms for a device without kernels: they ask the allocator for what cuDNN's own do (their
// results, what a backward needs, a workspace) and compute nothing. Built by `record.py`.
#include <ATen/ATen.h>
#include <torch/library.h>

using at::IntArrayRef;
using at::Tensor;
using OptionalTensor = std::optional<Tensor>;

namespace {

// cuDNN often brings its input into another layout first; that takes as much as the input.
Tensor workspace_like(const Tensor &input) {
  return at::empty({(int64_t)input.nbytes()}, input.options().dtype(at::kByte).memory_format(at::MemoryFormat::Contiguous));
}

at::MemoryFormat layout_of(const Tensor &input, const Tensor &weight) {
  bool is_channels_last = input.suggest_memory_format() == at::MemoryFormat::ChannelsLast ||
                          weight.suggest_memory_format() == at::MemoryFormat::ChannelsLast;
  return input.dim() == 4 && is_channels_last ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
}

int64_t at_dimension(IntArrayRef values, int64_t i) { return values.size() == 1 ? values[0] : values[i]; }

Tensor convolution(const Tensor &input, const Tensor &weight, IntArrayRef padding, IntArrayRef stride,
                   IntArrayRef dilation, int64_t, bool, bool, bool) {
  auto layout = layout_of(input, weight);
  Tensor x = input.contiguous(layout), w = weight.contiguous(layout);
  std::vector<int64_t> size = {x.size(0), w.size(0)};
  for (int64_t i = 0; i + 2 < x.dim(); i++) {
    int64_t kernel = at_dimension(dilation, i) * (w.size(i + 2) - 1) + 1;
    size.push_back((x.size(i + 2) + 2 * at_dimension(padding, i) - kernel) / at_dimension(stride, i) + 1);
  }
  Tensor result = at::empty(size, x.options().memory_format(layout));
  Tensor workspace = workspace_like(x);
  return result;
}

Tensor transposed(const Tensor &input, const Tensor &weight, IntArrayRef padding, IntArrayRef output_padding,
                  IntArrayRef stride, IntArrayRef dilation, int64_t groups, bool, bool, bool) {
  auto layout = layout_of(input, weight);
  Tensor x = input.contiguous(layout), w = weight.contiguous(layout);
  std::vector<int64_t> size = {x.size(0), w.size(1) * groups};
  for (int64_t i = 0; i + 2 < x.dim(); i++) {
    int64_t kernel = at_dimension(dilation, i) * (w.size(i + 2) - 1) + 1;
    size.push_back((x.size(i + 2) - 1) * at_dimension(stride, i) - 2 * at_dimension(padding, i) + kernel +
                   at_dimension(output_padding, i));
  }
  Tensor result = at::empty(size, x.options().memory_format(layout));
  Tensor workspace = workspace_like(x);
  return result;
}

std::tuple<Tensor, Tensor, Tensor> convolution_backward(const Tensor &grad_output, const Tensor &input,
                                                        const Tensor &weight, at::OptionalIntArrayRef bias_sizes,
                                                        IntArrayRef, IntArrayRef, IntArrayRef, bool, IntArrayRef,
                                                        int64_t, std::array<bool, 3> wanted) {
  auto layout = layout_of(input, weight);
  Tensor g = grad_output.contiguous(layout), x = input.contiguous(layout), w = weight.contiguous(layout);
  Tensor to_input, to_weight, to_bias;
  if (wanted[0]) {
    to_input = at::empty(x.sizes(), x.options().memory_format(layout));
    Tensor workspace = workspace_like(g);
  }
  if (wanted[1]) {
    to_weight = at::empty(w.sizes(), w.options().memory_format(layout));
    Tensor workspace = workspace_like(x);
  }
  if (wanted[2]) to_bias = at::empty({g.size(1)}, g.options().memory_format(at::MemoryFormat::Contiguous));
  return {to_input, to_weight, to_bias};
}

std::tuple<Tensor, Tensor, Tensor, Tensor> batch_norm(const Tensor &input, const Tensor &weight, const OptionalTensor &,
                                                      const OptionalTensor &, const OptionalTensor &, bool training,
                                                      double, double) {
  auto layout = input.suggest_memory_format();
  Tensor x = input.contiguous(layout);
  Tensor result = at::empty_like(x, x.options(), layout);
  int64_t kept = training ? weight.numel() : 0;
  return {result, at::empty({kept}, weight.options()), at::empty({kept}, weight.options()),
          at::empty({0}, input.options().dtype(at::kByte).memory_format(at::MemoryFormat::Contiguous))};
}

std::tuple<Tensor, Tensor, Tensor> batch_norm_backward(const Tensor &input, const Tensor &grad_output,
                                                       const Tensor &weight, const OptionalTensor &,
                                                       const OptionalTensor &, const OptionalTensor &,
                                                       const OptionalTensor &, double, const Tensor &) {
  auto layout = input.suggest_memory_format();
  Tensor x = input.contiguous(layout), g = grad_output.contiguous(layout);
  return {at::empty_like(x, x.options(), layout), at::empty_like(weight), at::empty_like(weight)};
}

} // namespace

TORCH_LIBRARY_IMPL(aten, CUDA, library) {
  library.impl("cudnn_convolution", convolution);
  library.impl("cudnn_convolution_transpose", transposed);
  library.impl("convolution_backward", convolution_backward);
  library.impl("cudnn_batch_norm", batch_norm);
  library.impl("cudnn_batch_norm_backward", batch_norm_backward);
}
