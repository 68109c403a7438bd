#include "libcore/kernels/winograd/tiles.h"

namespace voxshard::winograd {

bool applies(const Window& window) {
  const Window w = window.lifted();
  for (int a = 0; a < 3; ++a) {
    const bool bare = a == 0 && w.kernel[a] == 1 && w.pad_lo[a] == 0 && w.pad_hi[a] == 0;
    if (w.stride[a] != 1 || w.dilation[a] != 1 || (w.kernel[a] != 3 && !bare)) return false;
  }
  return true;
}

TileForm form_of(const Window& window, const Dims& tile) {
  ensure(applies(window) && tile.axes() == 3,
         "a Winograd convolution has a 3x3 or 3x3x3 window of stride 1 and a "
         "tile of D, H, W");
  const Window w = window.lifted();
  TileForm form{};
  for (int a = 0; a < 3; ++a) {
    ensure(w.kernel[a] == 1 || tile[a] == 2 || tile[a] == 4, "a Winograd tile has 2 or 4 outputs along an axis");
    form.outputs[a] = w.kernel[a] == 1 ? 1 : static_cast<int>(tile[a]);
    form.inputs[a] = form.outputs[a] + static_cast<int>(w.kernel[a]) - 1;
  }
  return form;
}

Box patch_box(const Box& out, const TileForm& form, const Window& window, std::int64_t channels) {
  Box read = out;
  const int last = out.axes() - 1, lifted = 4 - last;  // axes missing from a 2-D box
  for (int a = lifted; a < 3; ++a) {
    const int axis = a + 1 - lifted, m = form.outputs[a];
    const std::int64_t first = floor_div(out.begin[axis], m) * m - window.lifted().pad_lo[a];
    read.set(axis, first,
             first + (ceil_div(out.end(axis), m) - floor_div(out.begin[axis], m)) * m + form.kernel(a) - 1);
  }
  read.set(last, 0, channels);
  return read;
}

ChannelBlocks::ChannelBlocks(std::vector<std::int64_t> parts) : parts_(std::move(parts)), begins_{0} {
  for (std::int64_t channels : parts_) {
    part_begins_.push_back(count());
    for (std::int64_t c = 0; c < channels; c += kLanesPerBlock) {
      sizes_.push_back(static_cast<int>(std::min(kLanesPerBlock, channels - c)));
      begins_.push_back(begins_.back() + sizes_.back());
    }
  }
  part_begins_.push_back(count());
}

namespace {

TileVoxels voxels_of(const TensorView& view, std::int64_t n, const std::int64_t* origin, const std::int64_t* extent,
                     std::int64_t channel, std::int64_t channels) {
  TileVoxels v{.data = view.data,
               .bf16 = view.dtype == DType::kBF16,
               .stride = {view.strides[1], view.strides[2], view.strides[3]},
               .first = {0, 0, 0},
               .past = {0, 0, 0},
               .channels = channels};
  if (n < view.box.begin[0] || n >= view.box.end(0)) return v;
  std::int64_t offset = (n - view.box.begin[0]) * view.strides[0] + channel;
  for (int a = 0; a < 3; ++a) {
    v.first[a] = static_cast<int>(std::clamp<std::int64_t>(view.box.begin[a + 1] - origin[a], 0, extent[a]));
    v.past[a] = static_cast<int>(std::clamp<std::int64_t>(view.box.end(a + 1) - origin[a], v.first[a], extent[a]));
    offset += (origin[a] - view.box.begin[a + 1]) * view.strides[a + 1];
  }
  v.data += offset * dtype_bytes(view.dtype);
  return v;
}

}  // namespace

TileVoxels patches_of(const TensorView& view, const TileForm& form, const Window& window, const Brick& brick,
                      std::int64_t channel, std::int64_t channels) {
  std::int64_t origin[3], extent[3];
  for (int a = 0; a < 3; ++a) {
    origin[a] = brick.first[a] * form.outputs[a] - window.pad_lo[a];
    extent[a] = (brick.extent(a) - 1) * form.outputs[a] + form.inputs[a];
  }
  return voxels_of(view, brick.n, origin, extent, channel, channels);
}

TileVoxels outputs_of(const TensorView& view, const TileForm& form, const Brick& brick, std::int64_t channel,
                      std::int64_t channels) {
  std::int64_t origin[3], extent[3];
  for (int a = 0; a < 3; ++a) {
    origin[a] = brick.first[a] * form.outputs[a];
    extent[a] = brick.extent(a) * form.outputs[a];
  }
  return voxels_of(view, brick.n, origin, extent, channel, channels);
}

}  // namespace voxshard::winograd
