#include "libcore/kernels/loss.h"
namespace voxshard::fast {
void segmentation_sums(const TensorView& logits, const TensorView& labels, const TensorView& sums, const LossSpec& spec) { reference::segmentation_sums(logits, labels, sums, spec); }
void segmentation_loss(const TensorView& sums, const TensorView& loss, const LossSpec& spec) { reference::segmentation_loss(sums, loss, spec); }
void segmentation_grad(const TensorView& logits, const TensorView& labels, const TensorView& sums, const TensorView& d_logits, const LossSpec& spec) { reference::segmentation_grad(logits, labels, sums, d_logits, spec); }
}
