// Winograd's transforms along one axis, on vectors of channels: F(4, 3) with the points 0, +-a, +-b and infinity,
// F(2, 3) with 0, 1, -1 and infinity. Each maps kFrom vectors to kTo. Included once per instruction set.
//
// For the points x_i, with M(x) = prod (x - x_i) and N_i = prod over j != i of (x_i - x_j):
//   a patch d       row i is the polynomial M(x) / (x - x_i) applied to d, infinity M(x)
//   weights g       (g0 + x_i g1 + x_i^2 g2) / N_i, infinity g2
//   outputs y_k     sum of x_i^k m_i, infinity adds to the last
//   a gradient g    g0 + x_i g1 + ..., infinity the last; its sums are divided by N_i on the transform back
// Source: A. Lavin, S. Gray, Fast algorithms for convolutional neural networks, CVPR 2016; B. Barabasz et al., Error
// analysis and improving the accuracy of Winograd convolution, ACM TOMS 46 (2020), on the choice of points.
#if defined(LIBCORE_KERNELS_WINOGRAD_AXIS_TRANSFORMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBCORE_KERNELS_WINOGRAD_AXIS_TRANSFORMS_INL_H_
#undef LIBCORE_KERNELS_WINOGRAD_AXIS_TRANSFORMS_INL_H_
#else
#define LIBCORE_KERNELS_WINOGRAD_AXIS_TRANSFORMS_INL_H_
#endif

#include <hwy/highway.h>

#include "libcore/kernels/winograd/points.h"

HWY_BEFORE_NAMESPACE();
namespace voxshard::winograd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::CappedTag<float, 16>;
using Floats = hn::Vec<FloatTag>;
inline constexpr int kLanes = static_cast<int>(hn::MaxLanes(FloatTag()));
inline constexpr int kVectors = 16 / kLanes;  // of a block of 16 channels

HWY_INLINE Floats Value(double x) { return hn::Set(FloatTag(), static_cast<float>(x)); }

inline constexpr double kAA = 0.5, kBB = 2, kAABB = 1;
inline constexpr double kN0 = kAABB, kNA = 2 * kAA * (kAA - kBB), kNB = 2 * kBB * (kBB - kAA);

struct Patch6 {
  static constexpr int kFrom = 6, kTo = 6;
  static HWY_INLINE void Apply(const Floats* d, Floats* o) {
    const Floats even_a = hn::NegMulAdd(Value(kBB), d[2], d[4]), odd_a = hn::NegMulAdd(Value(kBB), d[1], d[3]);
    const Floats even_b = hn::NegMulAdd(Value(kAA), d[2], d[4]), odd_b = hn::NegMulAdd(Value(kAA), d[1], d[3]);
    o[0] = hn::MulAdd(Value(kAABB), d[0], hn::NegMulAdd(Value(kAA + kBB), d[2], d[4]));
    o[1] = hn::MulAdd(Value(kA), odd_a, even_a);
    o[2] = hn::NegMulAdd(Value(kA), odd_a, even_a);
    o[3] = hn::MulAdd(Value(kB), odd_b, even_b);
    o[4] = hn::NegMulAdd(Value(kB), odd_b, even_b);
    o[5] = hn::MulAdd(Value(kAABB), d[1], hn::NegMulAdd(Value(kAA + kBB), d[3], d[5]));
  }
};

struct Patch4 {
  static constexpr int kFrom = 4, kTo = 4;
  static HWY_INLINE void Apply(const Floats* d, Floats* o) {
    o[0] = hn::Sub(d[0], d[2]);
    o[1] = hn::Add(d[2], d[1]);
    o[2] = hn::Sub(d[2], d[1]);
    o[3] = hn::Sub(d[3], d[1]);
  }
};

struct Output6 {
  static constexpr int kFrom = 6, kTo = 4;
  static HWY_INLINE void Apply(const Floats* m, Floats* o) {
    const Floats sum_a = hn::Add(m[1], m[2]), diff_a = hn::Sub(m[1], m[2]);
    const Floats sum_b = hn::Add(m[3], m[4]), diff_b = hn::Sub(m[3], m[4]);
    o[0] = hn::Add(m[0], hn::Add(sum_a, sum_b));
    o[1] = hn::MulAdd(Value(kA), diff_a, hn::Mul(Value(kB), diff_b));
    o[2] = hn::MulAdd(Value(kAA), sum_a, hn::Mul(Value(kBB), sum_b));
    o[3] = hn::MulAdd(Value(kA * kAA), diff_a, hn::MulAdd(Value(kB * kBB), diff_b, m[5]));
  }
};

struct Output4 {
  static constexpr int kFrom = 4, kTo = 2;
  static HWY_INLINE void Apply(const Floats* m, Floats* o) {
    o[0] = hn::Add(m[0], hn::Add(m[1], m[2]));
    o[1] = hn::Add(hn::Sub(m[1], m[2]), m[3]);
  }
};

struct Weights6 {
  static constexpr int kFrom = 3, kTo = 6;
  static HWY_INLINE void Apply(const Floats* g, Floats* o) {
    const Floats even_a = hn::MulAdd(Value(kAA / kNA), g[2], hn::Mul(Value(1 / kNA), g[0]));
    const Floats even_b = hn::MulAdd(Value(kBB / kNB), g[2], hn::Mul(Value(1 / kNB), g[0]));
    o[0] = hn::Mul(Value(1 / kN0), g[0]);
    o[1] = hn::MulAdd(Value(kA / kNA), g[1], even_a);
    o[2] = hn::NegMulAdd(Value(kA / kNA), g[1], even_a);
    o[3] = hn::MulAdd(Value(kB / kNB), g[1], even_b);
    o[4] = hn::NegMulAdd(Value(kB / kNB), g[1], even_b);
    o[5] = g[2];
  }
};

struct Weights4 {
  static constexpr int kFrom = 3, kTo = 4;
  static HWY_INLINE void Apply(const Floats* g, Floats* o) {
    const Floats even = hn::Mul(Value(0.5), hn::Add(g[0], g[2])), odd = hn::Mul(Value(0.5), g[1]);
    o[0] = g[0];
    o[1] = hn::Add(even, odd);
    o[2] = hn::Sub(even, odd);
    o[3] = g[2];
  }
};

struct Gradient6 {
  static constexpr int kFrom = 4, kTo = 6;
  static HWY_INLINE void Apply(const Floats* g, Floats* o) {
    const Floats even_a = hn::MulAdd(Value(kAA), g[2], g[0]), odd_a = hn::MulAdd(Value(kAA), g[3], g[1]);
    const Floats even_b = hn::MulAdd(Value(kBB), g[2], g[0]), odd_b = hn::MulAdd(Value(kBB), g[3], g[1]);
    o[0] = g[0];
    o[1] = hn::MulAdd(Value(kA), odd_a, even_a);
    o[2] = hn::NegMulAdd(Value(kA), odd_a, even_a);
    o[3] = hn::MulAdd(Value(kB), odd_b, even_b);
    o[4] = hn::NegMulAdd(Value(kB), odd_b, even_b);
    o[5] = g[3];
  }
};

struct Gradient4 {
  static constexpr int kFrom = 2, kTo = 4;
  static HWY_INLINE void Apply(const Floats* g, Floats* o) {
    o[0] = g[0];
    o[1] = hn::Add(g[0], g[1]);
    o[2] = hn::Sub(g[0], g[1]);
    o[3] = g[1];
  }
};

struct Sums6 {
  static constexpr int kFrom = 6, kTo = 3;
  static HWY_INLINE void Apply(const Floats* m, Floats* o) {
    const Floats sum_a = hn::Add(m[1], m[2]), diff_a = hn::Sub(m[1], m[2]);
    const Floats sum_b = hn::Add(m[3], m[4]), diff_b = hn::Sub(m[3], m[4]);
    o[0] = hn::MulAdd(Value(1 / kN0), m[0], hn::MulAdd(Value(1 / kNA), sum_a, hn::Mul(Value(1 / kNB), sum_b)));
    o[1] = hn::MulAdd(Value(kA / kNA), diff_a, hn::Mul(Value(kB / kNB), diff_b));
    o[2] = hn::MulAdd(Value(kAA / kNA), sum_a, hn::MulAdd(Value(kBB / kNB), sum_b, m[5]));
  }
};

struct Sums4 {
  static constexpr int kFrom = 4, kTo = 3;
  static HWY_INLINE void Apply(const Floats* m, Floats* o) {
    const Floats even = hn::Mul(Value(0.5), hn::Add(m[1], m[2])), odd = hn::Sub(m[1], m[2]);
    o[0] = hn::Add(m[0], even);
    o[1] = hn::Mul(Value(0.5), odd);
    o[2] = hn::Add(even, m[3]);
  }
};

/// The identity, for an axis without kernel.
struct Bare {
  static constexpr int kFrom = 1, kTo = 1;
  static HWY_INLINE void Apply(const Floats* d, Floats* o) { o[0] = d[0]; }
};

/// The transforms of one kind by the number of inputs of an axis, and the numbers of values that they read and write.
template <class OfSix, class OfFour>
struct ByInputs {
  using Six = OfSix;
  using Four = OfFour;
};
using OfPatch = ByInputs<Patch6, Patch4>;
using OfOutput = ByInputs<Output6, Output4>;
using OfWeights = ByInputs<Weights6, Weights4>;
using OfGradient = ByInputs<Gradient6, Gradient4>;
using OfSums = ByInputs<Sums6, Sums4>;

template <class Kind>
HWY_INLINE int FromExtent(int inputs) {
  return inputs == 6 ? Kind::Six::kFrom : inputs == 4 ? Kind::Four::kFrom : 1;
}
template <class Kind>
HWY_INLINE int ToExtent(int inputs) {
  return inputs == 6 ? Kind::Six::kTo : inputs == 4 ? Kind::Four::kTo : 1;
}

}  // namespace voxshard::winograd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the toggle
