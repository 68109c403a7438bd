// Winograd convolutions: the same bits in any box, task, memory and instruction set; workspaces.
#include <hwy/highway.h>

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

const std::vector<Dims> kTiles = {{4, 4, 4}, {2, 4, 2}};

/// Boxes that cut `whole` in pieces of odd sizes, and its channels between blocks of 16.
std::vector<Box> pieces(const Box& whole, std::int64_t step) {
  std::vector<Box> parts = {whole};
  for (int a = 0; a < whole.rank(); ++a) {
    const std::int64_t size = a == 0 ? 1 : a == whole.rank() - 1 ? winograd::kLanesPerBlock : step;
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

TEST(WinogradBits, AnyBoxAndAnyChannelsAreThoseOfTheWhole) {
  for (const Case& c : bit_cases())
    for (const Dims& tile : kTiles)
      for (DType type : {DType::kF32, DType::kBF16}) {
        const Operands o(c, type, 0, false);
        for (auto direction : {winograd::Direction::kForward, winograd::Direction::kInputGrad}) {
          const bool forward = direction == winograd::Direction::kForward;
          const winograd::ConvolutionSpec spec{
              .window = c.window, .weights = c.weights(), .tile = tile, .direction = direction};
          const TensorView src = forward ? o.x.view : o.d_y.view;
          const Place bias = random(DType::kF32, Box::whole({forward ? c.co : c.ci}), kSeed);
          Place whole = place(type, forward ? c.y_box() : c.x_box());
          run_winograd(spec, {src}, o.w.view, &bias.view, whole.view);
          for (std::int64_t step : {5, 8}) {
            const auto boxes = pieces(whole.view.box, step);
            for (std::size_t i = 0; i < boxes.size(); i += 1 + boxes.size() / 24) {
              Place part = place(type, boxes[i], static_cast<std::int64_t>(i % 3));
              // Every other piece reads a margin buffer that holds just what it needs.
              Place margin = place(type, winograd::Convolution(spec).read_box(boxes[i]));
              const Box held = intersect(margin.view.box, src.box);
              copy(src.sub(held), margin.view.sub(held));
              run_winograd(spec, {i % 2 == 0 ? margin.view : src}, o.w.view, &bias.view, part.view,
                           boxes[i].begin.back() / winograd::kLanesPerBlock);
              expect_same_bits(whole.view.sub(boxes[i]), part.view, c.name + " " + to_string(boxes[i]));
              if (HasFailure()) return;
            }
          }
        }
      }
}

TEST(WinogradBits, ASliceOfTheResultsHasTheWeightsOfTheWhole) {
  const Case c{"slice", window_of(3, 3, 1, 1, 1, 1), {6, 7, 9}, 50, 16, 1};
  const Operands o(c, DType::kF32, 0, false);
  const auto grad = winograd::Direction::kInputGrad;
  Place whole = place(DType::kF32, c.x_box());
  run_winograd({.window = c.window, .weights = c.weights(), .direction = grad}, {o.d_y.view}, o.w.view, nullptr,
               whole.view);
  Box box = c.x_box();
  box.set(4, 11, 40);
  Place part = place(DType::kF32, box);
  run_winograd({.window = c.window, .weights = c.weights(), .direction = grad, .channel = 11, .channels = 29},
               {o.d_y.view}, o.w.view, nullptr, part.view);
  expect_same_bits(whole.view.sub(box), part.view, "channels 11:40");
}

TEST(WinogradBits, AWeightGradientIsTheSameInAnyTasksAndMemory) {
  for (const Case& c : bit_cases())
    for (const Dims& tile : kTiles)
      for (DType type : {DType::kF32, DType::kBF16}) {
        const winograd::WeightGradientSpec spec{.window = c.window, .weights = c.weights(), .tile = tile};
        const winograd::WeightGradient grad(spec);
        const Operands dense(c, type, 0, false), strided(c, type, 3, false);
        Place whole = place(DType::kF32, Box::whole(c.weights())), cut = place(DType::kF32, Box::whole(c.weights()));
        run_winograd_gradient(spec, {dense.x.view}, dense.d_y.view, whole.view);
        const std::int64_t ins = ceil_div(c.ci, 16), outs = ceil_div(c.co, 16);
        for (std::int64_t i = 0; i < ins; ++i)
          for (std::int64_t o = outs - 1; o >= 0; --o) {
            const winograd::ChannelRange range{i, i + 1, o, o + 1};
            const Guarded workspace(grad.workspace_bytes(range));
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

TEST(WinogradBits, AWeightGradientDependsOnGlobalPositionsModuloItsGrain) {
  for (const Case& c : bit_cases()) {
    const winograd::WeightGradientSpec spec{.window = c.window, .weights = c.weights()};
    const Operands o(c, DType::kF32, 0, false);
    Place here = place(DType::kF32, Box::whole(c.weights())), there = place(DType::kF32, Box::whole(c.weights()));
    run_winograd_gradient(spec, {o.x.view}, o.d_y.view, here.view);
    const Dims grain = winograd::WeightGradient(spec).grain();
    TensorView x = o.x.view, d_y = o.d_y.view;
    for (int a = 1; a + 1 < x.rank(); ++a) {
      const std::int64_t shift = 3 * grain[a + 3 - c.rank() - 1];
      x.box.begin[a] += shift;
      d_y.box.begin[a] += shift;
    }
    run_winograd_gradient(spec, {x}, d_y, there.view);
    expect_same_bits(here.view, there.view, c.name);
  }
}

/// Uses one instruction set of Highway's, until it goes.
class UseTarget {
 public:
  explicit UseTarget(std::int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
  ~UseTarget() {
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};

struct Results {
  Place y, d_x, d_w;
};

Results all_results(const Case& c, const Operands& o, const Dims& tile, DType type) {
  Results r{place(type, c.y_box()), place(type, c.x_box()), place(DType::kF32, Box::whole(c.weights()))};
  run_winograd({.window = c.window, .weights = c.weights(), .tile = tile}, {o.x.view}, o.w.view, &o.bias.view,
               r.y.view);
  run_winograd({.window = c.window, .weights = c.weights(), .tile = tile, .direction = winograd::Direction::kInputGrad},
               {o.d_y.view}, o.w.view, nullptr, r.d_x.view);
  run_winograd_gradient({.window = c.window, .weights = c.weights(), .tile = tile}, {o.x.view}, o.d_y.view, r.d_w.view);
  return r;
}

TEST(WinogradBits, Avx2AndAvx512GiveTheSameAndPlainCodeIsClose) {
  const bool wide = (hwy::SupportedTargets() & HWY_AVX3) != 0;
  for (const Case& c : bit_cases())
    for (const Dims& tile : kTiles)
      for (DType type : {DType::kF32, DType::kBF16}) {
        const Operands o(c, type, 0, false);
        auto with = [&](std::int64_t target, const char* name) {
          const UseTarget use(target);
          EXPECT_EQ(winograd::instruction_set(), name);
          return all_results(c, o, tile, type);
        };
        const Results narrow = with(HWY_AVX2 | HWY_SCALAR, "AVX2"), plain = with(HWY_SCALAR, "SCALAR");
        if (wide) {
          const Results wide_results = with(HWY_AVX3 | HWY_AVX2 | HWY_SCALAR, "AVX3");
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
          const winograd::Convolution conv({.window = window, .weights = weights, .tile = tile});
          EXPECT_LE(conv.workspace_bytes(conv.out_blocks()), 32 << 20) << ci << "->" << co;
          const winograd::WeightGradient grad({.window = window, .weights = weights, .tile = tile});
          std::int64_t covered = 0;
          for (const auto& range : grad.tasks()) {
            EXPECT_LE(grad.workspace_bytes(range), 32 << 20) << ci << "->" << co;
            covered += (range.past_in - range.first_in) * (range.past_out - range.first_out);
          }
          EXPECT_EQ(covered, ceil_div(ci, 16) * ceil_div(co, 16));
        }
}

}  // namespace
}  // namespace voxshard
