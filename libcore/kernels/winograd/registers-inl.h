// Small matrix products held in registers: kRows rows by kBlocks blocks of 16 columns, each sum one chain of fused
// multiply-adds. Rows and blocks only decide the speed: 8 x 2 blocks hide the latency with the 32 registers of AVX-512,
// 6 x 1 with the 16 of AVX2. Included once per instruction set.
#if defined(LIBCORE_KERNELS_WINOGRAD_REGISTERS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBCORE_KERNELS_WINOGRAD_REGISTERS_INL_H_
#undef LIBCORE_KERNELS_WINOGRAD_REGISTERS_INL_H_
#else
#define LIBCORE_KERNELS_WINOGRAD_REGISTERS_INL_H_
#endif

#include "libcore/kernels/winograd/axis_transforms-inl.h"
#include "libcore/kernels/winograd/routines.h"

HWY_BEFORE_NAMESPACE();
namespace voxshard::winograd::HWY_NAMESPACE {

inline constexpr int kMostBlocks = kLanes == 16 ? 2 : 1;
inline constexpr int kMostRows = kLanes == 16 ? 8 : kLanes == 8 ? 6 : 2;

template <int kRows, int kBlocks>
struct Registers {
  Floats at[kRows][kBlocks][kVectors];

  HWY_INLINE void Clear() {
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 2
      for (int b = 0; b < kBlocks; ++b)
#pragma GCC unroll 16
        for (int v = 0; v < kVectors; ++v) at[r][b][v] = hn::Zero(FloatTag());
  }

  /// Adds rows[r * row_step] * columns of each block.
  template <int kRowStep>
  HWY_INLINE void Add(const float* HWY_RESTRICT rows, const float* HWY_RESTRICT columns, std::int64_t column_block) {
    Floats column[kBlocks][kVectors];
#pragma GCC unroll 2
    for (int b = 0; b < kBlocks; ++b)
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) column[b][v] = hn::Load(FloatTag(), columns + b * column_block + v * kLanes);
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r) {
      const Floats value = hn::Set(FloatTag(), rows[r * kRowStep]);
#pragma GCC unroll 2
      for (int b = 0; b < kBlocks; ++b)
#pragma GCC unroll 16
        for (int v = 0; v < kVectors; ++v) at[r][b][v] = hn::MulAdd(value, column[b][v], at[r][b][v]);
    }
  }

  /// to[r][16] += the sums (= when `first`), blocks block_step apart.
  HWY_INLINE void AddTo(float* to, std::int64_t block_step, bool first) const {
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 2
      for (int b = 0; b < kBlocks; ++b)
#pragma GCC unroll 16
        for (int v = 0; v < kVectors; ++v) {
          float* sum = to + r * kLanesPerBlock + b * block_step + v * kLanes;
          const Floats value = at[r][b][v];
          hn::Store(first ? value : hn::Add(hn::Load(FloatTag(), sum), value), FloatTag(), sum);
        }
  }
};

/// Runs the body with `rows`, in 1 .. kRows, as a compile-time constant.
template <int kRows, template <int> class Body, class... Args>
HWY_INLINE void WithRows(std::int64_t rows, const Args&... args) {
  if constexpr (kRows > 1) {
    if (rows < kRows) return WithRows<kRows - 1, Body>(rows, args...);
  }
  Body<kRows>::Run(args...);
}

/// Splits `count` rows into equal steps of at most `most`.
template <class Step>
HWY_INLINE void ForEachStep(std::int64_t count, std::int64_t most, Step step) {
  const std::int64_t steps = (count + most - 1) / most;
  std::int64_t from = 0;
  for (std::int64_t i = 0; i < steps; ++i) {
    const std::int64_t past = count * (i + 1) / steps;
    step(from, past - from);
    from = past;
  }
}

}  // namespace voxshard::winograd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the toggle
