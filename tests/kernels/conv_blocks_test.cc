// Convolution: blocks = whole, workspaces, threads.
#include <thread>

#include "libcore/kernels/convolution/conv_kernels.h"
#include "tests/kernels/conv_scene.h"

namespace voxshard {
namespace {

using namespace test;

/// Returns sub-boxes that cut every spatial axis into pieces of `step`, the first piece being one shorter.
std::vector<Box> blocks(const Box& whole, int axes, std::int64_t step) {
  std::vector<Box> parts = {whole};
  for (int a = 1; a <= axes; ++a) {
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

/// Returns false for about 40 of many blocks, including the first and the last. Each shape costs the library
/// milliseconds.
bool skip(const Box& block, const Box& whole) {
  bool first = true, last = true;
  for (int a = 0; a < whole.axes(); ++a) {
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
        for (const Box& block : blocks(c.y_box(), c.axes(), step)) {
          if (skip(block, whole.view.box)) continue;
          Place part = place(type, block, block.begin[1] % 2);
          // Every other block reads a margin buffer with zeros around, as the engine makes it; the others read the bare
          // tensor.
          Place margin = place(type, read_box(block, c.window, c.ci));
          const Box held = intersect(margin.view.box, o.x.view.box);
          if (!held.empty()) copy(o.x.view.sub(held), margin.view.sub(held));
          const bool bare = block.begin[2] % 2 == 1;
          run_kernel(*kernel, {bare ? o.x.view : margin.view, o.w.view, o.bias.view}, part.view);
          expect_same_sums(whole.view, part.view, c.forward_terms(),
                           c.name + " " + dtype_name(type) + " " + to_string(block));
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
        for (const Box& block : blocks(c.x_box(), c.axes(), step)) {
          if (skip(block, whole.view.box)) continue;
          Place part = place(type, block, block.begin[1] % 2);
          run_kernel(*kernel, {o.d_y.view, o.w.view, bias.view}, part.view);
          expect_same_sums(whole.view, part.view, c.input_grad_terms(),
                           c.name + " " + dtype_name(type) + " " + to_string(block));
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
      for (std::size_t i = t; i < parts.size(); i += 4)
        run_kernel(*kernel, {o.x.view, o.w.view, o.bias.view}, results[i].view);
    });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < parts.size(); ++i)
    expect_same_sums(whole.view, results[i].view, c.forward_terms(), to_string(parts[i]));
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
