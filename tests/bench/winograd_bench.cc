// Times the Winograd kernels against the direct ones, per 3x3x3 layer of the reference U-Net, f32, in one run.
//
//   bench_winograd [--size 64] [--base 32] [--threads 1] [--rounds 3] [--tile 4] [--layer 64->64] [--bf16] [--2d]
//   [--avx2]
//
// One line per layer and kind: GFLOP/s of the direct count of one thread for both, their ratio (median of rounds, in
// turn), the seconds and the workspace of Winograd, relative rms error against f64 on a sample. Times are processor
// time of a thread, so that other work on the machine counts less; with two threads each computes half of the depth and
// the slower one counts. The first line is the rate of products that stay in the level-1 cache: the peak of one thread.

#include <hwy/highway.h>

#include <cstdio>
#include <string>
#include <vector>

#include "libcore/kernels/conv.h"
#include "libcore/kernels/winograd/convolution.h"
#include "libcore/kernels/winograd/weight_gradient.h"
#include "tests/bench/beside_direct.h"

namespace voxshard::bench {
namespace {

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
    const Dims tile = Dims::filled(3, o.tile);
    for (const ConvDirection direction : {ConvDirection::kForward, ConvDirection::kInputGrad})
      measure_convolution(
          l, winograd::Convolution({.window = l.window, .weights = l.w.shape(), .tile = tile, .direction = direction}),
          direction, peak);
    measure_gradient(l, winograd::WeightGradient({.window = l.window, .weights = l.w.shape(), .tile = tile}), peak);
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
      hwy::SetSupportedTargetsForTest(HWY_AVX2 | HWY_STATIC_TARGET);
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
