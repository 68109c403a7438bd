// Marginal losses, where some classes are not known in some samples: hand-sized numbers, gradients, fast = reference,
// and the two ends: all known, which is the plain loss to the bit, and none known, which is 0.
#include "tests/kernels/loss_scene.h"

namespace voxshard {
namespace {

using namespace test;

/// True for half of the classes, at random.
bool known_at_random(std::int64_t sample, std::int64_t label) {
  return rng_below({.seed = kLossSeed, .stream = 12}, static_cast<std::uint64_t>(sample * 100 + label), 2) == 1;
}

const SegmentationKernels* const kBothSets[] = {&reference::segmentation, &fast::segmentation};

TEST(MarginalLoss, TwoVoxelsByHand) {
  // p = {.2, .3, .5} and {.6, .3, .1}, labels 2 and 1, class 2 not known: q = {.7, .3, 0} and {.7, .3, 0}, labels 0, 1.
  const double p[] = {0.2, 0.3, 0.5, 0.6, 0.3, 0.1};
  for (const SegmentationKernels* kernels : kBothSets) {
    LossScene s(LossKind::kDiceCE, DType::kF32, {1, 1, 1, 2, 3}, 1);
    for (int i = 0; i < 6; ++i) s.logits.memory.as<float>()[i] = static_cast<float>(std::log(p[i]));
    s.labels.memory.as<std::int32_t>()[0] = 2, s.labels.memory.as<std::int32_t>()[1] = 1;
    s.know([](std::int64_t, std::int64_t label) { return label < 2; });
    kernels->sums(s.logits.view, s.labels.view, s.sums.view(), s.spec);
    const double expected[] = {0.7, 0.3, 0, 1.4, 0.6, 0, 1, 1, 0, -std::log(0.7 * 0.3), 2, 2, 2, 0};
    for (int i = 0; i < 14; ++i) EXPECT_NEAR(s.sums.as<double>()[i], expected[i], 1e-6) << i;
    kernels->loss(s.sums.view(), s.loss.view(), s.spec);  // Dice of class 1 alone
    EXPECT_NEAR(s.loss.as<double>()[0], -std::log(0.21) / 2 + 1 - (2 * 0.3 + 1) / (0.6 + 1 + 1), 1e-6);
  }
}

TEST(MarginalLoss, GradientsOfAllKindsMatchCentralDifferences) {
  for (LossKind kind : kLosses)
    for (std::int64_t groups : {1, 2}) {
      LossScene s(kind, DType::kF64, {2, 2, 3, 4, 4}, groups);
      s.know([](std::int64_t sample, std::int64_t label) { return (label + sample) % 2 == 1; });
      s.reference_loss();
      const Place grad = s.gradient(reference::segmentation, DType::kF64);
      EXPECT_LE(gradient_error(s.logits.view, grad.view, [&] { return s.reference_loss(); }), 1e-6)
          << "kind " << static_cast<int>(kind) << ", " << groups << " groups";
    }
}

TEST(MarginalLoss, FastEqualsReference) {
  for (LossKind kind : kLosses)
    for (std::int64_t classes : {2, 3, 8, 21})
      for (std::int64_t width : {1, 63, 64, 65})
        for (DType type : {DType::kF32, DType::kBF16})
          for (std::int64_t groups : {1, 3}) {
            LossScene s(kind, type, {3, 2, 2, width, classes}, groups, 1);
            s.know(known_at_random);
            s.expect_fast_equals_reference(std::string(kLossNames[static_cast<std::size_t>(kind)]) + ", " +
                                           std::to_string(classes) + " classes, width " + std::to_string(width));
            if (HasFailure()) return;
          }
}

TEST(MarginalLoss, WithAllClassesKnownIsThePlainOneToTheBit) {
  for (LossKind kind : kLosses)
    for (const SegmentationKernels* kernels : kBothSets)
      for (std::int64_t groups : {1, 2}) {
        LossScene plain(kind, DType::kF32, {2, 3, 2, 70, 5}, groups),
            known(kind, DType::kF32, {2, 3, 2, 70, 5}, groups);
        known.know([](std::int64_t, std::int64_t label) { return label > 0; });  // the background is so always
        for (LossScene* s : {&plain, &known}) {
          kernels->sums(s->logits.view, s->labels.view, s->sums.view(), s->spec);
          kernels->loss(s->sums.view(), s->loss.view(), s->spec);
        }
        for (std::int64_t i = 0; i < plain.sums.count(); ++i)
          ASSERT_EQ(plain.sums.as<double>()[i], known.sums.as<double>()[i / 17 * 22 + i % 17]) << i;
        ASSERT_EQ(plain.loss.as<double>()[0], known.loss.as<double>()[0]);
        expect_same_bits(plain.gradient(*kernels, DType::kF32).view, known.gradient(*kernels, DType::kF32).view,
                         kLossNames[static_cast<std::size_t>(kind)]);
      }
}

TEST(MarginalLoss, WithNoClassKnownIsZeroAndSoIsItsGradient) {
  for (LossKind kind : kLosses)
    for (const SegmentationKernels* kernels : kBothSets) {
      LossScene s(kind, DType::kF32, {2, 1, 2, 70, 4}, 1);
      const Place zero = place(DType::kF32, s.logits.view.box);
      for (std::int64_t i = 0; i < s.logits.memory.count(); ++i) s.logits.memory.as<float>()[i] *= 100;
      s.know([](std::int64_t, std::int64_t) { return false; });
      kernels->sums(s.logits.view, s.labels.view, s.sums.view(), s.spec);
      kernels->loss(s.sums.view(), s.loss.view(), s.spec);
      EXPECT_EQ(s.loss.as<double>()[0], 0);
      expect_same_bits(zero.view, s.gradient(*kernels, DType::kF32).view, "gradient");
      // Beside a sample with known classes one without has no gradient either, but for the rounding of 1.
      s.know([](std::int64_t sample, std::int64_t) { return sample == 0; });
      kernels->sums(s.logits.view, s.labels.view, s.sums.view(), s.spec);
      const Place grad = s.gradient(*kernels, DType::kF32);
      double largest[2] = {0, 0};
      for_each_row(grad.view.box, [&](const Dims& at) {
        for (std::int64_t c = 0; c < 4; ++c)
          largest[at[0]] = std::max(largest[at[0]],
                                    std::abs(static_cast<double>(grad.view.as<float>()[offset_at(grad.view, at) + c])));
      });
      EXPECT_GT(largest[0], 0);
      EXPECT_LE(largest[1], 1e-6 * largest[0]) << kLossNames[static_cast<std::size_t>(kind)];
    }
}

TEST(MarginalLoss, LogitsFarApartStayFiniteAndKeepTheirShares) {
  LossScene s(LossKind::kDiceCE, DType::kF32, {1, 1, 2, 70, 5}, 1);
  for (std::int64_t i = 0; i < s.logits.memory.count(); ++i) s.logits.memory.as<float>()[i] *= 1000;
  s.know([](std::int64_t, std::int64_t label) { return label == 3; });
  s.expect_fast_equals_reference("of large logits");
  EXPECT_TRUE(std::isfinite(s.reference_loss()));
}

TEST(MarginalLoss, NotANumberStaysOne) {
  for (const SegmentationKernels* kernels : kBothSets)
    for (const int label : {0, 1, 2}) {
      LossScene s(LossKind::kDiceCE, DType::kF32, {1, 1, 1, 4, 3}, 1);
      fill(s.labels.view, [](const Dims&) { return 1.0; });
      s.logits.memory.as<float>()[label] = std::numeric_limits<float>::quiet_NaN();
      s.know([](std::int64_t, std::int64_t at) { return at == 1; });
      kernels->sums(s.logits.view, s.labels.view, s.sums.view(), s.spec);
      kernels->loss(s.sums.view(), s.loss.view(), s.spec);
      EXPECT_TRUE(std::isnan(s.loss.as<double>()[0])) << label;
    }
}

}  // namespace
}  // namespace voxshard
