#include "libcore/kernels/norm.h"
namespace voxshard::fast {
void moment_sums(const TensorView& x, const TensorView& sums, const NormSpec& spec) { reference::moment_sums(x, sums, spec); }
void norm_stats(const TensorView& sums, const TensorView& stats, const NormSpec& spec) { reference::norm_stats(sums, stats, spec); }
void norm_apply(const TensorView& x, const TensorView& stats, const TensorView& gamma, const TensorView& beta, const TensorView& y, const NormSpec& spec) { reference::norm_apply(x, stats, gamma, beta, y, spec); }
void norm_grad_sums(const TensorView& x, const TensorView& stats, const TensorView& gamma, const TensorView& beta, const TensorView& d_y, const TensorView& sums, const NormSpec& spec) { reference::norm_grad_sums(x, stats, gamma, beta, d_y, sums, spec); }
void norm_input_grad(const TensorView& x, const TensorView& stats, const TensorView& gamma, const TensorView& beta, const TensorView& d_y, const TensorView& sums, const TensorView& d_x, const NormSpec& spec) { reference::norm_input_grad(x, stats, gamma, beta, d_y, sums, d_x, spec); }
}
