// AMX convolutions: the same bits in any box, task, memory and number of threads; workspaces.
#include <thread>

#include "tests/kernels/amx_scene.h"

namespace voxshard {
namespace {

using namespace test;

class AmxBits : public AmxTest {};

std::vector<Case> bit_cases() {
  return {{"3-D", window_of(3, 3, 1, 1, 1, 1), {9, 13, 18}, 48, 48, 2},
          {"3-D rows of tiles", window_of(3, 3, 1, 1, 1, 1), {6, 22, 64}, 32, 32, 1},
          {"3-D uneven padding", window_of(3, 3, 1, 1, 2, 0), {6, 7, 16}, 96, 64, 1},
          {"2-D", window_of(2, 3, 1, 1, 1, 1), {11, 180}, 32, 48, 1}};
}

/// Boxes that cut `whole` in pieces of odd sizes, and its channels between blocks of 16.
std::vector<Box> pieces(const Box& whole, std::int64_t step) {
  std::vector<Box> parts = {whole};
  for (int a = 0; a < whole.rank(); ++a) {
    const std::int64_t size = a == 0 ? 1 : a == whole.rank() - 1 ? amx::kTileRows : step;
    std::vector<Box> finer;
    for (const Box& part : parts)
      for (std::int64_t from = part.begin[a]; from < part.end(a); from += size) {
        Box b = part;
        b.set(a, from, std::min(from + size, part.end(a)));
        finer.push_back(b);
      }
    parts = finer;
  }
  return parts;
}

TEST_F(AmxBits, AnyBoxAndAnyChannelsAreThoseOfTheWhole) {
  for (const Case& c : bit_cases()) {
    const Operands o(c, DType::kBF16, 0, false);
    for (auto direction : {amx::Direction::kForward, amx::Direction::kInputGrad}) {
      const bool forward = direction == amx::Direction::kForward;
      const amx::ConvolutionSpec spec{.window = c.window, .weights = c.weights(), .direction = direction};
      const TensorView src = forward ? o.x.view : o.d_y.view;
      const Place bias = random(DType::kF32, Box::whole({forward ? c.co : c.ci}), kSeed);
      const Place whole = place(DType::kF32, forward ? c.y_box() : c.x_box());
      run_amx(spec, {src}, o.w.view, &bias.view, whole.view);
      for (std::int64_t step : {5, 16}) {
        const auto boxes = pieces(whole.view.box, step);
        for (std::size_t i = 0; i < boxes.size(); i += 1 + boxes.size() / 24) {
          const Box& box = boxes[i];
          const Place part = place(DType::kF32, box, static_cast<std::int64_t>(i % 3));
          // Every other piece reads a margin buffer that holds just what it needs.
          const Place margin = place(DType::kBF16, amx::Convolution(spec).read_box(box));
          const Box held = intersect(margin.view.box, src.box);
          copy(src.sub(held), margin.view.sub(held));
          Place its_bias = place(DType::kF32, Box::whole({box.extent.back()}));
          for (std::int64_t k = 0; k < box.extent.back(); ++k)
            its_bias.memory.as<float>()[k] = bias.memory.as<float>()[box.begin.back() + k];
          run_amx(spec, {i % 2 == 0 ? margin.view : src}, o.w.view, &its_bias.view, part.view,
                  box.begin.back() / amx::kTileRows);
          expect_same_bits(whole.view.sub(box), part.view, c.name + " " + to_string(box));
          if (HasFailure()) return;
        }
      }
    }
  }
}

TEST_F(AmxBits, ADestinationMayBeginAtAnyBlock) {
  const Case c{"blocks", window_of(3, 3, 1, 1, 1, 1), {4, 5, 16}, 32, 80, 1};
  const Operands o(c, DType::kBF16, 0, false);
  const amx::ConvolutionSpec spec{.window = c.window, .weights = c.weights()};
  const Place whole = place(DType::kBF16, c.y_box());
  run_amx(spec, {o.x.view}, o.w.view, nullptr, whole.view);
  for (std::int64_t first : {0, 1, 2, 3}) {
    Box box = c.y_box();
    box.set(4, 16 * first, std::min<std::int64_t>(80, 16 * first + 48));
    const Place part = place(DType::kBF16, box);
    run_amx(spec, {o.x.view}, o.w.view, nullptr, part.view, first);
    expect_same_bits(whole.view.sub(box), part.view, "from block " + std::to_string(first));
  }
}

TEST_F(AmxBits, ASliceOfTheResultsHasTheWeightsOfTheWhole) {
  const Case c{"slice", window_of(3, 3, 1, 1, 1, 1), {6, 7, 9}, 80, 32, 1};
  const Operands o(c, DType::kBF16, 0, false);
  const auto grad = amx::Direction::kInputGrad;
  Place whole = place(DType::kBF16, c.x_box());
  run_amx({.window = c.window, .weights = c.weights(), .direction = grad}, {o.d_y.view}, o.w.view, nullptr, whole.view);
  Box box = c.x_box();
  box.set(4, 11, 59);
  Place part = place(DType::kBF16, box);
  run_amx({.window = c.window, .weights = c.weights(), .direction = grad, .channel = 11, .channels = 48}, {o.d_y.view},
          o.w.view, nullptr, part.view);
  expect_same_bits(whole.view.sub(box), part.view, "channels 11:59");
}

TEST_F(AmxBits, AWeightGradientIsTheSameInAnyTasksAndMemory) {
  for (const Case& c : bit_cases()) {
    const amx::WeightGradientSpec spec{.window = c.window, .weights = c.weights()};
    const amx::WeightGradient grad(spec);
    const Operands dense(c, DType::kBF16, 0, false), strided(c, DType::kBF16, 3, false);
    Place whole = place(DType::kF32, Box::whole(c.weights())), cut = place(DType::kF32, Box::whole(c.weights()));
    run_amx_gradient(spec, {dense.x.view}, dense.d_y.view, whole.view);
    for (std::int64_t i = 0; i < grad.in_blocks(); ++i)
      for (std::int64_t o = grad.out_blocks() - 1; o >= 0; --o) {
        const amx::ChannelRange range{i, i + 1, o, o + 1};
        const Guarded workspace(grad.workspace_bytes(range, strided.d_y.view.box));
        grad.run({.x = {&strided.x.view, 1},
                  .d_y = strided.d_y.view,
                  .d_w = cut.view,
                  .range = range,
                  .workspace = workspace.data()});
        workspace.check();
      }
    expect_same_bits(whole.view, cut.view, c.name);
  }
}

TEST_F(AmxBits, AWeightGradientDependsOnNoPosition) {
  for (const Case& c : bit_cases()) {
    const amx::WeightGradientSpec spec{.window = c.window, .weights = c.weights()};
    const Operands o(c, DType::kBF16, 0, false);
    Place here = place(DType::kF32, Box::whole(c.weights())), there = place(DType::kF32, Box::whole(c.weights()));
    run_amx_gradient(spec, {o.x.view}, o.d_y.view, here.view);
    TensorView x = o.x.view, d_y = o.d_y.view;
    for (int a = 1; a + 1 < x.rank(); ++a) {
      x.box.begin[a] += 7 * a - 30;
      d_y.box.begin[a] += 7 * a - 30;
    }
    run_amx_gradient(spec, {x}, d_y, there.view);
    expect_same_bits(here.view, there.view, c.name);
  }
}

TEST_F(AmxBits, ThreadsAtOnceGiveTheSame) {
  const Case c = bit_cases()[0];
  const Operands o(c, DType::kBF16, 0, false);
  std::vector<Place> y, d_w;
  for (int t = 0; t < 3; ++t) {
    y.push_back(place(DType::kBF16, c.y_box()));
    d_w.push_back(place(DType::kF32, Box::whole(c.weights())));
  }
  auto body = [&](std::size_t t) {
    run_amx({.window = c.window, .weights = c.weights()}, {o.x.view}, o.w.view, nullptr, y[t].view);
    run_amx_gradient({.window = c.window, .weights = c.weights()}, {o.x.view}, o.d_y.view, d_w[t].view);
  };
  body(0);
  std::thread one(body, 1), two(body, 2);
  one.join();
  two.join();
  for (std::size_t t : {1U, 2U}) {
    expect_same_bits(y[0].view, y[t].view, "forward");
    expect_same_bits(d_w[0].view, d_w[t].view, "weight gradient");
  }
}

TEST_F(AmxBits, NoCallAsksForMoreThan32MiB) {
  for (const Window& window : {window_of(3, 3, 1, 1, 1, 1), window_of(2, 3, 1, 1, 1, 1)})
    for (std::int64_t ci : {16, 64, 192, 256, 768, 1024})
      for (std::int64_t co : {16, 256, 1024})
        for (const Dims& spatial : {Dims{1, 1, 1},
                                    {4, 4, 4},
                                    {8, 8, 8},
                                    {9, 1, 700},
                                    {700, 9, 3},
                                    {64, 64, 64},
                                    {128, 128, 128},
                                    {1, 1280, 1280}}) {
          Shape weights = window.kernel, shape = {1};
          weights.push_back(ci);
          weights.push_back(co);
          for (int a = 3 - window.rank(); a < 3; ++a) shape.push_back(spatial[a]);
          shape.push_back(co);
          const std::string what = std::to_string(ci) + "->" + std::to_string(co) + " at " + to_string(spatial);
          const amx::Convolution conv({.window = window, .weights = weights});
          EXPECT_LE(conv.workspace_bytes(Box::whole(shape)), 32 << 20) << what;
          const amx::WeightGradient grad({.window = window, .weights = weights});
          std::int64_t covered = 0;
          for (const auto& range : grad.tasks()) {
            EXPECT_LE(grad.workspace_bytes(range, Box::whole(shape)), 32 << 20) << what;
            covered += (range.past_in - range.first_in) * (range.past_out - range.first_out);
          }
          EXPECT_EQ(covered, ceil_div(ci, 16) * ceil_div(co, 16)) << what;
        }
}

}  // namespace
}  // namespace voxshard
