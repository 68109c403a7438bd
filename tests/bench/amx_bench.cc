// Times the AMX kernels against the library's, per layer, bf16, in one run.
//
//   bench_amx [--threads 1] [--rounds 5] [--layer 64->64] [--kind forward|input|weight]
//
// One line per layer and kind: GFLOP/s of one thread for both, their ratio (median of rounds, in turn), seconds,
// packing, workspace, relative rms error against f64 on a sample. Times are processor time of a thread; with two
// threads each computes half of the depth and the slower one counts.

#include <cstdio>
#include <string>

#include "libcore/kernels/amx/convolution.h"
#include "libcore/kernels/amx/processor.h"
#include "libcore/kernels/amx/weight_gradient.h"
#include "tests/bench/beside_direct.h"

namespace voxshard::bench {
namespace {

void measure(Options o, const std::string& kind) {
  struct Row {
    int rank;
    std::int64_t size, ci, co;
  };
  constexpr Row kRows[] = {{3, 64, 64, 64},  {3, 32, 64, 64},   {3, 64, 32, 64},   {3, 32, 192, 64},
                           {3, 64, 192, 64}, {3, 32, 128, 128}, {3, 16, 256, 256}, {3, 16, 768, 256},
                           {3, 8, 512, 512}, {2, 160, 256, 256}};
  for (const Row& row : kRows) {
    if (!o.layer.empty() && o.layer != std::to_string(row.ci) + "->" + std::to_string(row.co)) continue;
    o.rank = row.rank;
    Layer l(o, row.size, row.ci, row.co);
    const auto convolution = [&](ConvDirection direction) {
      measure_convolution(l, amx::Convolution({.window = l.window, .weights = l.w.shape(), .direction = direction}),
                          direction);
    };
    if (kind.empty() || kind == "forward") convolution(ConvDirection::kForward);
    if (kind.empty() || kind == "input") convolution(ConvDirection::kInputGrad);
    if (kind.empty() || kind == "weight")
      measure_gradient(l, amx::WeightGradient({.window = l.window, .weights = l.w.shape()}));
  }
}

}  // namespace
}  // namespace voxshard::bench

int main(int count, char** values) {
  voxshard::bench::Options o;
  o.bf16 = true;
  o.rounds = 5;
  std::string kind;
  for (int i = 1; i < count; i += 2) {
    const std::string name = values[i];
    const char* value = i + 1 < count ? values[i + 1] : "";
    if (name == "--threads")
      o.threads = std::atoi(value);
    else if (name == "--rounds")
      o.rounds = std::atoi(value);
    else if (name == "--layer")
      o.layer = value;
    else if (name == "--kind")
      kind = value;
    else {
      std::fprintf(stderr, "unknown option %s\n", name.c_str());
      return 2;
    }
  }
  if (!voxshard::amx::available()) {
    std::fprintf(stderr, "this processor has no AMX\n");
    return 1;
  }
  voxshard::bench::measure(o, kind);
  return 0;
}
