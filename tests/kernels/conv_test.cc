// Convolution: hand-sized numbers, gradients by central differences, fast = reference over a grid, blocks = whole.
#include "libcore/kernels/conv.h"

#include <thread>

#include "libcore/kernels/fast/conv_weight_grad.h"
#include "tests/kernels/support.h"

namespace voxshard {
namespace {

using namespace test;

const std::uint64_t kSeed = printed_seed("kernels/conv", 20240611);

struct Case {
  std::string name;
  Window window;
  Dims spatial;  // of x, whole
  std::int64_t ci, co, batch = 1;

  int rank() const { return window.rank(); }
  Box x_box() const { return box(spatial, ci); }
  Box y_box() const {
    Dims out;
    for (int a = 0; a < rank(); ++a) out.push_back(window.output_extent(a, spatial[a]));
    return box(out, co);
  }
  Shape weights() const {
    Shape w = window.kernel;
    w.push_back(ci);
    w.push_back(co);
    return w;
  }

 private:
  Box box(const Dims& extent, std::int64_t channels) const {
    Shape shape = {batch};
    for (auto e : extent) shape.push_back(e);
    shape.push_back(channels);
    return Box::whole(shape);
  }
};

Window window_of(int rank, std::int64_t kernel, std::int64_t stride, std::int64_t dilation, std::int64_t lo,
                 std::int64_t hi) {
  return {.kernel = Dims::filled(rank, kernel),
          .stride = Dims::filled(rank, stride),
          .dilation = Dims::filled(rank, dilation),
          .pad_lo = Dims::filled(rank, lo),
          .pad_hi = Dims::filled(rank, hi)};
}

std::vector<Case> cases() {
  std::vector<Case> all;
  auto add = [&](const Window& w, const Dims& spatial, std::int64_t ci, std::int64_t co, std::int64_t batch = 1) {
    all.push_back({"k" + to_string(w.kernel) + " s" + to_string(w.stride) + " d" + to_string(w.dilation) + " lo" +
                       to_string(w.pad_lo) + " hi" + to_string(w.pad_hi) + " x" + to_string(spatial) + " " +
                       std::to_string(ci) + "->" + std::to_string(co) + " n" + std::to_string(batch),
                   w, spatial, ci, co, batch});
  };
  // Channels around the tiles of 6, 8 and 16.
  for (std::int64_t ci : {1, 5, 6, 7, 8, 16, 17})
    for (std::int64_t co : {1, 3, 8, 15, 16, 17, 33}) add(window_of(3, 3, 1, 1, 1, 1), {4, 5, 6}, ci, co);
  for (int rank : {2, 3})
    for (std::int64_t kernel : {1, 2, 3})
      for (std::int64_t stride : {1, 2})
        for (std::int64_t dilation : {1, 2})
          for (std::int64_t lo : {0, 1})
            for (std::int64_t hi : {0, 2}) {
              const Dims spatial = rank == 2 ? Dims{9, 10} : Dims{7, 6, 9};
              add(window_of(rank, kernel, stride, dilation, lo, hi), spatial, 9, 12);
            }
  add(window_of(2, 7, 2, 1, 3, 2), {21, 18}, 3, 20);
  add(window_of(3, 7, 1, 1, 3, 3), {8, 7, 9}, 2, 9);
  add(window_of(3, 3, 3, 1, 0, 0), {9, 7, 8}, 4, 6, 2);
  add(window_of(3, 2, 2, 1, 0, 0), {8, 6, 10}, 16, 8, 2);
  add(window_of(3, 3, 1, 1, 1, 1), {1, 1, 1}, 32, 32, 3);
  add(window_of(3, 3, 1, 1, 1, 1), {2, 33, 31}, 16, 24, 2);
  add({.kernel = {1, 2, 2}, .stride = {1, 2, 2}, .dilation = {1, 1, 1}, .pad_lo = {0, 0, 0}, .pad_hi = {0, 0, 1}},
      {3, 6, 7}, 8, 16);
  add({.kernel = {1, 3, 3}, .stride = {1, 1, 1}, .dilation = {1, 1, 1}, .pad_lo = {0, 1, 1}, .pad_hi = {0, 1, 1}},
      {5, 6, 7}, 8, 16);
  add({.kernel = {3, 1, 2}, .stride = {2, 1, 3}, .dilation = {1, 2, 3}, .pad_lo = {2, 0, 1}, .pad_hi = {0, 1, 3}},
      {6, 5, 14}, 7, 5);
  add(window_of(3, 3, 1, 1, 1, 1), {0, 5, 6}, 4, 4);
  return all;
}

struct Operands {
  Place x, w, bias, d_y;
  explicit Operands(const Case& c, DType type, std::int64_t margin, bool integers) {
    x = place(type, c.x_box(), margin);
    w = place(type, Box::whole(c.weights()));
    bias = place(DType::kF32, Box::whole({c.co}));
    d_y = place(type, c.y_box(), margin);
    std::uint64_t stream = kSeed;
    for (const Place* p : {&x, &w, &bias, &d_y})
      integers ? fill_integers(p->view, ++stream) : fill_normal(p->view, ++stream);
  }
};

using MakeKernel = std::unique_ptr<Kernel> (*)(KernelSet, const Window&, const Shape&, DType);
std::unique_ptr<Kernel> forward(KernelSet set, const Window& window, const Shape& weights, DType type) {
  return make_conv_forward(set, window, weights, type);
}
std::unique_ptr<Kernel> input_grad(KernelSet set, const Window& window, const Shape& weights, DType type) {
  return make_conv_input_grad(set, window, weights, type);
}

/// Runs both sets on equal inputs and compares: bit-equal for integers, within rounding otherwise.
void compare_sets(MakeKernel make, const Case& c, DType type, const std::vector<TensorView>& inputs, const Box& box,
                  DType out_type, std::int64_t margin, bool integers, std::int64_t terms) {
  Place fast = place(out_type, box, margin), slow = place(out_type, box);
  run_kernel(*make(KernelSet::kFast, c.window, c.weights(), type), inputs, fast.view);
  run_kernel(*make(KernelSet::kReference, c.window, c.weights(), type), inputs, slow.view);
  if (integers) {
    expect_same_bits(slow.view, fast.view, c.name);
  } else {
    const double rounding = out_type == DType::kBF16 ? 0x1p-8 : 0x1p-23;
    expect_close(slow.view, fast.view,
                 rounding * (out_type == DType::kBF16 ? 1.5 : 4 + std::sqrt(static_cast<double>(terms))), c.name);
  }
}

void compare_all(const Case& c, DType type, std::int64_t margin, bool integers) {
  const Operands o(c, type, margin, integers);
  const std::int64_t taps = c.window.volume();
  compare_sets(forward, c, type, {o.x.view, o.w.view, o.bias.view}, c.y_box(), type, margin, integers,
               taps * c.ci);
  compare_sets(input_grad, c, type, {o.d_y.view, o.w.view}, c.x_box(), type, margin, integers, taps * c.co);
  if (c.y_box().empty()) return;
  compare_sets(make_conv_weight_grad, c, type, {o.x.view, o.d_y.view}, Box::whole(c.weights()), DType::kF32, 0,
               integers, c.y_box().count());
}

TEST(Conv, OneDimensionalSumsByHand) {
  const Window window{.kernel = {1, 3}, .stride = {1, 1}, .dilation = {1, 1}, .pad_lo = {0, 1}, .pad_hi = {0, 1}};
  Tensor x(DType::kF32, {1, 1, 4, 1}), w(DType::kF32, {1, 3, 1, 1}), bias(DType::kF32, {1}),
      y(DType::kF32, {1, 1, 4, 1});
  for (int i = 0; i < 4; ++i) x.as<float>()[i] = static_cast<float>(i + 1);
  w.as<float>()[0] = 1;
  w.as<float>()[1] = 10;
  w.as<float>()[2] = 100;
  bias.as<float>()[0] = 0.5F;
  for (KernelSet set : {KernelSet::kReference, KernelSet::kFast}) {
    run_kernel(*make_conv_forward(set, window, w.shape(), DType::kF32), {x.view(), w.view(), bias.view()}, y.view());
    EXPECT_EQ(std::vector<float>(y.as<float>(), y.as<float>() + 4),
              (std::vector<float>{210.5F, 321.5F, 432.5F, 43.5F}));
    // d_x[i] = sum_k d_y[i + 1 - k] w[k] with d_y = x.
    run_kernel(*make_conv_input_grad(set, window, w.shape(), DType::kF32), {x.view(), w.view()}, y.view());
    EXPECT_EQ(std::vector<float>(y.as<float>(), y.as<float>() + 4), (std::vector<float>{12, 123, 234, 340}));
    Tensor d_w(DType::kF32, w.shape());
    run_kernel(*make_conv_weight_grad(set, window, w.shape(), DType::kF32), {x.view(), x.view()}, d_w.view());
    EXPECT_EQ(std::vector<float>(d_w.as<float>(), d_w.as<float>() + 3), (std::vector<float>{20, 30, 20}));
  }
}

TEST(Conv, TransposedByTwoPutsEachInputInItsOwnCell) {
  const Window window{.kernel = {1, 2}, .stride = {1, 2}, .dilation = {1, 1}, .pad_lo = {0, 0}, .pad_hi = {0, 0}};
  Tensor d_y(DType::kF32, {1, 1, 2, 1}), w(DType::kF32, {1, 2, 1, 1}), d_x(DType::kF32, {1, 1, 4, 1});
  d_y.as<float>()[0] = 3;
  d_y.as<float>()[1] = 5;
  w.as<float>()[0] = 1;
  w.as<float>()[1] = 10;
  run_kernel(*make_conv_input_grad(KernelSet::kFast, window, w.shape(), DType::kF32), {d_y.view(), w.view()},
             d_x.view());
  EXPECT_EQ(std::vector<float>(d_x.as<float>(), d_x.as<float>() + 4), (std::vector<float>{3, 30, 5, 50}));
}

TEST(Conv, ReferenceGradientsMatchCentralDifferences) {
  std::vector<Case> some;
  for (const Window& w : {window_of(3, 3, 1, 1, 1, 1), window_of(3, 3, 2, 1, 0, 1), window_of(3, 2, 2, 1, 0, 0),
                          window_of(3, 2, 1, 2, 2, 1), window_of(3, 3, 2, 2, 3, 0)})
    some.push_back({"k" + to_string(w.kernel) + " s" + to_string(w.stride), w, {4, 5, 6}, 2, 3, 2});
  for (const Case& c : some) {
    Place x = random(DType::kF64, c.x_box(), kSeed), w = random(DType::kF64, Box::whole(c.weights()), kSeed + 1),
          g = random(DType::kF64, c.y_box(), kSeed + 2), y = place(DType::kF64, c.y_box()),
          d_x = place(DType::kF64, c.x_box()), d_w = place(DType::kF64, w.view.box);
    auto value = [&] {
      reference::conv_forward(x.view, w.view, nullptr, y.view, c.window);
      return dot(y.view, g.view);
    };
    reference::conv_input_grad(g.view, w.view, nullptr, d_x.view, c.window);
    reference::conv_weight_grad(x.view, g.view, d_w.view, c.window);
    EXPECT_LE(gradient_error(x.view, d_x.view, value), 1e-6) << c.name;
    EXPECT_LE(gradient_error(w.view, d_w.view, value), 1e-6) << c.name;
  }
}

TEST(Conv, FastEqualsReferenceF32) {
  for (const Case& c : cases()) compare_all(c, DType::kF32, 0, false);
}
TEST(Conv, FastEqualsReferenceBF16) {
  for (const Case& c : cases()) compare_all(c, DType::kBF16, 0, false);
}
TEST(Conv, FastEqualsReferenceOnMarginViews) {
  for (const Case& c : cases())
    for (DType type : {DType::kF32, DType::kBF16}) compare_all(c, type, 2, false);
}
TEST(Conv, SmallIntegersAreBitEqual) {
  for (const Case& c : cases()) compare_all(c, DType::kF32, 1, true);
}

TEST(Conv, LibraryWeightGradientEqualsReference) {
  int tried = 0;
  for (const Case& c : cases()) {
    if (c.y_box().empty()) continue;
    const auto kernel = fast::make_library_weight_grad(c.window, c.weights(), DType::kF32);
    if (kernel == nullptr) continue;
    ++tried;
    const Operands o(c, DType::kBF16, 1, true);
    Place fast = place(DType::kF32, Box::whole(c.weights())), slow = fast;
    slow.view = slow.memory.view();
    fast.view = fast.memory.view();
    run_kernel(*kernel, {o.x.view, o.d_y.view}, fast.view);
    run_kernel(*make_conv_weight_grad(KernelSet::kReference, c.window, c.weights(), DType::kF32),
               {o.x.view, o.d_y.view}, slow.view);
    expect_same_bits(slow.view, fast.view, c.name);
  }
  EXPECT_GT(tried, 40);
}

/// Sub-boxes that cut every spatial axis in pieces of `step` from an odd place.
std::vector<Box> blocks(const Box& whole, int rank, std::int64_t step) {
  std::vector<Box> parts = {whole};
  for (int a = 1; a <= rank; ++a) {
    std::vector<Box> finer;
    for (const Box& part : parts)
      for (std::int64_t from = whole.begin[a], to; from < whole.end(a); from = to) {
        to = std::min(whole.end(a), from + (from == whole.begin[a] ? std::max<std::int64_t>(1, step - 1) : step));
        Box b = part;
        b.set(a, from, to);
        finer.push_back(b);
      }
    parts = finer;
  }
  return parts;
}

/// Keeps about 40 of many blocks; the first and the last always. Each shape costs the library some milliseconds.
bool skip(const Box& block, const Box& whole) {
  bool first = true, last = true;
  for (int a = 0; a < whole.rank(); ++a) {
    first = first && block.begin[a] == whole.begin[a];
    last = last && block.end(a) == whole.end(a);
  }
  const std::int64_t stride = std::max<std::int64_t>(1, whole.count() / block.count() / 16);
  return !first && !last && static_cast<std::int64_t>(index_of(block.begin) % 1000003) % stride != 0;
}

std::vector<Case> block_cases() {
  std::vector<Case> some;
  auto add = [&](const std::string& name, const Window& w, const Dims& spatial, std::int64_t ci, std::int64_t co) {
    some.push_back({name, w, spatial, ci, co, 1});
  };
  add("3x3x3", window_of(3, 3, 1, 1, 1, 1), {9, 17, 21}, 16, 24);
  add("3x3x3 wide", window_of(3, 3, 1, 1, 1, 1), {5, 9, 33}, 64, 64);
  add("3x3x3 deep", window_of(3, 3, 1, 1, 1, 1), {4, 5, 6}, 192, 72);
  add("3x3x3 first", window_of(3, 3, 1, 1, 1, 1), {9, 17, 21}, 1, 32);
  add("odd channels", window_of(3, 3, 1, 1, 1, 1), {6, 11, 13}, 17, 3);
  add("head", window_of(3, 1, 1, 1, 0, 0), {6, 11, 13}, 32, 3);
  add("1x1x1", window_of(3, 1, 1, 1, 0, 0), {5, 8, 19}, 72, 130);
  add("up 2", window_of(3, 2, 2, 1, 0, 0), {9, 12, 14}, 16, 24);
  add("strided", window_of(3, 3, 2, 1, 1, 1), {9, 17, 21}, 16, 24);
  add("strided 1", window_of(3, 1, 2, 1, 0, 0), {9, 17, 21}, 16, 24);
  add("dilated", window_of(3, 3, 1, 2, 2, 2), {9, 17, 21}, 16, 24);
  add("stem", window_of(2, 7, 2, 1, 3, 2), {41, 50}, 3, 64);
  add("2-D", window_of(2, 3, 1, 1, 1, 1), {41, 50}, 32, 48);
  return some;
}

TEST(Conv, ForwardOfABlockEqualsTheBlockOfTheForward) {
  for (const Case& c : block_cases())
    for (DType type : {DType::kF32, DType::kBF16}) {
      const auto kernel = make_conv_forward(KernelSet::kFast, c.window, c.weights(), type);
      const Operands o(c, type, 0, false);
      Place whole = place(type, c.y_box());
      run_kernel(*kernel, {o.x.view, o.w.view, o.bias.view}, whole.view);
      for (std::int64_t step : {2, 5, 8})
        for (const Box& block : blocks(c.y_box(), c.rank(), step)) {
          if (skip(block, whole.view.box)) continue;
          Place part = place(type, block, block.begin[1] % 2);
          // Every other block reads a margin buffer with zeros around, as the engine makes it; the others the bare
          // tensor.
          Place margin = place(type, read_box(block, c.window, c.ci));
          const Box held = intersect(margin.view.box, o.x.view.box);
          if (!held.empty()) copy(o.x.view.sub(held), margin.view.sub(held));
          const bool bare = block.begin[2] % 2 == 1;
          run_kernel(*kernel, {bare ? o.x.view : margin.view, o.w.view, o.bias.view}, part.view);
          expect_same_bits(whole.view.sub(block), part.view, c.name + " " + dtype_name(type) + " " + to_string(block));
          if (HasFailure()) return;
        }
    }
}

TEST(Conv, InputGradientOfABlockEqualsTheBlockOfTheInputGradient) {
  for (const Case& c : block_cases())
    for (DType type : {DType::kF32, DType::kBF16}) {
      const auto kernel = make_conv_input_grad(KernelSet::kFast, c.window, c.weights(), type);
      const Operands o(c, type, 0, false);
      Place bias = random(DType::kF32, Box::whole({c.ci}), kSeed), whole = place(type, c.x_box());
      run_kernel(*kernel, {o.d_y.view, o.w.view, bias.view}, whole.view);
      for (std::int64_t step : {2, 5, 8})
        for (const Box& block : blocks(c.x_box(), c.rank(), step)) {
          if (skip(block, whole.view.box)) continue;
          Place part = place(type, block, block.begin[1] % 2);
          run_kernel(*kernel, {o.d_y.view, o.w.view, bias.view}, part.view);
          expect_same_bits(whole.view.sub(block), part.view, c.name + " " + dtype_name(type) + " " + to_string(block));
          if (HasFailure()) return;
        }
    }
}

TEST(Conv, LargeBlocksRunInSlabsWithBoundedWorkspace) {
  // Packed in f32 this block would take 2 x 77 MB.
  const Case c{"large", window_of(3, 3, 1, 1, 1, 1), {150, 80, 100}, 16, 16, 1};
  const auto kernel = make_conv_forward(KernelSet::kFast, c.window, c.weights(), DType::kBF16);
  TensorView x{nullptr, DType::kBF16, c.x_box(), dense_strides(c.x_box().extent)};
  TensorView w{nullptr, DType::kBF16, Box::whole(c.weights()), dense_strides(c.weights())};
  TensorView y{nullptr, DType::kBF16, c.y_box(), dense_strides(c.y_box().extent)};
  EXPECT_LE(kernel->workspace_bytes({.inputs = std::vector<TensorView>{x, w}, .output = y}), 32 << 20);
}

TEST(Conv, ThreadsThatShareAKernelDoNotDisturbEachOther) {
  const Case c{"shared", window_of(3, 3, 1, 1, 1, 1), {8, 9, 21}, 16, 24, 1};
  const auto kernel = make_conv_forward(KernelSet::kFast, c.window, c.weights(), DType::kF32);
  const Operands o(c, DType::kF32, 0, false);
  Place whole = place(DType::kF32, c.y_box());
  run_kernel(*kernel, {o.x.view, o.w.view, o.bias.view}, whole.view);
  std::vector<Box> parts = blocks(c.y_box(), 2, 3);
  std::vector<Place> results;
  for (const Box& part : parts) results.push_back(place(DType::kF32, part));
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      pin_kernel_library_to_one_thread();
      for (std::size_t i = t; i < parts.size(); i += 4)
        run_kernel(*kernel, {o.x.view, o.w.view, o.bias.view}, results[i].view);
    });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < parts.size(); ++i)
    expect_same_bits(whole.view.sub(parts[i]), results[i].view, to_string(parts[i]));
}

TEST(Conv, WeightGradientRepeatsToTheBit) {
  for (const Case& c : block_cases()) {
    const Operands o(c, DType::kF32, 0, false);
    const Operands strided(c, DType::kF32, 2, false);
    const auto kernel = make_conv_weight_grad(KernelSet::kFast, c.window, c.weights(), DType::kF32);
    Place first = place(DType::kF32, Box::whole(c.weights())), again = place(DType::kF32, Box::whole(c.weights()));
    run_kernel(*kernel, {o.x.view, o.d_y.view}, first.view);
    run_kernel(*kernel, {strided.x.view, strided.d_y.view}, again.view);
    expect_same_bits(first.view, again.view, c.name);
  }
}

}  // namespace
}  // namespace voxshard
