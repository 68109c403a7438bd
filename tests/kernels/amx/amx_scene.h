// AMX kernels in tests: over the emulation on every machine, and over the tiles where they exist.
#pragma once

#include "libcore/kernels/amx/convolution.h"
#include "libcore/kernels/amx/processor.h"
#include "libcore/kernels/amx/weight_gradient.h"
#include "tests/kernels/blocked_scene.h"

namespace voxshard::test {

/// Returns the routines that run here. Called when suites are registered, before any test runs: never throws.
inline std::vector<const amx::Routines*> routines_here() {
  std::vector<const amx::Routines*> here = {&amx::kEmulated};
  try {
    if (amx::available()) here.push_back(&amx::kTiles);
  } catch (const Error&) {  // an instruction set that is refused: tests that ask for one see that
  }
  return here;
}

class AmxTest : public ::testing::TestWithParam<const amx::Routines*> {
 protected:
  const amx::Routines& routines() const { return *GetParam(); }
};

/// Instantiates a suite of TEST_P over what routines_here() holds.
#define VOXSHARD_OVER_ROUTINES(Suite)                                                   \
  INSTANTIATE_TEST_SUITE_P(Routines, Suite, ::testing::ValuesIn(test::routines_here()), \
                           [](const auto& routines) { return std::string(routines.param->name); })

inline void run_amx(const amx::ConvolutionSpec& spec, std::vector<TensorView> src, const TensorView& weights,
                    const TensorView* bias, const TensorView& dst, std::int64_t first_block = 0) {
  run_blocks(amx::Convolution(spec), std::move(src), weights, bias, dst, first_block);
}

inline void run_amx_gradient(const amx::WeightGradientSpec& spec, std::vector<TensorView> x, const TensorView& d_y,
                             const TensorView& d_w) {
  const amx::WeightGradient grad(spec);
  run_ranges(grad, grad.tasks(), std::move(x), d_y, d_w);
}

/// Compares every pass with the reference; results on small integers are exact and rounded once.
inline void compare_amx(const amx::Routines& routines, const Case& c, DType result, std::int64_t margin,
                        bool integers) {
  const Operands o(c, DType::kBF16, margin, integers);
  const std::string what = c.name + " " + dtype_name(result) + " " + routines.name;
  auto run = [&](ConvPass pass, const TensorView& to) {
    if (pass == ConvPass::kForward)
      run_amx({.window = c.window, .weights = c.weights(), .routines = routines}, {o.x.view}, o.w.view, &o.bias.view,
              to);
    else if (pass == ConvPass::kInputGrad)
      run_amx(
          {.window = c.window, .weights = c.weights(), .direction = ConvDirection::kInputGrad, .routines = routines},
          {o.d_y.view}, o.w.view, nullptr, to);
    else
      run_amx_gradient({.window = c.window, .weights = c.weights(), .routines = routines}, {o.x.view}, o.d_y.view, to);
  };
  compare_passes(c, o, result, margin, run,
                 [&](const TensorView& wanted, const TensorView& got, const TensorView& sums) {
                   constexpr double kUnits = 64;  // sums of some thousand terms one after another
                   if (!integers) return expect_within(wanted, got, sums, kUnits, what);
                   const Place stored = place(got.dtype, got.box);
                   copy(wanted, stored.view);
                   expect_same_bits(stored.view, got, what);
                 });
}

}  // namespace voxshard::test
