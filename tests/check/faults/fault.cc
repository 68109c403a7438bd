#include "tests/check/faults/fault.h"

#include <algorithm>
#include <string_view>

#include "libcore/tensor/rows.h"

namespace voxshard::test {
namespace {

using Damaged = std::optional<Damage>;

bool contracts(const FaultPlace& place) { return place.def.driver >= 0; }
bool is_volume(const Shape& shape) { return shape.axes() == 5; }

void scale(const TensorView& view, double by) {
  for_each_row(view.box, [&](const Dims& at) {
    const std::int64_t first = offset_at(view, at);
    for (std::int64_t i = first; i < first + row_count(view.box); ++i) store(view, i, by * load(view, i));
  });
}

/// Returns the part of `block` that lies in `part`, both in global coordinates.
TensorView common(const TensorView& block, const Box& part) {
  const Box box = intersect(block.box, part);
  TensorView view = box.empty() ? block : block.sub(box);
  view.box = box;
  return view;
}

/// Returns the axis of channels; in sums and statistics (groups, C, 2) it is the middle one.
int channel_axis(const FaultPlace& place) {
  const int rank = place.op.result.shape.axes();
  return std::holds_alternative<NormAttrs>(place.op.attrs) && rank == 3 ? 1 : rank - 1;
}

Damaged one_channel(const FaultPlace& place) {
  const Shape& shape = place.op.result.shape;
  if (!is_float(place.op.result.dtype) || shape.empty()) return {};
  const int axis = channel_axis(place);
  const std::int64_t channel = 2 * shape[axis] / 3;
  Box part = Box::whole(shape);
  part.set(axis, channel, channel + 1);
  return Damage{.written = [part](const TensorView& block) { scale(common(block, part), 1.01); }};
}

Damaged all_scaled(const FaultPlace& place) {
  if (!is_float(place.op.result.dtype)) return {};
  return Damage{.written = [](const TensorView& block) { scale(block, 1.015); }};
}

/// Drops a tap in the middle of one face of the window, in weights (K..., Ci, Co).
Damaged one_tap(const FaultPlace& place) {
  const Window* window = window_of(place.op.attrs);
  const bool conv = place.def.name.starts_with("conv");
  if (!conv || window == nullptr || window->volume() == 1) return {};
  const auto tap_of = [kernel = window->kernel](const Shape& weights) {
    Box tap = Box::whole(weights);
    for (int a = 0; a < kernel.axes(); ++a) {
      const std::int64_t at = a == 0 ? kernel[a] - 1 : kernel[a] / 2;
      tap.set(a, at, at + 1);
    }
    return tap;
  };
  if (place.def.name == "conv_weight_grad")
    return Damage{.written = [tap = tap_of(place.op.result.shape)](const TensorView& block) {
      const TensorView part = common(block, tap);
      if (!part.box.empty()) fill_zero(part);
    }};
  const int weights = place.def.name == "conv" ? static_cast<int>(attrs_of<ConvAttrs>(place.op.attrs).parts) : 1;
  const Box tap = tap_of(place.op.inputs[weights].shape);
  return Damage{.read = weights, .before = [tap](const TensorView& w) { fill_zero(w.sub(tap)); }};
}

/// Leaves a part out of a sum over voxels, or unwritten (zero) in other results. `part_of` gives it for a shape of
/// voxels.
Damaged without(const FaultPlace& place, Box (*part_of)(const Shape& voxels)) {
  if (!contracts(place)) {
    if (!is_volume(place.op.result.shape)) return {};
    const Box part = part_of(place.op.result.shape);
    if (part.empty()) return {};
    return Damage{.written = [part](const TensorView& block) {
      if (const TensorView lost = common(block, part); !lost.box.empty()) fill_zero(lost);
    }};
  }
  const int summed = place.def.name == "norm_grad_sums" ? 4 : place.def.driver;  // d_y
  const Shape& shape = place.op.inputs[summed].shape;
  if (!is_volume(shape) || part_of(shape).empty()) return {};
  return Damage{.read = summed, .before = [part = part_of(shape)](const TensorView& addends) {
                  if (const TensorView lost = common(addends, part); !lost.box.empty()) fill_zero(lost);
                }};
}

template <int axis>
Box last_plane(const Shape& voxels) {
  Box plane = Box::whole(voxels);
  if (voxels[axis] < 2) return Box::none(voxels.axes());
  plane.set(axis, voxels[axis] - 1, voxels[axis]);
  return plane;
}

/// Returns a 4x4x4 block on the grid of such blocks, neither the first nor the last along any axis: the voxels that one
/// Winograd tile writes.
Box inner_tile(const Shape& voxels) {
  constexpr std::int64_t kTile = 4;
  Box tile = Box::whole(voxels);
  for (int a = 1; a <= 3; ++a) {
    if (voxels[a] < 3 * kTile) return Box::none(voxels.axes());
    const std::int64_t begin = 5 * voxels[a] / 8 / kTile * kTile;
    tile.set(a, begin, begin + kTile);
  }
  return tile;
}

Damaged no_last_plane_d(const FaultPlace& place) { return without(place, last_plane<1>); }
Damaged no_last_plane_h(const FaultPlace& place) { return without(place, last_plane<2>); }
Damaged no_last_plane_w(const FaultPlace& place) { return without(place, last_plane<3>); }
Damaged no_tile(const FaultPlace& place) { return without(place, inner_tile); }

/// Sets weight gradients to zero, as if no kernel had written them.
Damaged all_zero(const FaultPlace& place) {
  if (place.def.name != "conv_weight_grad") return {};
  return Damage{.written = [](const TensorView& block) { fill_zero(block); }};
}

constexpr Fault kFaults[] = {{"one channel x 1.01", one_channel, true},
                             {"one tap dropped", one_tap},
                             {"last plane of D missing", no_last_plane_d},
                             {"last plane of H missing", no_last_plane_h},
                             {"last plane of W missing", no_last_plane_w},
                             {"one tile of 4x4x4 missing", no_tile},
                             {"all zero", all_zero},
                             {"all x 1.015", all_scaled, true}};

}  // namespace

std::span<const Fault> faults() { return kFaults; }

const Fault& fault_named(std::string_view name) {
  const auto* found = std::ranges::find(kFaults, name, &Fault::name);
  ensure(found != std::end(kFaults), "a fault of the table");
  return *found;
}

}  // namespace voxshard::test
