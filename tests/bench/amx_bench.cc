// The AMX kernels beside today's, per layer, bf16, in one run.
//
//   bench_amx [--threads 1] [--rounds 5] [--layer 64->64] [--kind forward|input|weight]
//
// One line per layer and kind: TFLOP/s of one thread for both, their ratio (median of rounds, in turn), seconds,
// packing, workspace, relative rms error against f64 on a sample. Times are processor time of a thread; with two
// threads each computes half of the depth and the slower one counts.

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "libcore/kernels/amx/convolution.h"
#include "libcore/kernels/amx/processor.h"
#include "libcore/kernels/amx/weight_gradient.h"
#include "tests/bench/layer.h"

namespace voxshard::bench {
namespace {

void report(const Layer& l, const char* kind, const std::vector<double>& direct, const std::vector<double>& ours,
            double pack_seconds, std::int64_t workspace, double error) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < direct.size(); ++i) ratios.push_back(direct[i] / ours[i]);
  const double flops = l.flops / l.options.threads;
  std::printf(
      "%4ld->%-4ld %3ld^%d %-11s %8.2f ms %5.2f TFLOP/s | today %5.2f | ratio %5.2f | pack %6.2f ms | %5.1f MiB | "
      "%.1e\n",
      l.ci, l.co, l.size, l.options.rank, kind, median(ours) * 1e3, flops / median(ours) * 1e-12,
      flops / median(direct) * 1e-12, median(ratios), pack_seconds * 1e3, static_cast<double>(workspace) / (1 << 20),
      error);
  std::fflush(stdout);
}

void measure_convolution(Layer& l, amx::Direction direction) {
  const Options& o = l.options;
  const bool turned = direction == amx::Direction::kInputGrad;
  const TensorView src = turned ? l.d_y_view : l.x_view;
  const Memory& dst = turned ? l.d_x : l.y;
  const amx::Convolution conv({.window = l.window, .weights = l.w.shape(), .direction = direction});
  Memory packed(DType::kU8, {conv.packed_bytes()});
  const double pack_seconds = timed(1, [&](int) { conv.pack(l.w.view(), 0, conv.out_blocks(), packed.data()); });
  std::vector<Memory> workspaces;
  for (int t = 0; t < o.threads; ++t)
    workspaces.emplace_back(DType::kU8, Shape{conv.workspace_bytes(l.part(dst.view().box, t))});
  auto ours = [&](int t) {
    conv.run({.src = {&src, 1},
              .dst = dst.view().sub(l.part(dst.view().box, t)),
              .packed = packed.data(),
              .workspace = workspaces[static_cast<std::size_t>(t)].data()});
  };
  const Direct direct(l,
                      turned ? make_conv_input_grad(KernelSet::kFast, l.window, l.w.shape(), DType::kBF16)
                             : make_conv_forward(KernelSet::kFast, l.window, l.w.shape(), DType::kBF16),
                      {src, l.w.view()}, dst, false);
  std::vector<double> a, b;
  timed(o.threads, [&](int t) { direct.run(t); });
  for (int r = 0; r < o.rounds; ++r) {
    a.push_back(timed(o.threads, [&](int t) { direct.run(t); }));
    b.push_back(timed(o.threads, ours));
  }
  report(l, turned ? "input grad" : "forward", a, b, pack_seconds, conv.workspace_bytes(l.part(dst.view().box, 0)),
         sample_error(l, src, dst.view(), turned));
}

void measure_gradient(Layer& l) {
  const Options& o = l.options;
  const amx::WeightGradient grad({.window = l.window, .weights = l.w.shape()});
  std::int64_t bytes = 0;
  for (const auto& range : grad.tasks()) bytes = std::max(bytes, grad.workspace_bytes(range, l.inner(l.co)));
  std::vector<Memory> workspaces, sums;
  for (int t = 0; t < o.threads; ++t) {
    workspaces.emplace_back(DType::kU8, Shape{bytes});
    sums.emplace_back(DType::kF32, l.d_w.shape());
  }
  auto ours = [&](int t) {
    for (const auto& range : grad.tasks())
      grad.run({.x = {&l.x_view, 1},
                .d_y = l.d_y_view.sub(l.part(l.inner(l.co), t)),
                .d_w = sums[static_cast<std::size_t>(t)].view(),
                .range = range,
                .workspace = workspaces[static_cast<std::size_t>(t)].data()});
  };
  const Direct direct(l, make_conv_weight_grad(KernelSet::kFast, l.window, l.w.shape(), DType::kBF16),
                      {l.x_view, l.d_y_view.sub(l.inner(l.co))}, l.d_w, true);
  std::vector<double> a, b;
  timed(o.threads, [&](int t) { direct.run(t); });
  for (int r = 0; r < o.rounds; ++r) {
    a.push_back(timed(o.threads, [&](int t) { direct.run(t); }));
    b.push_back(timed(o.threads, ours));
  }
  for (std::int64_t i = 0; i < l.d_w.count(); ++i) {
    l.d_w.as<float>()[i] = 0;
    for (const Memory& sum : sums) l.d_w.as<float>()[i] += sum.as<float>()[i];
  }
  report(l, "weight grad", a, b, 0, bytes, gradient_sample_error(l));
}

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
    if (kind.empty() || kind == "forward") measure_convolution(l, amx::Direction::kForward);
    if (kind.empty() || kind == "input") measure_convolution(l, amx::Direction::kInputGrad);
    if (kind.empty() || kind == "weight") measure_gradient(l);
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
