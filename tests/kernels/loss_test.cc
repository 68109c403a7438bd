// Segmentation losses: hand-sized numbers, gradients of all kinds by central differences, fast = reference.
#include "libcore/kernels/loss.h"

#include "tests/kernels/loss_scene.h"

namespace voxshard {
namespace {

using namespace test;

const std::uint64_t kSeedOfLosses = printed_seed("kernels/loss", kLossSeed);

TEST(Loss, EqualLogitsByHand) {
  for (bool fast : {false, true}) {
    Tensor logits(DType::kF32, {1, 1, 1, 3, 2}), labels(DType::kI32, {1, 1, 1, 3, 1}), sums(DType::kF64, {1, 8}),
        loss(DType::kF64, {1});
    labels.as<std::int32_t>()[1] = 1;
    labels.as<std::int32_t>()[2] = -1;
    LossSpec spec{.kind = LossKind::kDiceCE, .classes = 2};
    (fast ? fast::segmentation.sums : reference::segmentation.sums)(logits.view(), labels.view(), sums.view(), spec);
    const double expected[] = {0.5, 0.5, 1, 1, 1, 1, 2 * std::log(2.0), 2};
    for (int i = 0; i < 8; ++i) EXPECT_NEAR(sums.as<double>()[i], expected[i], 1e-6) << i;
    (fast ? fast::segmentation.loss : reference::segmentation.loss)(sums.view(), loss.view(), spec);
    EXPECT_NEAR(loss.as<double>()[0], std::log(2.0) + 1 - 2.0 / 3, 1e-6);
    spec.kind = LossKind::kAdaptiveDice32;  // both dice are 1/2
    (fast ? fast::segmentation.loss : reference::segmentation.loss)(sums.view(), loss.view(), spec);
    EXPECT_NEAR(loss.as<double>()[0], 1 - std::exp(-0.5) * 0.5 / std::exp(-1.0), 1e-6);
    // I = 1/2 of 1 per class, of two voxels half is right
    const std::pair<LossKind, double> half[] = {
        {LossKind::kLogDiceCE, 2 * std::log(2.0)}, {LossKind::kDice, 0.5},
        {LossKind::kGeneralizedDice, 0.5},         {LossKind::kHamming, 0.5},
        {LossKind::kJaccard, 1 - 1.0 / 3},         {LossKind::kTversky, 2 - 2 * 0.5 / (0.5 + 0.3 * 0.5 + 0.7 * 0.5)}};
    for (const auto& [kind, expected_loss] : half) {
      spec.kind = kind;
      (fast ? fast::segmentation.loss : reference::segmentation.loss)(sums.view(), loss.view(), spec);
      EXPECT_NEAR(loss.as<double>()[0], expected_loss, 1e-6) << kLossNames[static_cast<std::size_t>(kind)];
    }
  }
}

TEST(Loss, GradientsOfAllKindsMatchCentralDifferences) {
  for (LossKind kind : kLosses)
    for (std::int64_t groups : {1, 2}) {
      LossScene s(kind, DType::kF64, {2, 2, 3, 4, 3}, groups);
      Place grad = place(DType::kF64, s.logits.view.box);
      s.reference_loss();
      reference::segmentation.grad(s.logits.view, s.labels.view, s.sums.view(), grad.view, s.spec);
      EXPECT_LE(gradient_error(s.logits.view, grad.view, [&] { return s.reference_loss(); }), 1e-6)
          << "kind " << static_cast<int>(kind) << ", " << groups << " groups";
    }
}

TEST(Loss, FastEqualsReference) {
  for (LossKind kind : kLosses)
    for (std::int64_t classes : {1, 2, 3, 4, 8, 21})
      for (std::int64_t width : {1, 63, 64, 65})
        for (DType type : {DType::kF32, DType::kBF16})
          for (std::int64_t groups : {1, 2}) {
            LossScene s(kind, type, {2, 2, 3, width, classes}, groups, 1);
            const std::string what = std::to_string(classes) + " classes, width " + std::to_string(width);
            s.expect_fast_equals_reference(what);
            if (HasFailure()) return;
          }
}

TEST(Loss, LargeLogitsStayFinite) {
  LossScene s(LossKind::kDiceCE, DType::kF32, {1, 1, 2, 70, 3}, 1);
  for (std::int64_t i = 0; i < s.logits.memory.count(); ++i) s.logits.memory.as<float>()[i] *= 1000;
  s.reference_loss();
  Tensor sums(DType::kF64, s.sums.shape());
  fast::segmentation.sums(s.logits.view, s.labels.view, sums.view(), s.spec);
  expect_close(s.sums.view(), sums.view(), 1e-6, "sums");
}

TEST(Loss, AGroupWithoutVoxelsHasNoGradient) {
  for (LossKind kind : kLosses) {
    LossScene s(kind, DType::kF32, {1, 1, 2, 7, 3}, 1);
    fill(s.labels.view, [](const Dims&) { return -1.0; });
    EXPECT_TRUE(std::isfinite(s.reference_loss()));
    Place grad = random(DType::kF32, s.logits.view.box, kLossSeed), zero = place(DType::kF32, s.logits.view.box);
    fast::segmentation.grad(s.logits.view, s.labels.view, s.sums.view(), grad.view, s.spec);
    expect_same_bits(zero.view, grad.view, "gradient");
  }
}

/// Returns the gradient by a logit of class 1 at the only voxel of 100 that has the class, where its probability p is
/// e^-10 as everywhere, as if it had been given up.
double pull_on_a_lost_class(LossKind kind) {
  LossScene s(kind, DType::kF64, {1, 1, 1, 100, 3}, 1);
  fill(s.logits.view, [](const Dims& at) { return at[4] == 0 ? 0.0 : -10.0; });
  fill(s.labels.view, [](const Dims& at) { return at[3] == 0 ? 1.0 : 0.0; });
  s.reference_loss();
  return load(s.gradient(reference::segmentation, DType::kF64).memory.view(), 1);
}

TEST(Loss, TheLogarithmOfDiceBringsBackAClassThatIsGivenUp) {
  const double p = std::exp(-10), entropy = pull_on_a_lost_class(LossKind::kCrossEntropy);
  EXPECT_NEAR(entropy, -0.01, 2 * p);
  EXPECT_LT(std::abs(pull_on_a_lost_class(LossKind::kDiceCE) - entropy), p) << "in proportion to p";
  // -log(2 p / (100 p + 1)) / 2 has -1/2 by log p of this voxel, but for terms of the size of p.
  EXPECT_NEAR(pull_on_a_lost_class(LossKind::kLogDiceCE) - entropy, -0.5, 0.01) << "whatever p is";
}

TEST(Loss, TheLogarithmOfDiceLeavesAClassWithoutAVoxelToCrossEntropy) {
  LossScene s(LossKind::kLogDiceCE, DType::kF64, {1, 2, 3, 4, 3}, 1);
  fill(s.labels.view, [](const Dims&) { return 0.0; });
  const double both = s.reference_loss();
  const Place gradient = s.gradient(reference::segmentation, DType::kF64);
  s.spec.kind = LossKind::kCrossEntropy;
  EXPECT_EQ(both, s.reference_loss());
  expect_same_bits(gradient.view, s.gradient(reference::segmentation, DType::kF64).view, "gradient");
}

}  // namespace
}  // namespace voxshard
