// Normalisation in pieces: hand-sized numbers, the whole chain's gradient, fast = reference, sums over cuts, blocks =
// whole.
#include "libcore/kernels/norm.h"

#include "tests/kernels/support.h"

namespace voxshard {
namespace {

using namespace test;

const std::uint64_t kNormSeed = printed_seed("kernels/norm", 991);

struct NormScene {
  Place x, gamma, beta, d_y;
  Tensor sums, stats, grad_sums;
  NormSpec spec;

  NormScene(DType type, const Shape& shape, std::int64_t groups, double slope, std::int64_t margin = 0)
      : sums(DType::kF64, {groups, shape.back(), 2}),
        stats(DType::kF64, sums.shape()),
        grad_sums(DType::kF64, sums.shape()) {
    x = random(type, Box::whole(shape), kNormSeed, margin);
    d_y = random(type, Box::whole(shape), kNormSeed + 1, margin);
    const DType parameter = type == DType::kF64 ? DType::kF64 : DType::kF32;
    gamma = random(parameter, Box::whole({shape.back()}), kNormSeed + 2);
    beta = random(parameter, Box::whole({shape.back()}), kNormSeed + 3);
    spec = {.groups = groups,
            .batch = shape[0],
            .count = static_cast<double>(element_count(shape) / shape.back() / groups),
            .slope = slope};
  }
  void reference_stats() {
    reference::norm.moment_sums(x.view, sums.view(), spec);
    reference::norm.stats(sums.view(), stats.view(), spec);
    reference::norm.grad_sums(x.view, stats.view(), gamma.view, beta.view, d_y.view, grad_sums.view(), spec);
  }
};

TEST(Norm, SumsAndStatisticsByHand) {
  Tensor x(DType::kF32, {1, 1, 1, 2, 2}), sums(DType::kF64, {1, 2, 2}), stats(DType::kF32, {1, 2, 2});
  const float values[] = {1, 5, 3, 5};
  std::copy(values, values + 4, x.as<float>());
  const NormSpec spec{.count = 2, .epsilon = 0.25};
  for (bool fast : {false, true}) {
    (fast ? fast::norm.moment_sums : reference::norm.moment_sums)(x.view(), sums.view(), spec);
    EXPECT_EQ(std::vector<double>(sums.as<double>(), sums.as<double>() + 4), (std::vector<double>{4, 10, 10, 50}));
    (fast ? fast::norm.stats : reference::norm.stats)(sums.view(), stats.view(), spec);
    EXPECT_FLOAT_EQ(stats.as<float>()[0], 2);
    EXPECT_FLOAT_EQ(stats.as<float>()[1], static_cast<float>(1 / std::sqrt(1.25)));
    EXPECT_FLOAT_EQ(stats.as<float>()[3], 2);
  }
}

TEST(Norm, GradientOfTheWholeChainMatchesCentralDifferences) {
  for (std::int64_t groups : {1, 2})
    for (double slope : {1.0, 0.1, 0.0}) {
      NormScene s(DType::kF64, {2, 2, 3, 4, 3}, groups, slope);
      Place y = place(DType::kF64, s.x.view.box), d_x = place(DType::kF64, s.x.view.box);
      s.reference_stats();
      reference::norm.input_grad(s.x.view, s.stats.view(), s.gamma.view, s.beta.view, s.d_y.view, s.grad_sums.view(),
                                 d_x.view, s.spec);
      auto value = [&] {
        reference::norm.moment_sums(s.x.view, s.sums.view(), s.spec);
        reference::norm.stats(s.sums.view(), s.stats.view(), s.spec);
        reference::norm.apply(s.x.view, s.stats.view(), s.gamma.view, s.beta.view, y.view, s.spec);
        return dot(y.view, s.d_y.view);
      };
      EXPECT_LE(gradient_error(s.x.view, d_x.view, value), 1e-6) << groups << " groups, slope " << slope;
      // The sums are the gradients of beta and gamma.
      Tensor d_beta(DType::kF64, {3}), d_gamma(DType::kF64, {3});
      for (std::int64_t g = 0; g < groups; ++g)
        for (std::int64_t c = 0; c < 3; ++c) {
          d_beta.as<double>()[c] += s.grad_sums.as<double>()[(g * 3 + c) * 2];
          d_gamma.as<double>()[c] += s.grad_sums.as<double>()[(g * 3 + c) * 2 + 1];
        }
      EXPECT_LE(gradient_error(s.beta.view, d_beta.view(), value), 1e-6);
      EXPECT_LE(gradient_error(s.gamma.view, d_gamma.view(), value), 1e-6);
    }
}

// Elements are chains of at most nine roundings in f32, of which a random walk allows 24 x 2^-24 (product_allowance());
// 2e-6 is 34 of them. In bf16 the result is rounded to it: 2^-8 is that rounding. Sums are f64: 1e-12 is 9007 x 2^-53
// for at most 270 addends; the addends of grad sums are such chains in f32, and 1e-5 is 168 x 2^-24.
TEST(Norm, FastEqualsReference) {
  for (std::int64_t channels : {1, 2, 3, 7, 8, 9, 15, 16, 17, 33, 64, 65, 130})
    for (DType type : {DType::kF32, DType::kBF16})
      for (std::int64_t margin : {0, 1})
        for (std::int64_t groups : {1, 3}) {
          NormScene s(type, {3, 2, 5, 9, channels}, groups, 0.01, margin);
          s.reference_stats();
          const std::string what = std::to_string(channels) + " channels " + dtype_name(type);
          Tensor sums(DType::kF64, s.sums.shape());
          fast::norm.moment_sums(s.x.view, sums.view(), s.spec);
          expect_close(s.sums.view(), sums.view(), 1e-12, "moments " + what);
          fast::norm.grad_sums(s.x.view, s.stats.view(), s.gamma.view, s.beta.view, s.d_y.view, sums.view(), s.spec);
          expect_close(s.grad_sums.view(), sums.view(), 1e-5, "grad sums " + what);
          Place fast = place(type, s.x.view.box, margin), slow = place(type, s.x.view.box);
          const double tolerance = type == DType::kBF16 ? 0x1p-8 : 2e-6;
          fast::norm.apply(s.x.view, s.stats.view(), s.gamma.view, s.beta.view, fast.view, s.spec);
          reference::norm.apply(s.x.view, s.stats.view(), s.gamma.view, s.beta.view, slow.view, s.spec);
          expect_close(slow.view, fast.view, tolerance, "apply " + what);
          fast::norm.input_grad(s.x.view, s.stats.view(), s.gamma.view, s.beta.view, s.d_y.view, s.grad_sums.view(),
                                fast.view, s.spec);
          reference::norm.input_grad(s.x.view, s.stats.view(), s.gamma.view, s.beta.view, s.d_y.view,
                                     s.grad_sums.view(), slow.view, s.spec);
          expect_close(slow.view, fast.view, tolerance, "input grad " + what);
        }
}

TEST(Norm, ABlockEqualsTheBlockOfTheWhole) {
  for (std::int64_t channels : {1, 3, 16, 33}) {
    NormScene s(DType::kF32, {1, 4, 5, 9, channels}, 1, 0.0);
    s.reference_stats();
    Place whole = place(DType::kF32, s.x.view.box), whole_grad = place(DType::kF32, s.x.view.box);
    fast::norm.apply(s.x.view, s.stats.view(), s.gamma.view, s.beta.view, whole.view, s.spec);
    fast::norm.input_grad(s.x.view, s.stats.view(), s.gamma.view, s.beta.view, s.d_y.view, s.grad_sums.view(),
                          whole_grad.view, s.spec);
    for (std::int64_t w = 0; w < 9; w += 4) {
      Box block = s.x.view.box;
      block.set(1, 1, 3);
      block.set(3, w, std::min<std::int64_t>(w + 4, 9));
      Place part = place(DType::kF32, block, w % 2);
      fast::norm.apply(s.x.view.sub(block), s.stats.view(), s.gamma.view, s.beta.view, part.view, s.spec);
      expect_same_bits(whole.view.sub(block), part.view, "apply");
      fast::norm.input_grad(s.x.view, s.stats.view(), s.gamma.view, s.beta.view, s.d_y.view, s.grad_sums.view(),
                            part.view, s.spec);
      expect_same_bits(whole_grad.view.sub(block), part.view, "input grad");
    }
  }
}

TEST(Norm, SumsOfBlocksAddUpToTheSumOfTheWhole) {
  NormScene s(DType::kF32, {2, 4, 5, 9, 3}, 2, 1.0);
  fill_integers(s.x.view, kNormSeed);
  Tensor whole(DType::kF64, s.sums.shape()), part(DType::kF64, s.sums.shape()), total(DType::kF64, s.sums.shape());
  fast::norm.moment_sums(s.x.view, whole.view(), s.spec);
  for (std::int64_t h = 0; h < 5; h += 2) {
    Box block = s.x.view.box;
    block.set(2, h, std::min<std::int64_t>(h + 2, 5));
    fast::norm.moment_sums(s.x.view.sub(block), part.view(), s.spec);
    for (std::int64_t i = 0; i < total.count(); ++i) total.as<double>()[i] += part.as<double>()[i];
  }
  expect_same_bits(whole.view(), total.view(), "sums");
}

}  // namespace
}  // namespace voxshard
