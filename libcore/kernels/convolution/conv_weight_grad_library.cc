// The library's weight gradient, for CPUs that multiply bf16: slabs of about 8 planes of D (or of rows of H), one
// sample at a time; each slab's f32 gradient is added, in order, to the sum of the earlier ones.
//
// Slabs bound the library's scratch (it grows with the number of voxels) and fix the order of additions by shape.
#include <algorithm>
#include <map>
#include <mutex>

#include "libcore/kernels/convolution/conv_kernels.h"
#include "libcore/kernels/convolution/conv_slabs.h"
#include "libcore/tensor/rows.h"

namespace voxshard::fast {
namespace {

constexpr std::int64_t kSlabPlanes = 8;
constexpr std::int64_t kOperandBytes = 8 << 20;  // x and d_y of one slab; the library's scratch is about as large

class LibraryWeightGrad : public Kernel {
 public:
  LibraryWeightGrad(const Window& window, const Shape& weights, DType compute)
      : window_(window.lifted()),
        weights_(lifted_weights(weights)),
        compute_(compute),
        patches_(is_patch_window(window_)) {
    // With kernel == stride it is one matrix product on gathered rows.
    if (patches_) {
      weights_ = {1, 1, 1, window_.volume() * weights_[3], weights_[4]};
      engine_ = {
          .kernel = {1, 1, 1}, .stride = {1, 1, 1}, .dilation = {1, 1, 1}, .pad_lo = {0, 0, 0}, .pad_hi = {0, 0, 0}};
    } else {
      engine_ = window_;
    }
    nominal_ = make(Box{{0, 0, 0, 0, 0}, {1, 4, 16, 32, weights_[4]}}, nullptr, false);
    if (nominal_ != nullptr) layout_ = nominal_->weights();
  }

  bool usable() const { return nominal_ != nullptr; }

  std::string code() const override { return nominal_->name(); }
  std::int64_t programs() const override {
    const std::scoped_lock lock(mutex_);
    return std::max<std::int64_t>(1, std::ssize(convs_));
  }

  std::int64_t workspace_bytes(const KernelCall& call) const override {
    const TensorView x = conv_view(call.inputs[0]), d_y = conv_view(call.inputs[1]);
    std::int64_t most = 0, slabs = 0;
    for_each_slab(d_y.box, [&](const Box& slab) {
      const Need n = need(x, d_y, slab);
      most = std::max(most, n.x + n.y + n.own + n.scratch);
      ++slabs;
    });
    return most + std::min<std::int64_t>(2, slabs) * aligned_bytes(layout_.bytes());
  }

  void run(const KernelCall& call) const override {
    const TensorView x = conv_view(call.inputs[0]), d_y = conv_view(call.inputs[1]);
    ensure(call.output.is_dense() && call.output.dtype == DType::kF32, "a weight gradient is dense f32");
    if (d_y.box.empty()) return fill_zero(call.output);
    const std::int64_t layout_bytes = aligned_bytes(layout_.bytes());
    auto* sum = reinterpret_cast<float*>(call.workspace);
    auto* addend = reinterpret_cast<float*>(call.workspace + layout_bytes);
    std::int64_t slabs = 0;
    for_each_slab(d_y.box, [&](const Box&) { ++slabs; });
    std::byte* rest = call.workspace + std::min<std::int64_t>(2, slabs) * layout_bytes;  // one slab needs no addend
    bool first = true;
    for_each_slab(d_y.box, [&](const Box& slab) {
      const auto conv = conv_for(slab);
      const Need n = need(x, d_y, slab);
      TensorView src, grad;
      if (n.x > 0) {
        src = dense_view(rest, compute_, read_box(slab));
        patches_ ? gather_patches(x, window_, src) : fill_from(x, src);
      } else {
        use_in_place(x, read_box(slab), compute_, src);
      }
      if (n.y > 0) {
        grad = dense_view(rest + n.x, compute_, slab);
        fill_from(d_y, grad);
      } else {
        use_in_place(d_y, slab, compute_, grad);
      }
      std::byte *own = rest + n.x + n.y, *scratch = own + n.own;
      float* result = first ? sum : addend;
      if (n.own > 0) {  // the library needs another order for this slab
        conv->run_weight_grad(src.data, grad.data, own, scratch);
        layout_.repack(conv->weights(), own, result);
      } else {
        conv->run_weight_grad(src.data, grad.data, result, scratch);
      }
      if (!first)
        for (std::int64_t i = 0; i < layout_.bytes() / 4; ++i) sum[i] += addend[i];
      first = false;
    });
    layout_.unpack(sum, weights_, call.output.as<float>());
  }

 private:
  struct Need {
    std::int64_t x = 0, y = 0, own = 0, scratch = 0;
  };

  Box read_box(const Box& out) const {
    Box read = out;
    for (int a = 0; a < 3; ++a) {
      const std::int64_t first = out.begin[a + 1] * engine_.stride[a] - engine_.pad_lo[a];
      read.set(a + 1, first, first + (out.extent[a + 1] - 1) * engine_.stride[a] + engine_.span(a));
    }
    read.set(4, 0, weights_[3]);
    return read;
  }

  std::shared_ptr<const LibraryConv> make(const Box& slab, const WeightsLayout* wanted, bool accept_slow) const {
    const Box read = read_box(slab);
    const ConvGeometry g{.src = {read.extent[1], read.extent[2], read.extent[3], read.extent[4]},
                         .dst = {slab.extent[1], slab.extent[2], slab.extent[3], slab.extent[4]},
                         .window = engine_,
                         .compute = compute_};
    return LibraryConv::weight_grad(g, wanted, accept_slow);
  }

  std::shared_ptr<const LibraryConv> conv_for(const Box& slab) const {
    const std::scoped_lock lock(mutex_);
    auto& conv = convs_[slab.extent];
    if (conv == nullptr) conv = make(slab, &layout_, false);
    if (conv == nullptr) conv = make(slab, nullptr, true);
    ensure(conv != nullptr, "the library computes a weight gradient in one of its ways");
    return conv;
  }

  /// Slabs of whole planes; of rows when a plane is too large. Fixed by the extents of the block.
  template <class Body>
  void for_each_slab(const Box& box, Body body) const {
    if (box.empty()) return;
    auto operand_bytes = [&](std::int64_t planes, std::int64_t rows) {
      const Box part{box.begin, {1, planes, rows, box.extent[3], box.extent[4]}};
      return dtype_bytes(compute_) * (part.count() + read_box(part).count());
    };
    std::int64_t planes = std::min(kSlabPlanes, box.extent[1]), rows = box.extent[2];
    while (planes > 1 && operand_bytes(planes, rows) > kOperandBytes) planes = (planes + 1) / 2;
    while (rows > 8 && operand_bytes(planes, rows) > kOperandBytes) rows = (rows + 1) / 2;
    for (std::int64_t n = box.begin[0]; n < box.end(0); ++n)
      for (std::int64_t d = box.begin[1]; d < box.end(1); d += planes)
        for (std::int64_t h = box.begin[2]; h < box.end(2); h += rows) {
          Box slab = sample_of(box, n);
          slab.set(1, d, std::min(d + planes, box.end(1)));
          slab.set(2, h, std::min(h + rows, box.end(2)));
          body(slab);
        }
  }

  Need need(const TensorView& x, const TensorView& d_y, const Box& slab) const {
    const auto conv = conv_for(slab);
    TensorView unused;
    Need n;
    const Box read = read_box(slab);
    if (patches_ || !use_in_place(x, read, compute_, unused)) n.x = aligned_bytes(read.count() * dtype_bytes(compute_));
    if (!use_in_place(d_y, slab, compute_, unused)) n.y = aligned_bytes(slab.count() * dtype_bytes(compute_));
    if (!conv->weights().same_as(layout_)) n.own = aligned_bytes(conv->weights().bytes());
    n.scratch = aligned_bytes(conv->scratch_bytes());
    return n;
  }

  Window window_, engine_;
  Shape weights_;
  DType compute_;
  bool patches_;
  std::shared_ptr<const LibraryConv> nominal_;
  WeightsLayout layout_;
  mutable std::mutex mutex_;
  mutable std::map<Dims, std::shared_ptr<const LibraryConv>> convs_;
};

}  // namespace

std::unique_ptr<Kernel> make_library_weight_grad(const Window& window, const Shape& weights, DType compute) {
  auto kernel = std::make_unique<LibraryWeightGrad>(window, weights, compute);
  return kernel->usable() ? std::move(kernel) : nullptr;
}

}  // namespace voxshard::fast
