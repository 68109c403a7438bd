// Winograd convolutions: the same bits in any box, task, memory and instruction set; workspaces.
#include "tests/kernels/use_target.h"
#include "tests/kernels/winograd_scene.h"

namespace voxshard {
namespace {

using namespace test;

std::vector<Case> bit_cases() {
  return {{"3-D", window_of(3, 3, 1, 1, 1, 1), {9, 13, 18}, 20, 40, 2},
          {"3-D many tiles", window_of(3, 3, 1, 1, 1, 1), {18, 22, 35}, 16, 16, 1},
          {"3-D first", window_of(3, 3, 1, 1, 1, 1), {6, 7, 9}, 1, 32, 1},
          {"2-D", window_of(2, 3, 1, 1, 1, 1), {41, 50}, 32, 48, 1}};
}

const std::vector<Dims> kBitTiles = {{4, 4, 4}, {2, 4, 2}};

TEST(WinogradBits, AnyBoxAndAnyChannelsAreThoseOfTheWhole) {
  for (const Case& c : bit_cases())
    for (const Dims& tile : kBitTiles)
      for (DType type : {DType::kF32, DType::kBF16}) {
        const Operands o(c, type, 0, false);
        for (auto direction : {ConvDirection::kForward, ConvDirection::kInputGrad}) {
          const bool forward = direction == ConvDirection::kForward;
          const winograd::Convolution conv(
              {.window = c.window, .weights = c.weights(), .tile = tile, .direction = direction});
          expect_pieces_of_the_whole(c, conv, forward ? o.x.view : o.d_y.view, o.w, forward ? c.y_box() : c.x_box(),
                                     type, {5, 8});
        }
      }
}

TEST(WinogradBits, ASliceOfTheResultsHasTheWeightsOfTheWhole) {
  const Case c{"slice", window_of(3, 3, 1, 1, 1, 1), {6, 7, 9}, 50, 16, 1};
  expect_slice_of_the_whole(c, DType::kF32, 11, 40, [&](std::int64_t first, std::int64_t count) {
    return winograd::Convolution({.window = c.window,
                                  .weights = c.weights(),
                                  .direction = ConvDirection::kInputGrad,
                                  .channel = first,
                                  .channels = count});
  });
}

TEST(WinogradBits, AWeightGradientIsTheSameInAnyTasksAndMemory) {
  for (const Case& c : bit_cases())
    for (const Dims& tile : kBitTiles)
      for (DType type : {DType::kF32, DType::kBF16})
        expect_same_in_any_tasks(
            c, winograd::WeightGradient({.window = c.window, .weights = c.weights(), .tile = tile}), type);
}

TEST(WinogradBits, AWeightGradientDependsOnGlobalPositionsModuloItsGrain) {
  for (const Case& c : bit_cases()) {
    const winograd::WeightGradient grad({.window = c.window, .weights = c.weights()});
    Dims shift;
    for (int a = 3 - c.axes(); a < 3; ++a) shift.push_back(3 * grad.grain()[a]);
    expect_same_when_moved(c, grad, DType::kF32, shift);
  }
}

struct Results {
  Place y, d_x, d_w;
};

Results all_results(const Case& c, const Operands& o, const Dims& tile, DType type) {
  Results r{place(type, c.y_box()), place(type, c.x_box()), place(DType::kF32, Box::whole(c.weights()))};
  run_winograd({.window = c.window, .weights = c.weights(), .tile = tile}, {o.x.view}, o.w.view, &o.bias.view,
               r.y.view);
  run_winograd({.window = c.window, .weights = c.weights(), .tile = tile, .direction = ConvDirection::kInputGrad},
               {o.d_y.view}, o.w.view, nullptr, r.d_x.view);
  run_winograd_gradient({.window = c.window, .weights = c.weights(), .tile = tile}, {o.x.view}, o.d_y.view, r.d_w.view);
  return r;
}

TEST(WinogradBits, Avx2AndAvx512GiveTheSameAndPlainCodeIsClose) {
  const bool wide = (vector_targets() & HWY_AVX3) != 0;
  for (const Case& c : bit_cases())
    for (const Dims& tile : kBitTiles)
      for (DType type : {DType::kF32, DType::kBF16}) {
        const Operands o(c, type, 0, false);
        auto with = [&](std::int64_t target, const char* name) {
          const UseTarget use(target);
          EXPECT_EQ(winograd::instruction_set(), name);
          return all_results(c, o, tile, type);
        };
        const Results narrow = with(HWY_AVX2 | kPlainTarget, "AVX2"),
                      plain = with(kPlainTarget, hwy::TargetName(kPlainTarget));
        if (wide) {
          const Results wide_results = with(HWY_AVX3 | HWY_AVX2 | kPlainTarget, "AVX3");
          expect_same_bits(narrow.y.view, wide_results.y.view, c.name + " forward");
          expect_same_bits(narrow.d_x.view, wide_results.d_x.view, c.name + " input gradient");
          expect_same_bits(narrow.d_w.view, wide_results.d_w.view, c.name + " weight gradient");
        }
        // Normal operands: sums grow with the root of their terms, the transforms multiply the rounding.
        auto bound = [&](std::int64_t terms) {
          return (type == DType::kBF16 ? 0x1p-8 : 0x1p-18) * std::sqrt(static_cast<double>(terms)) / 8;
        };
        expect_close(narrow.y.view, plain.y.view, bound(27 * c.ci), c.name + " forward");
        expect_close(narrow.d_x.view, plain.d_x.view, bound(27 * c.co), c.name + " input gradient");
        expect_close(narrow.d_w.view, plain.d_w.view,
                     0x1p-18 * std::sqrt(static_cast<double>(c.y_box().count() / c.co)), c.name + " weight gradient");
      }
}

TEST(WinogradBits, NoCallAsksForMoreThan32MiB) {
  for (const Window& window : {window_of(3, 3, 1, 1, 1, 1), window_of(2, 3, 1, 1, 1, 1)})
    for (const Dims& tile : {Dims{4, 4, 4}, Dims{2, 2, 2}})
      for (std::int64_t ci : {1, 16, 64, 192, 256, 512, 768, 896})
        for (std::int64_t co : {1, 64, 256, 512, 896}) {
          Shape weights = window.kernel;
          weights.push_back(ci);
          weights.push_back(co);
          const std::string what = std::to_string(ci) + "->" + std::to_string(co);
          const winograd::Convolution conv({.window = window, .weights = weights, .tile = tile});
          EXPECT_LE(conv.workspace_bytes(Box::whole({1, 64, 64, 64, co})), 32 << 20) << what;
          expect_tasks_within_32_mib(winograd::WeightGradient({.window = window, .weights = weights, .tile = tile}),
                                     weights, {}, what);
        }
}

}  // namespace
}  // namespace voxshard
