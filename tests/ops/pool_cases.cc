// Pools that overlap and pools that do not, up-sampling to even and odd extents, and their gradients. Maxima of small
// integers have ties on purpose: the first one must win wherever the cut falls.
#include "tests/ops/op_cases.h"

namespace voxshard::test {
namespace {

struct PoolGeometry {
  std::string label;
  Shape x;
  Window window;
};

std::vector<PoolGeometry> pool_geometries() {
  const Shape volume{2, 7, 5, 6, 2}, image{3, 11, 9, 3};
  return {{"3-D kernel 2 stride 2", volume, same(volume, 2, 2)},
          {"3-D kernel 2 stride 2, odd extents without their last plane", volume, window(3, 2, 2, 1, 0, 0)},
          {"3-D overlapping 3/2", volume, same(volume, 3, 2)},
          {"3-D overlapping 3/1", volume, same(volume, 3, 1)},
          {"2-D overlapping 3/2 padded 1/1", image, window(2, 3, 2, 1, 1, 1)},
          {"2-D kernel 2 stride 2, odd extents without their last plane", image, window(2, 2, 2, 1, 0, 0)},
          {"2-D kernel 2 stride 3 with gaps", image, window(2, 2, 3, 1, 0, 0)}};
}

void add_pools(std::vector<OpCase>& cases, const PoolGeometry& g, bool seen_before) {
  const Shape y = outputs_of(g.window, g.x, g.x.back());
  const std::string label = g.label + (seen_before ? "" : ", extents not seen before");
  const Shape earlier = seen_before ? g.x : Shape{};
  const auto volume = static_cast<int>(g.window.volume());
  cases.push_back({.op = "max_pool_grad",
                   .label = label,
                   .inputs = {cut_input(y, Values::kArgmax, DType::kU8, volume), cut_input(y)},
                   .attrs = PoolGradAttrs{.window = g.window, .shape = g.x},
                   .earlier = earlier});
  cases.push_back({.op = "avg_pool_grad",
                   .label = label,
                   .inputs = {cut_input(y)},
                   .attrs = PoolGradAttrs{.window = g.window, .shape = g.x},
                   .set_tolerance = 1e-6,
                   .earlier = earlier});
  if (!seen_before) return;
  for (const char* op : {"max_pool", "max_pool_argmax"})
    cases.push_back({.op = op, .label = label, .inputs = {cut_input(g.x)}, .attrs = PoolAttrs{.window = g.window}});
  cases.push_back({.op = "avg_pool",
                   .label = label,
                   .inputs = {cut_input(g.x)},
                   .attrs = PoolAttrs{.window = g.window},
                   .set_tolerance = 1e-6});
}

void add_upsampling(std::vector<OpCase>& cases, const std::string& label, const Shape& low, const Shape& high,
                    const Dims& factor) {
  cases.push_back({.op = "upsample_nearest",
                   .label = label,
                   .inputs = {cut_input(low)},
                   .attrs = ResizeAttrs{.factor = factor, .shape = high}});
  for (const DType dtype : {DType::kF32, DType::kI32})
    cases.push_back({.op = "subsample",
                     .label = label + " from there, " + dtype_name(dtype),
                     .inputs = {cut_input(high, Values::kIntegers, dtype)},
                     .attrs = ResizeAttrs{.factor = factor, .shape = low}});
  cases.push_back({.op = "upsample_nearest_grad",
                   .label = label,
                   .inputs = {cut_input(high)},
                   .attrs = ResizeAttrs{.factor = factor, .shape = low}});
  cases.push_back({.op = "upsample_nearest_grad",
                   .label = label + ", extents seen before",
                   .inputs = {cut_input(high)},
                   .attrs = ResizeAttrs{.factor = factor, .shape = low},
                   .earlier = low});
}

}  // namespace

std::vector<OpCase> pool_cases() {
  std::vector<OpCase> cases;
  for (const PoolGeometry& g : pool_geometries()) add_pools(cases, g, true);
  for (const std::size_t overlapping : {2, 4}) add_pools(cases, pool_geometries()[overlapping], false);
  add_upsampling(cases, "3-D to 2n - 1, 2n, 2n - 1", {2, 4, 3, 3, 2}, {2, 7, 6, 5, 2}, {2, 2, 2});
  add_upsampling(cases, "2-D by 3 and 1", {3, 3, 7, 2}, {3, 8, 7, 2}, {3, 1});
  return cases;
}

}  // namespace voxshard::test
