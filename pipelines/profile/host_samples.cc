#include "pipelines/profile/host_samples.h"

#include <cmath>
#include <set>

namespace voxshard {
namespace {

using Point = HostSamples::Point;
using Points = std::vector<double>;

constexpr DType kStored[] = {DType::kF32, DType::kBF16};

std::int64_t whole(double value) { return static_cast<std::int64_t>(std::llround(value)); }

Window cubic(std::int64_t kernel, std::int64_t stride) {
  return {Dims::filled(3, kernel), Dims::filled(3, stride), Dims::filled(3, 1), Dims::filled(3, 0), Dims::filled(3, 0)};
}

struct ProductGrid {
  std::int64_t kernel, stride;
  Points in, out, row, rows;
};

std::vector<ProductGrid> product_grids(bool quick) {
  const Points wide = quick ? Points{1, 16, 128} : Points{1, 4, 16, 64, 256},
               few = quick ? Points{8, 128} : Points{3, 16, 64, 256};
  const Points rows = quick ? Points{256} : Points{16, 512};
  std::vector<ProductGrid> grids = {{3, 1, wide, quick ? Points{3, 16, 128} : Points{3, 8, 16, 32, 64, 256},
                                     quick ? Points{4, 12, 40} : Points{4, 8, 16, 48}, rows}};
  for (std::int64_t kernel : {1, 2})
    grids.push_back({kernel, kernel, few, few, quick ? Points{24} : Points{8, 48}, rows});
  return grids;
}

/// Returns the use of the op at a point of the grid.
OpUse product_at(const OpDef& def, DType type, const Window& window, const Point& p, ConvKernel kernel) {
  return def.sample.products({type, window, whole(p[0]), whole(p[1]), whole(p[2]), whole(p[3]), kernel});
}

/// Returns the kernels that are chosen somewhere on the grid, at its largest rows.
std::set<ConvKernel> chosen_kernels(const OpDef& def, DType type, const Window& window, const ProductGrid& grid) {
  if (def.choose == nullptr) return {ConvKernel::kAny};
  std::set<ConvKernel> kernels;
  for (double in : grid.in)
    for (double out : grid.out) {
      const OpUse use = product_at(def, type, window, {in, out, grid.row.back(), grid.rows.back()}, ConvKernel::kAny);
      kernels.insert(
          kernel_of(def.choose({use.attrs, use.inputs, def.infer(use.attrs, use.inputs)}, Convolution::kFast)));
    }
  return kernels;
}

void add_products(std::vector<HostSamples>& all, const OpDef& def, const SampleOptions& options) {
  for (const ProductGrid& grid : product_grids(options.quick))
    for (DType type : kStored) {
      const Window window = cubic(grid.kernel, grid.stride);
      for (ConvKernel kernel : chosen_kernels(def, type, window, grid)) {
        RateTable table{.op = def.name, .stored = type, .unit = "flop/s"};
        table.window = {.taps = static_cast<int>(window.volume()),
                        .patch = grid.kernel > 1 && grid.kernel == grid.stride,
                        .kernel = kernel};
        table.axes = {{"in", grid.in}, {"out", grid.out}, {"row", grid.row}, {"rows", grid.rows}};
        all.push_back(
            {table, [=, &def](const Point& p) -> std::optional<Probe> {
               const double flops = 2 * static_cast<double>(table.window.taps) * p[0] * p[1] * p[2] * p[3];
               if (flops > options.most_flops) return std::nullopt;
               const OpUse use = product_at(def, type, window, p, kernel);
               if (def.runs != nullptr && !def.runs({use.attrs, use.inputs, def.infer(use.attrs, use.inputs)}))
                 return std::nullopt;
               return op_probe(def, use);
             }});
      }
    }
}

/// Returns a probe on a cube of even edge length for which the op moves about `bytes`.
Probe sized_probe(const OpDef& def, DType type, std::int64_t channels, double bytes) {
  auto at = [&](std::int64_t edge) { return op_probe(def, def.sample.memory(type, {1, edge, edge, edge, channels})); };
  const double per_voxel = at(4).work.bytes / 64;
  return at(2 * std::max<std::int64_t>(1, whole(std::cbrt(bytes / per_voxel) / 2)));
}

void add_memory(std::vector<HostSamples>& all, const OpDef& def, const SampleOptions& options) {
  const Points usual = options.quick ? Points{2, 32} : Points{2, 16, 128};
  const Points large = options.quick ? Points{1 << 17, 1 << 23} : Points{1 << 15, 1 << 20, 1 << 24};
  for (DType type : kStored) {
    if ((def.sample.f32_only || def.sample.few) && type != DType::kF32) continue;
    RateTable table{.op = def.name, .stored = type, .unit = "byte/s"};
    if (def.sample.few)
      table.axes = {{"channels", {1}}, {"bytes", {1 << 11, 1 << 15}}};
    else
      table.axes = {{"channels", def.sample.channels.empty() ? usual : def.sample.channels}, {"bytes", large}};
    all.push_back(
        {table, [&def, type](const Point& p) { return std::optional(sized_probe(def, type, whole(p[0]), p[1])); }});
  }
}

void add_engine_work(std::vector<HostSamples>& all, const Points& channels, const Points& bytes) {
  for (DType type : kStored) {
    RateTable table{.stored = type, .unit = "byte/s", .axes = {{"channels", channels}, {"bytes", bytes}}};
    table.op = "exchange";
    all.push_back({table, [=](const Point& p) { return std::optional(copy_probe(type, whole(p[0]), whole(p[1]))); }});
    table.op = "fill_margin";
    all.push_back({table, [=](const Point& p) { return std::optional(fill_probe(type, whole(p[0]), whole(p[1]))); }});
  }
}

}  // namespace

std::vector<HostSamples> host_samples(const OpTable& ops, const SampleOptions& options) {
  std::vector<HostSamples> all;
  for (const auto& [name, def] : ops.all()) {
    if (def.sample.products != nullptr) add_products(all, def, options);
    if (def.sample.memory != nullptr) add_memory(all, def, options);
  }
  add_engine_work(all, options.quick ? Points{1, 32} : Points{1, 8, 64, 256},
                  options.quick ? Points{1 << 15} : Points{1 << 12, 1 << 18});
  for (HostSamples& samples : all)
    samples.table.how =
        "the fast kernel on all workers at once, each on its own block; processor time, median of passes";
  return all;
}

}  // namespace voxshard
