// AMX convolutions: the same bits in any box, task, memory and number of threads; workspaces.
#include <thread>

#include "tests/kernels/amx/amx_scene.h"

namespace voxshard {
namespace {

using namespace test;

class AmxBits : public AmxTest {};
VOXSHARD_OVER_ROUTINES(AmxBits);

std::vector<Case> bit_cases() {
  return {{"3-D", window_of(3, 3, 1, 1, 1, 1), {9, 13, 18}, 48, 48, 2},
          {"3-D rows of tiles", window_of(3, 3, 1, 1, 1, 1), {6, 22, 64}, 32, 32, 1},
          {"3-D uneven padding", window_of(3, 3, 1, 1, 2, 0), {6, 7, 16}, 96, 64, 1},
          {"2-D", window_of(2, 3, 1, 1, 1, 1), {11, 180}, 32, 48, 1}};
}

TEST_P(AmxBits, AnyBoxAndAnyChannelsAreThoseOfTheWhole) {
  for (const Case& c : bit_cases()) {
    const Operands o(c, DType::kBF16, 0, false);
    for (auto direction : {ConvDirection::kForward, ConvDirection::kInputGrad}) {
      const bool forward = direction == ConvDirection::kForward;
      const amx::Convolution conv(
          {.window = c.window, .weights = c.weights(), .direction = direction, .routines = routines()});
      expect_pieces_of_the_whole(c, conv, forward ? o.x.view : o.d_y.view, o.w, forward ? c.y_box() : c.x_box(),
                                 DType::kF32, {5, 16});
    }
  }
}

TEST_P(AmxBits, ADestinationMayBeginAtAnyBlock) {
  const Case c{"blocks", window_of(3, 3, 1, 1, 1, 1), {4, 5, 16}, 32, 80, 1};
  const Operands o(c, DType::kBF16, 0, false);
  const amx::ConvolutionSpec spec{.window = c.window, .weights = c.weights(), .routines = routines()};
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

TEST_P(AmxBits, ASliceOfTheResultsHasTheWeightsOfTheWhole) {
  const Case c{"slice", window_of(3, 3, 1, 1, 1, 1), {6, 7, 9}, 80, 32, 1};
  expect_slice_of_the_whole(c, DType::kBF16, 11, 59, [&](std::int64_t first, std::int64_t count) {
    return amx::Convolution({.window = c.window,
                             .weights = c.weights(),
                             .direction = ConvDirection::kInputGrad,
                             .channel = first,
                             .channels = count,
                             .routines = routines()});
  });
}

TEST_P(AmxBits, AWeightGradientIsTheSameInAnyTasksAndMemory) {
  for (const Case& c : bit_cases())
    expect_same_in_any_tasks(
        c, amx::WeightGradient({.window = c.window, .weights = c.weights(), .routines = routines()}), DType::kBF16);
}

TEST_P(AmxBits, AWeightGradientDependsOnNoPosition) {
  for (const Case& c : bit_cases())
    expect_same_when_moved(c, amx::WeightGradient({.window = c.window, .weights = c.weights(), .routines = routines()}),
                           DType::kBF16, {-23, -16, -9});
}

TEST_P(AmxBits, ThreadsAtOnceGiveTheSame) {
  const Case c = bit_cases()[0];
  const Operands o(c, DType::kBF16, 0, false);
  std::vector<Place> y, d_w;
  for (int t = 0; t < 3; ++t) {
    y.push_back(place(DType::kBF16, c.y_box()));
    d_w.push_back(place(DType::kF32, Box::whole(c.weights())));
  }
  auto body = [&](std::size_t t) {
    run_amx({.window = c.window, .weights = c.weights(), .routines = routines()}, {o.x.view}, o.w.view, nullptr,
            y[t].view);
    run_amx_gradient({.window = c.window, .weights = c.weights(), .routines = routines()}, {o.x.view}, o.d_y.view,
                     d_w[t].view);
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

TEST_P(AmxBits, NoCallAsksForMoreThan32MiB) {
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
          for (int a = 3 - window.axes(); a < 3; ++a) shape.push_back(spatial[a]);
          shape.push_back(co);
          const std::string what = std::to_string(ci) + "->" + std::to_string(co) + " at " + to_string(spatial);
          const amx::Convolution conv({.window = window, .weights = weights, .routines = routines()});
          EXPECT_LE(conv.workspace_bytes(Box::whole(shape)), 32 << 20) << what;
          expect_tasks_within_32_mib(
              amx::WeightGradient({.window = window, .weights = weights, .routines = routines()}), weights,
              Box::whole(shape), what);
        }
}

}  // namespace
}  // namespace voxshard
