// Transforms along one axis over many lines of vectors, from and to memory. Included once per instruction set.
#if defined(LIBCORE_KERNELS_WINOGRAD_STAGES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBCORE_KERNELS_WINOGRAD_STAGES_INL_H_
#undef LIBCORE_KERNELS_WINOGRAD_STAGES_INL_H_
#else
#define LIBCORE_KERNELS_WINOGRAD_STAGES_INL_H_
#endif

#include "libcore/kernels/winograd/axis_transforms-inl.h"
#include "libcore/kernels/winograd/routines.h"

HWY_BEFORE_NAMESPACE();
namespace voxshard::winograd::HWY_NAMESPACE {

inline constexpr std::int64_t kBlock = kLanesPerBlock;

struct FromFloats {
  const float* data;
  HWY_INLINE Floats operator()(std::int64_t offset) const { return hn::LoadU(FloatTag(), data + offset); }
};

/// The layout of lines of values: `outer` x `inner` lines, values of a line `step` apart.
struct Lines {
  std::int64_t outer, inner, step;
};

template <class Axis, class From>
HWY_INLINE void Stage(int outer, int inner, From from, const Lines& src, float* to, const Lines& dst) {
  for (int o = 0; o < outer; ++o)
    for (int i = 0; i < inner; ++i)
      for (int v = 0; v < kVectors; ++v) {
        const std::int64_t read = o * src.outer + i * src.inner + v * kLanes;
        float* HWY_RESTRICT write = to + o * dst.outer + i * dst.inner + v * kLanes;
        Floats in[Axis::kFrom], out[Axis::kTo];
#pragma GCC unroll 6
        for (int k = 0; k < Axis::kFrom; ++k) in[k] = from(read + k * src.step);
        Axis::Apply(in, out);
#pragma GCC unroll 6
        for (int k = 0; k < Axis::kTo; ++k) hn::Store(out[k], FloatTag(), write + k * dst.step);
      }
}

template <class Kind, class From>
HWY_INLINE void AnyStage(int inputs, int outer, int inner, From from, const Lines& src, float* to, const Lines& dst) {
  if (inputs == 6)
    Stage<typename Kind::Six>(outer, inner, from, src, to, dst);
  else if (inputs == 4)
    Stage<typename Kind::Four>(outer, inner, from, src, to, dst);
  else
    Stage<Bare>(outer, inner, from, src, to, dst);
}

}  // namespace voxshard::winograd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the toggle
