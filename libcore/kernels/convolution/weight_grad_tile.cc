#include "libcore/kernels/convolution/weight_grad_tile.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "libcore/kernels/convolution/weight_grad_tile.cc"
#include <hwy/foreach_target.h>
// after foreach_target
#include <hwy/highway.h>

#include "libcore/kernels/winograd/registers-inl.h"
#include "libcore/kernels/winograd/vector_targets.h"

HWY_BEFORE_NAMESPACE();
namespace voxshard::fast::HWY_NAMESPACE {
namespace {

namespace registers = winograd::HWY_NAMESPACE;

template <int kBlocks>
struct ForBlocks {
  template <int kRows>
  struct AddOuter {
    static HWY_INLINE void Run(const OuterProductsOfPanels& p, std::int64_t channel, std::int64_t panel) {
      registers::Registers<kRows, kBlocks> sums;
      sums.Clear();
      const float *x = p.x + channel, *d_y = p.d_y + panel * p.out_panel;
      for (std::int64_t row = 0; row < p.rows; ++row, x += p.x_row, d_y += p.y_row) {
        const float *value = x, *gradient = d_y;
#pragma GCC unroll 2
        for (std::int64_t v = 0; v < p.voxels; ++v, value += p.x_voxel, gradient += kTileOut)
          sums.template Add<1>(value, gradient, p.out_panel);
      }
      sums.AddTo(p.sums + panel * p.sums_panel + channel * kTileOut, p.sums_panel, false);
    }
  };
};

template <int kBlocks>
void AddBlocks(const OuterProductsOfPanels& p, std::int64_t panel) {
  registers::ForEachStep(p.channels, registers::kMostRows, [&](std::int64_t from, std::int64_t rows) {
    registers::WithRows<registers::kMostRows, ForBlocks<kBlocks>::template AddOuter>(rows, p, from, panel);
  });
}

void AddOuterProducts(const OuterProductsOfPanels& p) {
  constexpr int kMostBlocks = registers::kMostBlocks;
  std::int64_t panel = 0;
  for (; panel + kMostBlocks <= p.out_panels; panel += kMostBlocks) AddBlocks<kMostBlocks>(p, panel);
  for (; panel < p.out_panels; ++panel) AddBlocks<1>(p, panel);
}

}  // namespace
}  // namespace voxshard::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace voxshard::fast {

HWY_EXPORT(AddOuterProducts);

void add_outer_products(const OuterProductsOfPanels& p) { VOXSHARD_DISPATCH(AddOuterProducts)(p); }

const char* outer_products_code() { return vector_target_name(HWY_TARGETS); }

}  // namespace voxshard::fast
#endif  // HWY_ONCE
