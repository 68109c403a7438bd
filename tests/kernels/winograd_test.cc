// Winograd convolutions against the reference: windows, sizes, channels, types, margins, parts.
#include "tests/kernels/winograd_scene.h"

namespace voxshard {
namespace {

using namespace test;

std::vector<Case> winograd_cases() {
  std::vector<Case> all;
  auto add = [&](const Window& w, const Dims& spatial, std::int64_t ci, std::int64_t co, std::int64_t batch = 1) {
    all.push_back(case_of(w, spatial, ci, co, batch));
  };
  for (std::int64_t ci : {1, 3, 16, 17})
    for (std::int64_t co : {1, 3, 16, 33}) add(window_of(3, 3, 1, 1, 1, 1), {5, 6, 7}, ci, co);
  for (int axes : {2, 3})
    for (std::int64_t lo : {0, 1, 2})
      for (std::int64_t hi : {0, 1, 3})
        add(window_of(axes, 3, 1, 1, lo, hi), axes == 2 ? Dims{9, 14} : Dims{4, 6, 9}, 5, 18);
  for (std::int64_t size : {1, 2, 3, 4, 5, 8}) add(window_of(3, 3, 1, 1, 1, 1), {size, 9 - size, size + 3}, 20, 16);
  add(window_of(3, 3, 1, 1, 1, 1), {17, 18, 19}, 16, 80);
  add(window_of(2, 3, 1, 1, 1, 1), {37, 41}, 32, 32, 2);
  add(window_of(3, 3, 1, 1, 1, 1), {3, 5, 4}, 130, 7, 2);
  add(window_of(3, 3, 1, 1, 1, 1), {0, 5, 6}, 4, 4);
  add({.kernel = {1, 3, 3}, .stride = {1, 1, 1}, .dilation = {1, 1, 1}, .pad_lo = {0, 1, 1}, .pad_hi = {0, 1, 1}},
      {5, 6, 7}, 8, 16);
  return all;
}

const std::vector<Dims> kTiles = {{4, 4, 4}, {2, 2, 2}, {2, 4, 2}, {4, 2, 4}};

void compare_with_reference(const Case& c, const Dims& tile, DType type, std::int64_t margin, bool integers) {
  const Operands o(c, type, margin, integers);
  const std::string what = c.name + " tile " + to_string(tile) + " " + dtype_name(type);
  auto run = [&](ConvPass pass, const TensorView& to) {
    if (pass == ConvPass::kForward)
      run_winograd({.window = c.window, .weights = c.weights(), .tile = tile}, {o.x.view}, o.w.view, &o.bias.view, to);
    else if (pass == ConvPass::kInputGrad)
      run_winograd({.window = c.window, .weights = c.weights(), .tile = tile, .direction = ConvDirection::kInputGrad},
                   {o.d_y.view}, o.w.view, nullptr, to);
    else
      run_winograd_gradient({.window = c.window, .weights = c.weights(), .tile = tile}, {o.x.view}, o.d_y.view, to);
  };
  compare_passes(c, o, type, margin, run, [&](const TensorView& wanted, const TensorView& got, const TensorView& sums) {
    if (!integers || got.dtype != DType::kF32) return expect_within(wanted, got, sums, allowed_units(tile), what);
    const Place stored = place(got.dtype, got.box);
    copy(wanted, stored.view);
    expect_same_bits(stored.view, got, what);
  });
}

TEST(Winograd, EqualsReferenceWithinABoundOfTheSumOfMagnitudesF32) {
  for (const Case& c : winograd_cases())
    for (const Dims& tile : kTiles) compare_with_reference(c, tile, DType::kF32, 0, false);
}

TEST(Winograd, EqualsReferenceWithinABoundOfTheSumOfMagnitudesBF16) {
  for (const Case& c : winograd_cases()) compare_with_reference(c, {2, 4, 2}, DType::kBF16, 0, false);
}

TEST(Winograd, EqualsReferenceOnMarginViews) {
  for (const Case& c : winograd_cases())
    for (DType type : {DType::kF32, DType::kBF16}) compare_with_reference(c, {4, 4, 4}, type, 2, false);
}

TEST(Winograd, SmallIntegersAreExactInTilesOfTwo) {
  for (const Case& c : winograd_cases()) compare_with_reference(c, {2, 2, 2}, DType::kF32, 1, true);
}

TEST(Winograd, SourcesSideBySideAreOneSourceWithAllChannels) {
  using Parts = std::vector<std::int64_t>;
  expect_parts_are_one_source(
      {20, 16, 3}, DType::kF32, true,
      [](const Case& c, const Parts& parts) {
        return winograd::Convolution({.window = c.window, .weights = c.weights(), .tile = {2, 2, 2}, .parts = parts});
      },
      [](const Case& c, const Parts& parts) {
        return winograd::WeightGradient(
            {.window = c.window, .weights = c.weights(), .tile = {2, 2, 2}, .parts = parts});
      });
}

TEST(Winograd, AppliesToWindowsOfThreeWithStrideOne) {
  for (int axes : {2, 3}) {
    EXPECT_TRUE(winograd::applies(window_of(axes, 3, 1, 1, 1, 1)));
    EXPECT_TRUE(winograd::applies(window_of(axes, 3, 1, 1, 0, 2)));
    EXPECT_FALSE(winograd::applies(window_of(axes, 3, 2, 1, 1, 1)));
    EXPECT_FALSE(winograd::applies(window_of(axes, 3, 1, 2, 2, 2)));
    EXPECT_FALSE(winograd::applies(window_of(axes, 1, 1, 1, 0, 0)));
    EXPECT_FALSE(winograd::applies(window_of(axes, 2, 1, 1, 0, 1)));
  }
}

}  // namespace
}  // namespace voxshard
