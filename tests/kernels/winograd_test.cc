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
  for (int rank : {2, 3})
    for (std::int64_t lo : {0, 1, 2})
      for (std::int64_t hi : {0, 1, 3})
        add(window_of(rank, 3, 1, 1, lo, hi), rank == 2 ? Dims{9, 14} : Dims{4, 6, 9}, 5, 18);
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
  const Window window = c.window.lifted();
  const Shape weights = c.rank() == 2 ? Shape{1, 3, 3, c.ci, c.co} : c.weights();
  const TensorView wide_w{o.w.view.data, o.w.view.dtype, Box::whole(weights), dense_strides(weights)};
  const Place x = magnitudes(o.x.view.lifted()), d_y = magnitudes(o.d_y.view.lifted()), abs_w = magnitudes(wide_w),
              abs_bias = magnitudes(o.bias.view);
  auto compare = [&](const TensorView& got, auto reference) {
    Place wanted = place(DType::kF64, got.lifted().box), sums = place(DType::kF64, got.lifted().box);
    reference(wanted.view, false);
    reference(sums.view, true);
    const Place stored = place(got.dtype, got.lifted().box);
    if (integers && got.dtype == DType::kF32) {
      copy(wanted.view, stored.view);
      expect_same_bits(stored.view, got.lifted(), what);
    } else {
      expect_within(wanted.view, got.lifted(), sums.view, allowed_units(tile), what);
    }
  };
  Place y = place(type, c.y_box(), margin);
  run_winograd({.window = c.window, .weights = c.weights(), .tile = tile}, {o.x.view}, o.w.view, &o.bias.view, y.view);
  compare(y.view, [&](const TensorView& to, bool sums) {
    sums ? reference::conv_forward(x.view, abs_w.view, &abs_bias.view, to, window)
         : reference::conv_forward(o.x.view.lifted(), wide_w, &o.bias.view, to, window);
  });
  Place d_x = place(type, c.x_box(), margin);
  run_winograd({.window = c.window, .weights = c.weights(), .tile = tile, .direction = winograd::Direction::kInputGrad},
               {o.d_y.view}, o.w.view, nullptr, d_x.view);
  compare(d_x.view, [&](const TensorView& to, bool sums) {
    sums ? reference::conv_input_grad(d_y.view, abs_w.view, nullptr, to, window)
         : reference::conv_input_grad(o.d_y.view.lifted(), wide_w, nullptr, to, window);
  });
  const Place d_w = place(DType::kF32, Box::whole(weights));
  run_winograd_gradient({.window = c.window, .weights = c.weights(), .tile = tile}, {o.x.view}, o.d_y.view, d_w.view);
  compare(d_w.view, [&](const TensorView& to, bool sums) {
    sums ? reference::conv_weight_grad(x.view, d_y.view, to, window)
         : reference::conv_weight_grad(o.x.view.lifted(), o.d_y.view.lifted(), to, window);
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
  const Case c{"parts", window_of(3, 3, 1, 1, 1, 1), {6, 7, 9}, 20 + 16 + 3, 18, 1};
  const Operands o(c, DType::kF32, 0, true);
  std::vector<Place> parts;
  std::vector<TensorView> views;
  std::int64_t channel = 0;
  for (std::int64_t channels : {20, 16, 3}) {
    Box box = c.x_box();
    box.set(4, channel, channel + channels);
    parts.push_back(place(DType::kF32, box, channel == 20 ? 1 : 0));
    copy(o.x.view.sub(box), parts.back().view);
    views.push_back(parts.back().view);
    channel += channels;
  }
  Place whole = place(DType::kF32, c.y_box()), split = place(DType::kF32, c.y_box());
  run_winograd({.window = c.window, .weights = c.weights(), .tile = {2, 2, 2}}, {o.x.view}, o.w.view, nullptr,
               whole.view);
  run_winograd({.window = c.window, .weights = c.weights(), .tile = {2, 2, 2}, .parts = {20, 16, 3}}, views, o.w.view,
               nullptr, split.view);
  expect_same_bits(whole.view, split.view, "forward");
  Place d_w = place(DType::kF32, Box::whole(c.weights())), d_split = place(DType::kF32, Box::whole(c.weights()));
  run_winograd_gradient({.window = c.window, .weights = c.weights(), .tile = {2, 2, 2}}, {o.x.view}, o.d_y.view,
                        d_w.view);
  run_winograd_gradient({.window = c.window, .weights = c.weights(), .tile = {2, 2, 2}, .parts = {20, 16, 3}}, views,
                        o.d_y.view, d_split.view);
  expect_same_bits(d_w.view, d_split.view, "weight gradient");
}

TEST(Winograd, AppliesToWindowsOfThreeWithStrideOne) {
  for (int rank : {2, 3}) {
    EXPECT_TRUE(winograd::applies(window_of(rank, 3, 1, 1, 1, 1)));
    EXPECT_TRUE(winograd::applies(window_of(rank, 3, 1, 1, 0, 2)));
    EXPECT_FALSE(winograd::applies(window_of(rank, 3, 2, 1, 1, 1)));
    EXPECT_FALSE(winograd::applies(window_of(rank, 3, 1, 2, 2, 2)));
    EXPECT_FALSE(winograd::applies(window_of(rank, 1, 1, 1, 0, 0)));
    EXPECT_FALSE(winograd::applies(window_of(rank, 2, 1, 1, 0, 1)));
  }
}

}  // namespace
}  // namespace voxshard
