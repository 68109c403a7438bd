// The products, position by position: small matrix products held in registers (registers-inl.h). Each result is one
// chain of fused multiply-adds in ascending order, for any rows and blocks of a step.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "libcore/kernels/winograd/products.cc"
#include <hwy/foreach_target.h>
// after foreach_target
#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>

#include "libcore/kernels/winograd/registers-inl.h"
#include "libcore/kernels/winograd/routines.h"
#include "libcore/kernels/winograd/vector_targets.h"

HWY_BEFORE_NAMESPACE();
namespace voxshard::winograd::HWY_NAMESPACE {
namespace {

constexpr std::int64_t kBlock = kLanesPerBlock;

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
      sums.AddTo(to, p.sums_block, p.first);
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

void multiply(const Products& p) { VOXSHARD_DISPATCH(Multiply)(p); }
void add_outer_products(const OuterProducts& p) { VOXSHARD_DISPATCH(AddOuterProducts)(p); }

std::string instruction_set() { return vector_target_name(HWY_TARGETS); }

}  // namespace voxshard::winograd
#endif  // HWY_ONCE
