// Shared by bench_winograd and bench_amx: clocks, memory on huge pages, the operands of a layer, the direct kernels on
// them, errors against f64 on a sample.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "libcore/base/rng.h"
#include "libcore/kernels/winograd/routines.h"
#include "tests/kernels/direct_conv.h"

namespace voxshard::bench {

struct Options {
  std::int64_t size = 64, base = 32, tile = 4;
  int threads = 1, rounds = 3, rank = 3;
  bool bf16 = false;
  std::string layer;
};

inline double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Runs body(thread) on each thread. Returns the largest processor time of a thread, in seconds.
inline double timed(int threads, const std::function<void(int)>& body) {
  std::vector<double> seconds(static_cast<std::size_t>(threads));
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t)
    running.emplace_back([&, t] {
      const double start = thread_seconds();
      body(t);
      seconds[t] = thread_seconds() - start;
    });
  for (std::thread& thread : running) thread.join();
  return *std::max_element(seconds.begin(), seconds.end());
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Dense memory on huge pages, as the engine's arenas are.
class Memory {
 public:
  Memory() = default;
  Memory(DType type, Shape shape) : type_(type), shape_(std::move(shape)) {
    constexpr std::size_t kPage = 2U << 20;
    const std::size_t bytes = (static_cast<std::size_t>(element_count(shape_) * dtype_bytes(type)) / kPage + 1) * kPage;
    data_.reset(static_cast<std::byte*>(std::aligned_alloc(kPage, bytes)));
    ::madvise(data_.get(), bytes, MADV_HUGEPAGE);
    std::memset(data_.get(), 0, bytes);
  }
  const Shape& shape() const { return shape_; }
  DType dtype() const { return type_; }
  std::int64_t count() const { return element_count(shape_); }
  std::byte* data() const { return data_.get(); }
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data_.get());
  }
  TensorView view() const { return dense_view(data_.get(), type_, Box::whole(shape_)); }

 private:
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  DType type_ = DType::kF32;
  Shape shape_;
  std::unique_ptr<std::byte, Free> data_;
};

/// Returns a tensor of values uniform in -scale .. scale.
inline Memory random_tensor(DType type, const Shape& shape, std::uint64_t seed, double scale) {
  Memory t(type, shape);
  std::uint64_t state = seed * 0x9e3779b97f4a7c15U;
  for (std::int64_t i = 0; i < t.count(); ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    const auto value = static_cast<float>(scale * (static_cast<double>(state >> 40) * 0x1p-23 - 1));
    if (type == DType::kBF16)
      t.as<BF16>()[i] = BF16(value);
    else
      t.as<float>()[i] = value;
  }
  return t;
}

inline double peak_flops() {
  constexpr std::int64_t kTiles = 16, kBlocks = 4, kChannels = kBlocks * 16;
  const winograd::Slabs geometry{.data = nullptr, .blocks = kBlocks, .positions = 1};
  Memory values(DType::kF32, {geometry.group()}), products(DType::kF32, {geometry.group()}),
      weights(DType::kF32, {kChannels * kChannels});
  const std::vector<int> sizes(kBlocks, 16);
  const winograd::Products p{.tiles = kTiles,
                             .values = {values.as<float>(), kBlocks, 1},
                             .in_channels = sizes.data(),
                             .weights = weights.as<float>(),
                             .weights_position = 0,
                             .weights_block = kChannels * 16,
                             .products = {products.as<float>(), kBlocks, 1},
                             .out_blocks = kBlocks};
  double best = 1e9;
  for (int r = 0; r < 20; ++r) {
    const double start = thread_seconds();
    for (int i = 0; i < 200; ++i) winograd::multiply(p);
    best = std::min(best, thread_seconds() - start);
  }
  return 200 * 2.0 * kTiles * kChannels * kChannels / best;
}

/// One layer: operands with a margin of 1 all around, as the engine holds them.
struct Layer {
  Layer(const Options& o, std::int64_t size, std::int64_t ci, std::int64_t co)
      : options(o), depth(o.rank == 2 ? 1 : size), size(size), ci(ci), co(co) {
    window = {.kernel = Dims::filled(3, 3),
              .stride = Dims::filled(3, 1),
              .dilation = Dims::filled(3, 1),
              .pad_lo = Dims::filled(3, 1),
              .pad_hi = Dims::filled(3, 1)};
    if (o.rank == 2) window.kernel[0] = 1, window.pad_lo[0] = window.pad_hi[0] = 0;
    const std::int64_t rim = o.rank == 2 ? 0 : 1, kd = window.kernel[0];
    const DType type = o.bf16 ? DType::kBF16 : DType::kF32;
    x = random_tensor(type, {1, depth + 2 * rim, size + 2, size + 2, ci}, 1, 1);
    d_y = random_tensor(type, {1, depth + 2 * rim, size + 2, size + 2, co}, 2, 1);
    w = random_tensor(DType::kF32, {kd, 3, 3, ci, co}, 3, 1 / std::sqrt(9.0 * static_cast<double>(kd * ci)));
    y = Memory(type, {1, depth, size, size, co});
    d_x = Memory(type, {1, depth, size, size, ci});
    d_w = Memory(DType::kF32, w.shape());
    x_view = margined(x);
    d_y_view = margined(d_y);
    flops = 2.0 * 9 * static_cast<double>(kd * ci * co * depth * size * size);
  }

  TensorView margined(const Memory& t) const {
    TensorView v = t.view();
    for (int a = 1; a < 4; ++a) v.box.begin[a] = a == 1 && options.rank == 2 ? 0 : -1;
    return v;
  }
  Box inner(std::int64_t channels) const { return Box::whole({1, depth, size, size, channels}); }
  /// Returns the thread's part of the box: equal parts of the depth (of the height in 2-D), cut at multiples of 4.
  Box part(Box box, int thread) const {
    const int axis = options.rank == 2 ? 2 : 1;
    auto cut = [&](int t) { return t >= options.threads ? size : size * t / options.threads / 4 * 4; };
    box.set(axis, cut(thread), cut(thread + 1));
    return box;
  }

  const Options& options;
  std::int64_t depth, size, ci, co;
  Window window;
  Memory x, d_y, w, y, d_x, d_w;
  TensorView x_view, d_y_view;
  double flops;
};

/// A kernel of the engine with its buffers, ready to run as one part per thread.
struct Direct {
  Direct(const Layer& l, std::unique_ptr<Kernel> made, std::vector<TensorView> inputs, const Memory& out, bool sums)
      : kernel(std::move(made)) {
    if (kernel->packed_bytes() > 0) {
      packed = Memory(DType::kU8, {kernel->packed_bytes()});
      kernel->pack_all(inputs[kernel->packed_input()], packed.data());
    }
    for (int t = 0; t < l.options.threads; ++t) {
      std::vector<TensorView> in = inputs;
      TensorView result = out.view();
      if (sums) {
        in[1] = in[1].sub(l.part(l.inner(l.co), t));
        results.emplace_back(DType::kF32, out.shape());
        result = results.back().view();
      } else {
        result = result.sub(l.part(result.box, t));
      }
      calls.push_back(in);
      outputs.push_back(result);
      workspaces.emplace_back(DType::kU8,
                              Shape{kernel->workspace_bytes({.inputs = calls.back(), .output = result}) + 64});
    }
  }
  void run(int t) const {
    const auto i = static_cast<std::size_t>(t);
    kernel->run({.inputs = calls[i], .output = outputs[i], .packed = packed.data(), .workspace = workspaces[i].data()});
  }

  std::unique_ptr<Kernel> kernel;
  Memory packed;
  std::vector<std::vector<TensorView>> calls;
  std::vector<TensorView> outputs;
  std::vector<Memory> workspaces, results;
};

/// Returns the rms of got - wanted on a sample `wanted` (offset, value), relative to the rms of the wanted values.
inline double rms_error(const TensorView& got, const std::vector<std::pair<std::int64_t, double>>& wanted) {
  double square = 0, scale = 0;
  for (const auto& [at, value] : wanted) {
    square += std::pow(load(got, at) - value, 2);
    scale += value * value;
  }
  return std::sqrt(square / scale);
}

inline double at(const TensorView& v, std::int64_t d, std::int64_t h, std::int64_t w, std::int64_t c) {
  return load(v, (d - v.box.begin[1]) * v.strides[1] + (h - v.box.begin[2]) * v.strides[2] +
                     (w - v.box.begin[3]) * v.strides[3] + c);
}

/// Returns rms_error() of `got` against 200 elements of the convolution in f64; `turned`: of its input gradient.
inline double sample_error(const Layer& l, const TensorView& src, const TensorView& got, bool turned) {
  std::vector<std::pair<std::int64_t, double>> wanted;
  const std::int64_t kd = l.window.kernel[0], from = turned ? l.co : l.ci, to = turned ? l.ci : l.co;
  for (std::uint64_t i = 0; i < 200; ++i) {
    auto pick = [&](std::uint64_t k, std::int64_t n) {
      return static_cast<std::int64_t>(rng_below({.seed = 5, .stream = k}, i, static_cast<std::uint64_t>(n)));
    };
    const std::int64_t d = pick(1, l.depth), h = pick(2, l.size), w = pick(3, l.size), o = pick(4, to);
    double sum = 0;
    for (std::int64_t a = 0; a < kd; ++a)
      for (std::int64_t b = 0; b < 3; ++b)
        for (std::int64_t c = 0; c < 3; ++c)
          for (std::int64_t k = 0; k < from; ++k) {
            const std::int64_t tap = turned ? ((kd - 1 - a) * 3 + 2 - b) * 3 + 2 - c : (a * 3 + b) * 3 + c;
            const std::int64_t weight = tap * l.ci * l.co + (turned ? o * l.co + k : k * l.co + o);
            sum += at(src, d + a - kd / 2, h + b - 1, w + c - 1, k) * load(l.w.view(), weight);
          }
    wanted.emplace_back(((d * l.size + h) * l.size + w) * to + o, sum);
  }
  return rms_error(got, wanted);
}

inline double gradient_sample_error(const Layer& l) {
  std::vector<std::pair<std::int64_t, double>> wanted;
  for (std::uint64_t i = 0; i < 24; ++i) {
    auto pick = [&](std::uint64_t k, std::int64_t n) {
      return static_cast<std::int64_t>(rng_below({.seed = 6, .stream = k}, i, static_cast<std::uint64_t>(n)));
    };
    const std::int64_t a = pick(1, l.window.kernel[0]), b = pick(2, 3), c = pick(3, 3), ci = pick(4, l.ci),
                       co = pick(5, l.co);
    double sum = 0;
    for (std::int64_t d = 0; d < l.depth; ++d)
      for (std::int64_t h = 0; h < l.size; ++h)
        for (std::int64_t w = 0; w < l.size; ++w)
          sum += at(l.x_view, d + a - l.window.kernel[0] / 2, h + b - 1, w + c - 1, ci) * at(l.d_y_view, d, h, w, co);
    wanted.emplace_back((((a * 3 + b) * 3 + c) * l.ci + ci) * l.co + co, sum);
  }
  return rms_error(l.d_w.view(), wanted);
}

}  // namespace voxshard::bench
