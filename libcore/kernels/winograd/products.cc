// The products, position by position: small matrix products held in registers, kRows rows by kBlocks blocks of 16
// columns.
//
// Each result is one chain of fused multiply-adds in ascending order, whatever the rows and blocks of a step are: they
// only decide the speed. 8 x 2 blocks hide the latency with the 32 registers of AVX-512, 6 x 1 with the 16 of AVX2.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "libcore/kernels/winograd/products.cc"
#include <hwy/foreach_target.h>
// after foreach_target
#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>

#include "libcore/kernels/winograd/axis_transforms-inl.h"
#include "libcore/kernels/winograd/routines.h"

HWY_BEFORE_NAMESPACE();
namespace voxshard::winograd::HWY_NAMESPACE {
namespace {

constexpr std::int64_t kBlock = kLanesPerBlock;
constexpr int kMostBlocks = kLanes == 16 ? 2 : 1;
constexpr int kMostRows = kLanes == 16 ? 8 : kLanes == 8 ? 6 : 2;

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
};

/// `rows` is in 1 .. kRows: runs the body for exactly that number, at compile time.
template <int kRows, template <int> class Body, class... Args>
HWY_INLINE void WithRows(std::int64_t rows, const Args&... args) {
  if constexpr (kRows > 1) {
    if (rows < kRows) return WithRows<kRows - 1, Body>(rows, args...);
  }
  Body<kRows>::Run(args...);
}

/// Splits `count` rows in equal steps of at most `most`.
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

template <int kBlocks>
struct ForBlocks {
  template <int kRows>
  struct Multiply {
    static HWY_INLINE void Run(const Products& p, const float* values, const float* weights, float* products) {
      Registers<kRows, kBlocks> sums;
      sums.Clear();
      for (std::int64_t i = 0; i < p.values.blocks; ++i, values += p.values.slab()) {
        const int channels = p.in_channels[i];
#pragma GCC unroll 4
        for (int k = 0; k < channels; ++k, weights += kBlock)
          sums.template Add<kBlock>(values + k, weights, p.weights_block);
      }
#pragma GCC unroll 12
      for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 2
        for (int b = 0; b < kBlocks; ++b)
#pragma GCC unroll 16
          for (int v = 0; v < kVectors; ++v)
            hn::Store(sums.at[r][b][v], FloatTag(), products + r * kBlock + b * p.products.slab() + v * kLanes);
    }
  };

  template <int kRows>
  struct AddOuter {
    static HWY_INLINE void Run(const OuterProducts& p, const float* values, const float* gradients, float* to) {
      Registers<kRows, kBlocks> sums;
      sums.Clear();
      for (std::int64_t left = p.tiles; left > 0; left -= kTilesPerSlab) {
        const std::int64_t count = std::min(left, kTilesPerSlab) * kBlock;
#pragma GCC unroll 4
        for (std::int64_t t = 0; t < count; t += kBlock)
          sums.template Add<1>(values + t, gradients + t, p.gradients.slab());
        values += p.values.group();
        gradients += p.gradients.group();
      }
#pragma GCC unroll 12
      for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 2
        for (int b = 0; b < kBlocks; ++b)
#pragma GCC unroll 16
          for (int v = 0; v < kVectors; ++v) {
            float* sum = to + r * kBlock + b * p.sums_block + v * kLanes;
            const Floats value = sums.at[r][b][v];
            hn::Store(p.first ? value : hn::Add(hn::Load(FloatTag(), sum), value), FloatTag(), sum);
          }
    }
  };
};

template <int kBlocks>
void MultiplyBlocks(const Products& p, std::int64_t position, std::int64_t block) {
  const float* values = p.values.data + position * kPositionFloats;
  const float* weights = p.weights + position * p.weights_position + block * p.weights_block;
  float* products = p.products.data + position * kPositionFloats + block * p.products.slab();
  for (std::int64_t left = p.tiles; left > 0; left -= kTilesPerSlab) {
    ForEachStep(std::min(left, kTilesPerSlab), kMostRows, [&](std::int64_t from, std::int64_t rows) {
      WithRows<kMostRows, ForBlocks<kBlocks>::template Multiply>(rows, p, values + from * kBlock, weights,
                                                                 products + from * kBlock);
    });
    values += p.values.group();
    products += p.products.group();
  }
}

template <int kBlocks>
void AddBlocks(const OuterProducts& p, std::int64_t position, std::int64_t block) {
  const float* values = p.values.data + position * kPositionFloats;
  const float* gradients = p.gradients.data + position * kPositionFloats + block * p.gradients.slab();
  float* sums = p.sums + position * p.sums_position + block * p.sums_block;
  for (std::int64_t i = 0; i < p.values.blocks; ++i, values += p.values.slab(), sums += kBlock * kBlock)
    ForEachStep(p.in_channels[i], kMostRows, [&](std::int64_t from, std::int64_t rows) {
      WithRows<kMostRows, ForBlocks<kBlocks>::template AddOuter>(rows, p, values + from, gradients,
                                                                 sums + from * kBlock);
    });
}

void Multiply(const Products& p) {
  for (std::int64_t position = 0; position < p.values.positions; ++position) {
    std::int64_t block = 0;
    for (; block + kMostBlocks <= p.out_blocks; block += kMostBlocks) MultiplyBlocks<kMostBlocks>(p, position, block);
    for (; block < p.out_blocks; ++block) MultiplyBlocks<1>(p, position, block);
  }
}

void AddOuterProducts(const OuterProducts& p) {
  for (std::int64_t position = 0; position < p.values.positions; ++position) {
    std::int64_t block = 0;
    for (; block + kMostBlocks <= p.gradients.blocks; block += kMostBlocks) AddBlocks<kMostBlocks>(p, position, block);
    for (; block < p.gradients.blocks; ++block) AddBlocks<1>(p, position, block);
  }
}

}  // namespace
}  // namespace voxshard::winograd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace voxshard::winograd {

HWY_EXPORT(Multiply);
HWY_EXPORT(AddOuterProducts);

void multiply(const Products& p) { HWY_DYNAMIC_DISPATCH(Multiply)(p); }
void add_outer_products(const OuterProducts& p) { HWY_DYNAMIC_DISPATCH(AddOuterProducts)(p); }

std::string instruction_set() {
  const std::int64_t usable = hwy::SupportedTargets() & HWY_TARGETS;
  return hwy::TargetName(usable & -usable);
}

}  // namespace voxshard::winograd
#endif  // HWY_ONCE
