// A convolution in slices of the channels that it computes: each slice is a kernel of its own with its own packed
// weights, so that a task reads only its own weights. The forward convolution and the weight gradient slice Co, the
// input gradient the channels of d_x.
#include <algorithm>
#include <vector>

#include "libcore/kernels/convolution/conv_kernels.h"
#include "libcore/kernels/convolution/conv_slabs.h"

namespace voxshard::fast {
namespace {

/// The slice [first, first + count) of the last axis, its channels counted from 0.
TensorView channels_of(const TensorView& view, std::int64_t first, std::int64_t count) {
  Box box = view.box;
  box.set(box.axes() - 1, first, first + count);
  TensorView part = view.sub(box);
  part.box.begin[box.axes() - 1] = 0;
  return part;
}

std::int64_t bytes_of(const TensorView& view) { return aligned_bytes(view.bytes()); }

class SlicedConv : public Kernel {
 public:
  SlicedConv(std::unique_ptr<Kernel> (*make)(const ConvUse&), const ConvUse& use) : use_(use) {
    const Shape w = lifted_weights(use.weights);
    const std::int64_t channels = use.pass != ConvPass::kInputGrad ? w[4] : use.channels < 0 ? w[3] : use.channels;
    width_ = channels / use.slices;
    ensure(width_ * use.slices == channels, "slices are equal");
    for (std::int64_t s = 0; s < use.slices; ++s) {
      ConvUse part = use;
      part.slices = 1;
      if (use.pass == ConvPass::kInputGrad) {
        part.channel += s * width_;
        part.channels = width_;
      } else {
        part.weights[part.weights.axes() - 1] = width_;
      }
      packed_at_.push_back(packed_bytes_);
      slices_.push_back(make(part));
      packed_bytes_ += aligned_bytes(slices_.back()->packed_bytes());
    }
  }

  std::string code() const override { return slices_[0]->code(); }
  std::int64_t programs() const override {
    std::int64_t count = 0;
    for (const auto& slice : slices_) count += slice->programs();
    return count;
  }
  std::int64_t packed_bytes() const override { return packed_bytes_; }
  int packed_input() const override { return slices_[0]->packed_input(); }
  std::int64_t pack_tasks() const override { return use_.slices; }

  void pack(const TensorView& weights, std::byte* packed, std::int64_t task) const override {
    const auto s = static_cast<std::size_t>(task);
    if (slices_[s]->packed_bytes() == 0) return;
    if (use_.pass == ConvPass::kInputGrad) return slices_[s]->pack_all(weights, packed + packed_at_[s]);
    const TensorView part = channels_of(weights, task * width_, width_);
    const Tensor dense(part.dtype, part.extent());
    copy(part, dense.view());
    slices_[s]->pack_all(dense.view(), packed + packed_at_[s]);
  }

  std::int64_t workspace_bytes(const KernelCall& call) const override {
    std::int64_t most = 0;
    for_each_slice(call, [&](std::size_t s, const KernelCall& part) {
      const Staged staged = staged_parts(part);
      most = std::max(most, staged.weights + staged.output + slices_[s]->workspace_bytes(part));
    });
    return most;
  }

  void run(const KernelCall& call) const override {
    for_each_slice(call, [&](std::size_t s, KernelCall part) {
      part.packed = call.packed == nullptr ? nullptr : call.packed + packed_at_[s];
      const Staged staged = staged_parts(part);
      std::vector<TensorView> inputs(part.inputs.begin(), part.inputs.end());
      if (staged.weights > 0) {
        TensorView& weights = inputs[use_.parts];
        const TensorView dense = dense_view(call.workspace, weights.dtype, weights.box);
        copy(weights, dense);
        weights = dense;
      }
      part.inputs = inputs;
      part.workspace = call.workspace + staged.weights + staged.output;
      const TensorView target = part.output;
      if (staged.output > 0) part.output = dense_view(call.workspace + staged.weights, target.dtype, target.box);
      slices_[s]->run(part);
      if (staged.output > 0) copy(part.output, target);
    });
  }

 private:
  /// Bytes of operands that are copied through the workspace: kernels need dense weights, where these are not packed,
  /// and dense weight gradients.
  struct Staged {
    std::int64_t weights = 0, output = 0;
  };
  Staged staged_parts(const KernelCall& part) const {
    Staged staged;
    if (use_.pass == ConvPass::kForward && packed_bytes_ == 0) staged.weights = bytes_of(part.inputs[use_.parts]);
    if (use_.pass == ConvPass::kWeightGrad && !part.output.is_dense()) staged.output = bytes_of(part.output);
    return staged;
  }

  /// Calls body(slice, its call) for the slices in the output.
  template <class Body>
  void for_each_slice(const KernelCall& call, Body body) const {
    const int last = call.output.axes() - 1;
    for (std::size_t s = 0; s < slices_.size(); ++s) {
      const std::int64_t first = static_cast<std::int64_t>(s) * width_;
      if (call.output.box.empty() || first < call.output.box.begin[last] || first + width_ > call.output.box.end(last))
        continue;
      std::vector<TensorView> inputs(call.inputs.begin(), call.inputs.end());
      if (use_.pass == ConvPass::kWeightGrad) inputs[1] = channels_of(inputs[1], first, width_);
      if (use_.pass == ConvPass::kForward) {
        inputs[use_.parts] = channels_of(inputs[use_.parts], first, width_);
        if (inputs.size() > use_.parts + 1) inputs[use_.parts + 1] = channels_of(inputs[use_.parts + 1], first, width_);
      }
      if (use_.pass == ConvPass::kInputGrad && inputs.size() > 2) inputs[2] = channels_of(inputs[2], first, width_);
      body(s, {.inputs = inputs, .output = channels_of(call.output, first, width_)});
    }
  }

  ConvUse use_;
  std::int64_t width_ = 0, packed_bytes_ = 0;
  std::vector<std::unique_ptr<Kernel>> slices_;
  std::vector<std::int64_t> packed_at_;
};

}  // namespace

std::unique_ptr<Kernel> make_sliced(std::unique_ptr<Kernel> (*make)(const ConvUse& use), const ConvUse& use) {
  return std::make_unique<SlicedConv>(make, use);
}

}  // namespace voxshard::fast
