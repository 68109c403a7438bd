// Shared by bench_winograd and bench_amx: times a kernel over blocks of channels against the direct one, in one run.
#pragma once

#include <cstdio>

#include "libcore/kernels/blocked_conv.h"
#include "tests/bench/layer.h"

namespace voxshard::bench {

/// Seconds of each round.
struct Rounds {
  std::vector<double> direct, ours;
};

/// Times both kernels in turn, after one uncounted run of the direct one; of `ours` the better of two times counts.
inline Rounds measure_rounds(const Options& o, const Direct& direct, const std::function<void(int)>& ours) {
  const auto other = [&](int t) { direct.run(t); };
  Rounds rounds;
  timed(o.threads, other);
  for (int r = 0; r < o.rounds; ++r) {
    rounds.direct.push_back(timed(o.threads, other));
    const double first = timed(o.threads, ours);
    rounds.ours.push_back(std::min(first, timed(o.threads, ours)));
  }
  return rounds;
}

/// Prints one line. `peak`: FLOP/s of one thread, 0 if it was not measured.
inline void report(const Layer& l, const char* kind, const Rounds& rounds, double pack_seconds, std::int64_t workspace,
                   double error, double peak) {
  const auto& [direct, ours] = rounds;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < direct.size(); ++i) ratios.push_back(direct[i] / ours[i]);
  const double flops = l.flops / l.options.threads, rate = flops / median(ours);
  std::printf("%4ld->%-4ld %3ld^%d %-11s %8.2f ms %6.0f | direct %6.0f | ratio %5.2f | ", l.ci, l.co, l.size,
              l.options.rank, kind, median(ours) * 1e3, rate * 1e-9, flops / median(direct) * 1e-9, median(ratios));
  if (peak > 0) std::printf("of peak %4.2f | ", rate / peak);
  std::printf("pack %6.2f ms | %5.1f MiB | %.1e\n", pack_seconds * 1e3, static_cast<double>(workspace) / (1 << 20),
              error);
  std::fflush(stdout);
}

/// Measures the layer's winograd::Convolution or amx::Convolution in its direction.
template <class Convolution>
void measure_convolution(Layer& l, const Convolution& conv, ConvDirection direction, double peak = 0) {
  const Options& o = l.options;
  const bool turned = direction == ConvDirection::kInputGrad;
  const TensorView src = turned ? l.d_y_view : l.x_view;
  const Memory& dst = turned ? l.d_x : l.y;
  Memory packed(DType::kU8, {conv.packed_bytes()});
  const double pack_seconds = timed(1, [&](int) { conv.pack(l.w.view(), 0, conv.out_blocks(), packed.data()); });
  std::vector<Memory> workspaces;
  for (int t = 0; t < o.threads; ++t)
    workspaces.emplace_back(DType::kU8, Shape{conv.workspace_bytes(l.part(dst.view().box, t))});
  const auto ours = [&](int t) {
    conv.run({.src = {&src, 1},
              .dst = dst.view().sub(l.part(dst.view().box, t)),
              .packed = packed.data(),
              .workspace = workspaces[t].data()});
  };
  const DType type = dst.dtype();
  const Direct direct(l,
                      turned ? make_conv_input_grad(KernelSet::kFast, l.window, l.w.shape(), type)
                             : make_conv_forward(KernelSet::kFast, l.window, l.w.shape(), type),
                      {src, l.w.view()}, dst, false);
  const Rounds rounds = measure_rounds(o, direct, ours);
  report(l, turned ? "input grad" : "forward", rounds, pack_seconds, workspaces[0].count(),
         sample_error(l, src, dst.view(), turned), peak);
}

/// Measures the layer's winograd::WeightGradient or amx::WeightGradient.
template <class WeightGradient>
void measure_gradient(Layer& l, const WeightGradient& grad, double peak = 0) {
  const Options& o = l.options;
  std::int64_t bytes = 0;
  for (const auto& range : grad.tasks()) bytes = std::max(bytes, grad.workspace_bytes(range, l.inner(l.co)));
  std::vector<Memory> workspaces, sums;
  for (int t = 0; t < o.threads; ++t) {
    workspaces.emplace_back(DType::kU8, Shape{bytes});
    sums.emplace_back(DType::kF32, l.d_w.shape());
  }
  const auto ours = [&](int t) {
    for (const auto& range : grad.tasks())
      grad.run({.x = {&l.x_view, 1},
                .d_y = l.d_y_view.sub(l.part(l.inner(l.co), t)),
                .d_w = sums[t].view(),
                .range = range,
                .workspace = workspaces[t].data()});
  };
  const Direct direct(l, make_conv_weight_grad(KernelSet::kFast, l.window, l.w.shape(), l.x.dtype()),
                      {l.x_view, l.d_y_view.sub(l.inner(l.co))}, l.d_w, true);
  const Rounds rounds = measure_rounds(o, direct, ours);
  for (std::int64_t i = 0; i < l.d_w.count(); ++i) {
    l.d_w.as<float>()[i] = 0;
    for (const Memory& sum : sums) l.d_w.as<float>()[i] += sum.as<float>()[i];
  }
  report(l, "weight grad", rounds, 0, bytes, gradient_sample_error(l), peak);
}

}  // namespace voxshard::bench
