// Index arithmetic shared by the box rules: which inputs a window reads, which windows read an input, which groups a
// range of samples belongs to. All in global coordinates; spatial axis a of a window is tensor axis a + 1.
#pragma once

#include "libcore/graph/op_def.h"

namespace voxshard {

/// The window of an op of a family with one.
inline const Window& window_of(const OpContext& op) { return *window_of(op.attrs); }
/// The box that the windows `out` read: [b*s - lo, (e-1)*s - lo + span) per spatial axis, all `channels`; may lie
/// outside.
///   example: kernel 3, pad 1, out [4:8] -> [3:9]
Box window_reads(const Window& window, const Box& out, std::int64_t channels);
/// The windows that read any of `in`; may lie outside [0, outputs). The low end is chosen such that the local padding
/// of the gradient stays non-negative.   example: kernel 3, stride 2, pad 1, in [4:8] -> windows [2:5]
Box windows_reading(const Window& window, const Box& in, std::int64_t channels);
/// `box` clipped to the tensor.
Box clip(const Box& box, const Shape& shape);
/// The groups of the samples of an iteration box (`attrs` has `groups` over `batch`), with all of the other axes of
/// `sums`.
template <class Attrs>
Box groups_of(const Attrs& attrs, const Box& iteration, const Shape& sums) {
  Box box = Box::whole(sums);
  box.set(0, iteration.begin[0] * attrs.groups / attrs.batch, (iteration.end(0) - 1) * attrs.groups / attrs.batch + 1);
  return box;
}
/// The part of the result that a sum of groups adds to: the groups of the samples of `iteration`.
template <class Attrs>
Box adds_to_groups(const OpContext& op, const Box& iteration) {
  return groups_of(attrs_of<Attrs>(op.attrs), iteration, op.result.shape);
}
/// The boxes that the sums and the gradient of a loss read: of inputs 0 and 1 (logits, targets) the same voxels with
/// all their channels, of input 2 (sums) the groups, of input 3 (d_loss) everything.
template <class Attrs>
Box voxel_needs(const OpContext& op, int input, const Box& iteration) {
  const Shape& shape = op.inputs[input].shape;
  if (input == 2) return groups_of(attrs_of<Attrs>(op.attrs), iteration, shape);
  if (input == 3) return Box::whole(shape);
  Box box = iteration;
  box.set(box.axes() - 1, 0, shape.back());
  return box;
}
/// The boxes that the value of a loss reads: its sums; nothing of the other inputs, which only its gradient uses.
Box loss_needs(const OpContext& op, int input, const Box& iteration);
/// A shape or view dims with the axes of `dims` lifted to 5: {N, H, W, C} -> {N, 1, H, W, C}.
Shape lifted(const Shape& shape);

/// Errors: kConfig with `text` unless `ok`.
void require(bool ok, const std::string& text);
/// An extent check in words: "expected input 1 of shape 3x3, got 2x2".
void require_shape(std::span<const TensorType> inputs, std::size_t input, const Shape& expected);

}  // namespace voxshard
