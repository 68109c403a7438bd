// The Winograd kernels beside today's direct ones, per 3x3x3 layer of the reference U-Net, f32, in one run.
//
//   bench_winograd [--size 64] [--base 32] [--threads 1] [--rounds 3] [--tile 4] [--layer 64->64] [--bf16] [--2d]
//   [--avx2]
//
// One line per layer and kind: GFLOP/s of the direct count of one thread for both, their ratio (median of rounds, in
// turn), the seconds and the workspace of Winograd, relative rms error against f64 on a sample. Times are processor
// time of a thread, so that other work on the machine counts less; with two threads each computes half of the depth and
// the slower one counts. The first line is the rate of products that stay in the level-1 cache: the peak of one thread.

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "libcore/kernels/winograd/convolution.h"
#include "libcore/kernels/winograd/weight_gradient.h"
#include "tests/bench/layer.h"

namespace voxshard::bench {
namespace {

void report(const Layer& l, const char* kind, const std::vector<double>& direct, const std::vector<double>& fast,
            double pack_seconds, std::int64_t workspace, double error, double peak) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < direct.size(); ++i) ratios.push_back(direct[i] / fast[i]);
  const double rate = l.flops / l.options.threads / median(fast);
  std::printf(
      "%4ld->%-4ld %3ld^%d %-10s %8.2f ms %6.0f | direct %6.0f | ratio %5.2f | of peak %4.2f | pack %6.2f ms | %5.1f "
      "MiB | %.1e\n",
      l.ci, l.co, l.size, l.options.rank, kind, median(fast) * 1e3, rate * 1e-9,
      l.flops / l.options.threads / median(direct) * 1e-9, median(ratios), rate / peak, pack_seconds * 1e3,
      static_cast<double>(workspace) / (1 << 20), error);
  std::fflush(stdout);
}

void measure_convolution(Layer& l, winograd::Direction direction, double peak) {
  const Options& o = l.options;
  const bool turned = direction == winograd::Direction::kInputGrad;
  const TensorView src = turned ? l.d_y_view : l.x_view;
  const Memory& dst = turned ? l.d_x : l.y;
  const winograd::Convolution conv(
      {.window = l.window, .weights = l.w.shape(), .tile = Dims::filled(3, o.tile), .direction = direction});
  Memory packed(DType::kU8, {conv.packed_bytes()});
  const double pack_seconds = timed(1, [&](int) { conv.pack(l.w.view(), 0, conv.out_blocks(), packed.data()); });
  std::vector<Memory> workspaces;
  for (int t = 0; t < o.threads; ++t)
    workspaces.emplace_back(DType::kU8, Shape{conv.workspace_bytes(conv.out_blocks())});
  auto fast = [&](int t) {
    conv.run({.src = {&src, 1},
              .dst = dst.view().sub(l.part(dst.view().box, t)),
              .packed = packed.data(),
              .workspace = workspaces[static_cast<std::size_t>(t)].data()});
  };
  const DType type = dst.dtype();
  const Direct direct(l,
                      turned ? make_conv_input_grad(KernelSet::kFast, l.window, l.w.shape(), type)
                             : make_conv_forward(KernelSet::kFast, l.window, l.w.shape(), type),
                      {src, l.w.view()}, dst, false);
  std::vector<double> a, b;
  timed(o.threads, [&](int t) { direct.run(t); });
  for (int r = 0; r < o.rounds; ++r) {
    a.push_back(timed(o.threads, [&](int t) { direct.run(t); }));
    b.push_back(timed(o.threads, fast));
    b.back() = std::min(b.back(), timed(o.threads, fast));
  }
  report(l, turned ? "input grad" : "forward", a, b, pack_seconds, conv.workspace_bytes(conv.out_blocks()),
         sample_error(l, src, dst.view(), turned), peak);
}

void measure_gradient(Layer& l, double peak) {
  const Options& o = l.options;
  const winograd::WeightGradient grad({.window = l.window, .weights = l.w.shape(), .tile = Dims::filled(3, o.tile)});
  std::int64_t bytes = 0;
  for (const auto& range : grad.tasks()) bytes = std::max(bytes, grad.workspace_bytes(range));
  std::vector<Memory> workspaces, sums;
  for (int t = 0; t < o.threads; ++t) {
    workspaces.emplace_back(DType::kU8, Shape{bytes});
    sums.emplace_back(DType::kF32, l.d_w.shape());
  }
  auto fast = [&](int t) {
    for (const auto& range : grad.tasks())
      grad.run({.x = {&l.x_view, 1},
                .d_y = l.d_y_view.sub(l.part(l.inner(l.co), t)),
                .d_w = sums[static_cast<std::size_t>(t)].view(),
                .range = range,
                .workspace = workspaces[static_cast<std::size_t>(t)].data()});
  };
  const Direct direct(l, make_conv_weight_grad(KernelSet::kFast, l.window, l.w.shape(), l.x.dtype()),
                      {l.x_view, l.d_y_view.sub(l.inner(l.co))}, l.d_w, true);
  std::vector<double> a, b;
  timed(o.threads, [&](int t) { direct.run(t); });
  for (int r = 0; r < o.rounds; ++r) {
    a.push_back(timed(o.threads, [&](int t) { direct.run(t); }));
    b.push_back(timed(o.threads, fast));
    b.back() = std::min(b.back(), timed(o.threads, fast));
  }
  for (std::int64_t i = 0; i < l.d_w.count(); ++i) {
    l.d_w.as<float>()[i] = 0;
    for (const Memory& sum : sums) l.d_w.as<float>()[i] += sum.as<float>()[i];
  }
  report(l, "weight grad", a, b, 0, bytes, gradient_sample_error(l), peak);
}

void measure(const Options& o) {
  const double peak = peak_flops();
  std::printf("%s, products in the level-1 cache: %.0f GFLOP/s a thread; %s on %s\n",
              winograd::instruction_set().c_str(), peak * 1e-9, kernel_library_version().c_str(),
              kernel_instruction_set().c_str());
  struct Row {
    std::int64_t size, ci, co;
  };
  std::vector<Row> rows;
  const std::int64_t b = o.base, s = o.size;
  if (o.rank == 2)
    rows = {{s, 8 * b, 8 * b}};
  else
    rows = {{s, b, 2 * b},         {s, 2 * b, 2 * b},      {s, 6 * b, 2 * b},      {s / 2, 2 * b, 2 * b},
            {s / 2, 2 * b, 4 * b}, {s / 2, 4 * b, 4 * b},  {s / 2, 12 * b, 4 * b}, {s / 4, 4 * b, 8 * b},
            {s / 4, 8 * b, 8 * b}, {s / 4, 24 * b, 8 * b}, {s / 8, 8 * b, 16 * b}};
  for (const Row& row : rows) {
    if (!o.layer.empty() && o.layer != std::to_string(row.ci) + "->" + std::to_string(row.co)) continue;
    Layer l(o, row.size, row.ci, row.co);
    measure_convolution(l, winograd::Direction::kForward, peak);
    measure_convolution(l, winograd::Direction::kInputGrad, peak);
    measure_gradient(l, peak);
  }
}

}  // namespace
}  // namespace voxshard::bench

int main(int count, char** values) {
  voxshard::bench::Options o;
  for (int i = 1; i < count; ++i) {
    const std::string name = values[i];
    if (name == "--bf16") {
      o.bf16 = true;
      continue;
    }
    if (name == "--avx2") {
      hwy::SetSupportedTargetsForTest(HWY_AVX2 | HWY_SCALAR);
      hwy::GetChosenTarget().Update(hwy::SupportedTargets());
      continue;
    }
    if (name == "--2d") {
      o.rank = 2;
      continue;
    }
    if (i + 1 >= count) {
      std::fprintf(stderr, "%s wants a value\n", name.c_str());
      return 2;
    }
    const char* value = values[++i];
    if (name == "--size")
      o.size = std::atol(value);
    else if (name == "--base")
      o.base = std::atol(value);
    else if (name == "--tile")
      o.tile = std::atol(value);
    else if (name == "--threads")
      o.threads = std::atoi(value);
    else if (name == "--rounds")
      o.rounds = std::atoi(value);
    else if (name == "--layer")
      o.layer = value;
    else {
      std::fprintf(stderr, "unknown option %s\n", name.c_str());
      return 2;
    }
  }
  voxshard::bench::measure(o);
  return 0;
}
