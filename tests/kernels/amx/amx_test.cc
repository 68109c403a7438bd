// AMX convolutions against the reference: windows, sizes, channels, margins, parts.
#include "tests/kernels/amx/amx_scene.h"

namespace voxshard {
namespace {

using namespace test;

class Amx : public AmxTest {};
VOXSHARD_OVER_ROUTINES(Amx);

std::vector<Case> amx_cases() {
  std::vector<Case> all;
  auto add = [&](const Window& w, const Dims& spatial, std::int64_t ci, std::int64_t co, std::int64_t batch = 1) {
    all.push_back(case_of(w, spatial, ci, co, batch));
  };
  const Window cube = window_of(3, 3, 1, 1, 1, 1);
  for (std::int64_t ci : {1, 16, 32, 33, 64})
    for (std::int64_t co : {3, 16, 32, 48}) add(cube, {3, 4, 9}, ci, co);
  for (std::int64_t width : {1, 2, 4, 8, 15, 16, 17, 31, 32, 33}) add(cube, {3, 5, width}, 32, 32);
  for (int axes : {2, 3})
    for (std::int64_t lo : {0, 1, 2})
      for (std::int64_t hi : {0, 1, 3})
        add(window_of(axes, 3, 1, 1, lo, hi), axes == 2 ? Dims{9, 18} : Dims{4, 6, 16}, 32, 16);
  add(cube, {12, 11, 10}, 32, 48, 2);  // several planes a step
  add(cube, {2, 40, 64}, 16, 16);      // several columns
  for (std::int64_t width : {173, 255}) add(window_of(2, 3, 1, 1, 1, 1), {3, width}, 16, 16, 2);  // rows cut in parts
  add(window_of(3, 1, 1, 1, 0, 0), {3, 4, 16}, 32, 32);
  add(window_of(2, 5, 1, 1, 2, 2), {7, 19}, 48, 16);
  add(window_of(3, 2, 1, 1, 0, 1), {4, 5, 16}, 16, 16);
  add(cube, {0, 5, 6}, 16, 16);
  add({.kernel = {1, 3, 3}, .stride = {1, 1, 1}, .dilation = {1, 1, 1}, .pad_lo = {0, 1, 1}, .pad_hi = {0, 1, 1}},
      {5, 6, 7}, 16, 16);
  return all;
}

TEST_P(Amx, EqualsReferenceWithinABoundOfTheSumOfMagnitudes) {
  for (const Case& c : amx_cases())
    for (DType result : {DType::kBF16, DType::kF32}) compare_amx(routines(), c, result, 0, false);
}

TEST_P(Amx, EqualsReferenceOnMarginViews) {
  for (const Case& c : amx_cases()) compare_amx(routines(), c, DType::kBF16, 2, false);
}

TEST_P(Amx, SmallIntegersAreExactAndRoundedOnce) {
  for (const Case& c : amx_cases())
    for (DType result : {DType::kBF16, DType::kF32}) compare_amx(routines(), c, result, 1, true);
}

TEST_P(Amx, WeightsInF32AreRoundedOnce) {
  const Case c{"f32 weights", window_of(3, 3, 1, 1, 1, 1), {3, 4, 16}, 40, 24, 1};
  const Operands o(c, DType::kBF16, 0, false);
  Place wide = place(DType::kF32, Box::whole(c.weights())), rounded = place(DType::kBF16, Box::whole(c.weights()));
  fill_normal(wide.view, kSeed + 9);
  copy(wide.view, rounded.view);
  for (auto direction : {ConvDirection::kForward, ConvDirection::kInputGrad}) {
    const bool forward = direction == ConvDirection::kForward;
    const amx::ConvolutionSpec spec{
        .window = c.window, .weights = c.weights(), .direction = direction, .routines = routines()};
    const Place a = place(DType::kF32, forward ? c.y_box() : c.x_box()), b = place(DType::kF32, a.view.box);
    run_amx(spec, {forward ? o.x.view : o.d_y.view}, wide.view, nullptr, a.view);
    run_amx(spec, {forward ? o.x.view : o.d_y.view}, rounded.view, nullptr, b.view);
    expect_same_bits(b.view, a.view, forward ? "forward" : "input gradient");
  }
}

TEST_P(Amx, SourcesSideBySideAreOneSourceWithAllChannels) {
  using Parts = std::vector<std::int64_t>;
  for (const Parts& channels : {Parts{64, 32}, {20, 16, 3}}) {
    const bool whole_chunks = channels.size() == 2;  // else the order of sums differs, and integers show the rest
    expect_parts_are_one_source(
        channels, DType::kBF16, !whole_chunks,
        [&](const Case& c, const Parts& parts) {
          return amx::Convolution({.window = c.window, .weights = c.weights(), .parts = parts, .routines = routines()});
        },
        [&](const Case& c, const Parts& parts) {
          return amx::WeightGradient(
              {.window = c.window, .weights = c.weights(), .parts = parts, .routines = routines()});
        });
  }
}

TEST_P(Amx, LeavesNoTilesBehindForTheLibrary) {
  const Case c{"library", window_of(3, 3, 1, 1, 1, 1), {4, 8, 16}, 32, 32, 1};
  const Operands o(c, DType::kBF16, 0, false);
  const auto library = make_conv_forward(KernelSet::kFast, c.window, c.weights(), DType::kBF16);
  const Place before = place(DType::kBF16, c.y_box()), after = place(DType::kBF16, c.y_box()),
              ours = place(DType::kBF16, c.y_box());
  run_kernel(*library, {o.x.view, o.w.view}, before.view);
  run_amx({.window = c.window, .weights = c.weights(), .routines = routines()}, {o.x.view}, o.w.view, nullptr,
          ours.view);
  run_kernel(*library, {o.x.view, o.w.view}, after.view);
  expect_same_bits(before.view, after.view, "oneDNN before and after");
}

TEST(AmxWindows, AreThoseOfStrideAndDilationOne) {
  for (int axes : {2, 3}) {
    EXPECT_TRUE(amx::applies(window_of(axes, 3, 1, 1, 1, 1)));
    EXPECT_TRUE(amx::applies(window_of(axes, 5, 1, 1, 0, 2)));
    EXPECT_FALSE(amx::applies(window_of(axes, 3, 2, 1, 1, 1)));
    EXPECT_FALSE(amx::applies(window_of(axes, 3, 1, 2, 2, 2)));
  }
}

}  // namespace
}  // namespace voxshard
