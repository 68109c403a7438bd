// Focal and Huber loss: hand-sized numbers, gradients by central differences, fast = reference.
#include "libcore/kernels/detection_loss.h"

#include "tests/kernels/support.h"

namespace voxshard {
namespace {

using namespace test;

const std::uint64_t kDetectionSeed = printed_seed("kernels/detection_loss", 41);

/// Returns a target from -2 (ignored) to `classes` (ignored too).
double random_target(const Dims& at, std::int64_t classes) {
  return static_cast<double>(rng_below({.seed = kDetectionSeed, .stream = 5}, index_of(at), classes + 3) - 2);
}

struct DetectionScene {
  Place logits, class_targets, boxes, box_targets;
  DetectionLossSpec spec;
  Tensor sums, loss;

  DetectionScene(DType type, Shape cells, std::int64_t anchors, std::int64_t classes, std::int64_t groups,
                 std::int64_t margin = 0)
      : spec{.classes = classes, .groups = groups, .batch = cells[0], .delta = 0.5},
        sums(DType::kF64, {groups, 3}),
        loss(DType::kF64, {1}) {
    auto with = [&](std::int64_t channels) {
      Shape shape = cells;
      shape.push_back(channels);
      return Box::whole(shape);
    };
    logits = random(type, with(anchors * classes), kDetectionSeed, margin);
    class_targets = place(DType::kI32, with(anchors), margin);
    boxes = random(type, with(4 * anchors), kDetectionSeed + 1, margin);
    box_targets = place(type == DType::kF64 ? type : DType::kF32, with(4 * anchors), margin);
    fill(class_targets.view, [=](const Dims& at) { return random_target(at, classes); });
    fill(box_targets.view, [](const Dims& at) {  // half of them do not count
      return index_of(at) % 2 == 0 ? 0.0 : rng_normal({.seed = kDetectionSeed, .stream = 7}, index_of(at));
    });
  }

  double reference_loss() {
    reference::detection.sums(logits.view, class_targets.view, boxes.view, box_targets.view, sums.view(), spec);
    reference::detection.loss(sums.view(), loss.view(), spec);
    return loss.as<double>()[0];
  }
};

/// One cell of three anchors and two classes, logits 0: class 1, none, ignored.
struct Hand {
  Tensor logits{DType::kF32, {1, 1, 1, 1, 6}}, class_targets{DType::kI32, {1, 1, 1, 1, 3}};
  Tensor boxes{DType::kF32, {1, 1, 1, 1, 12}}, box_targets{DType::kF32, {1, 1, 1, 1, 12}};
  Tensor sums{DType::kF64, {1, 3}}, loss{DType::kF64, {1}};
  DetectionLossSpec spec{.classes = 2};

  Hand() {
    const std::int32_t targets[] = {1, -1, -2};
    std::copy(targets, targets + 3, class_targets.as<std::int32_t>());
    const float wanted[] = {0.05F, -1, 0, 0.1F};
    std::copy(wanted, wanted + 4, box_targets.as<float>());
    boxes.as<float>()[2] = 7;  // its target is 0: does not count
  }
};

TEST(DetectionLoss, LogitsOfZeroByHand) {
  for (bool fast : {false, true}) {
    Hand h;
    (fast ? fast::detection.sums : reference::detection.sums)(h.logits.view(), h.class_targets.view(), h.boxes.view(),
                                                              h.box_targets.view(), h.sums.view(), h.spec);
    const double half = std::pow(0.5, 1.5) * std::log(2.0);  // (1 - p)^gamma * -log p at p = 1/2
    const double focal = half * (0.25 + 0.75 + 2 * 0.75), huber = 0.05 * 0.05 / 2 + (0.1 * 1 - 0.005) + 0.1 * 0.1 / 2;
    EXPECT_NEAR(h.sums.as<double>()[0], focal, 1e-6);
    EXPECT_NEAR(h.sums.as<double>()[1], huber, 1e-7);
    EXPECT_EQ(h.sums.as<double>()[2], 1);
    (fast ? fast::detection.loss : reference::detection.loss)(h.sums.view(), h.loss.view(), h.spec);
    EXPECT_NEAR(h.loss.as<double>()[0], (focal + 50 * huber / 4) / 2, 1e-5);
  }
}

TEST(DetectionLoss, GradientsByHand) {
  for (bool fast : {false, true}) {
    Hand h;
    reference::detection.sums(h.logits.view(), h.class_targets.view(), h.boxes.view(), h.box_targets.view(),
                              h.sums.view(), h.spec);
    Tensor d_logits(DType::kF32, h.logits.shape()), d_boxes(DType::kF32, h.boxes.shape());
    (fast ? fast::detection.focal_grad : reference::detection.focal_grad)(h.logits.view(), h.class_targets.view(),
                                                                          h.sums.view(), d_logits.view(), h.spec);
    (fast ? fast::detection.huber_grad : reference::detection.huber_grad)(h.boxes.view(), h.box_targets.view(),
                                                                          h.sums.view(), d_boxes.view(), h.spec);
    const double slope = std::pow(0.5, 1.5) * (1.5 * 0.5 * std::log(2.0) + 0.5) / 2;  // over positives + 1
    const double expected[] = {0.75 * slope, -0.25 * slope, 0.75 * slope, 0.75 * slope, 0, 0};
    for (int i = 0; i < 6; ++i) EXPECT_NEAR(d_logits.as<float>()[i], expected[i], 1e-6) << i;
    const double share = 50.0 / 4 / 2, boxes[] = {-0.05 * share, 0.1 * share, 0, -0.1 * share, 0};
    for (int i = 0; i < 5; ++i) EXPECT_NEAR(d_boxes.as<float>()[i], boxes[i], 1e-6) << i;
  }
}

TEST(DetectionLoss, GradientsMatchCentralDifferences) {
  for (std::int64_t groups : {1, 2})
    for (double gamma : {0.0, 1.5, 2.0}) {
      DetectionScene s(DType::kF64, {2, 1, 3, 4}, 3, 4, groups);
      s.spec.gamma = gamma;
      Place d_logits = place(DType::kF64, s.logits.view.box), d_boxes = place(DType::kF64, s.boxes.view.box);
      s.reference_loss();
      reference::detection.focal_grad(s.logits.view, s.class_targets.view, s.sums.view(), d_logits.view, s.spec);
      reference::detection.huber_grad(s.boxes.view, s.box_targets.view, s.sums.view(), d_boxes.view, s.spec);
      EXPECT_LE(gradient_error(s.logits.view, d_logits.view, [&] { return s.reference_loss(); }), 1e-6) << gamma;
      EXPECT_LE(gradient_error(s.boxes.view, d_boxes.view, [&] { return s.reference_loss(); }), 1e-6) << gamma;
    }
}

double largest_of(const TensorView& view) {
  double largest = 0;
  for_each_row(view.box, [&](const Dims& at) {
    for (std::int64_t c = 0; c < row_count(view.box); ++c)
      largest = std::max(largest, std::abs(load(view, offset_at(view, at) + c)));
  });
  return largest;
}

TEST(DetectionLoss, FastEqualsReference) {
  for (std::int64_t classes : {1, 2, 7, 63, 64, 65, 91})
    for (std::int64_t anchors : {1, 9})
      for (DType type : {DType::kF32, DType::kBF16})
        for (std::int64_t groups : {1, 2}) {
          DetectionScene s(type, {2, 1, 3, 5}, anchors, classes, groups, 1);
          const std::string what = std::to_string(anchors) + " anchors of " + std::to_string(classes) + " classes";
          s.reference_loss();
          Tensor sums(DType::kF64, s.sums.shape());
          fast::detection.sums(s.logits.view, s.class_targets.view, s.boxes.view, s.box_targets.view, sums.view(),
                               s.spec);
          expect_close(s.sums.view(), sums.view(), 1e-6, "sums " + what);
          const Box block = [&] {
            Box half = s.logits.view.box;
            half.set(3, 2, 5);
            return half;
          }();
          auto check = [&](auto* slow_fn, auto* fast_fn, const Place& x, const Place& target, const std::string& name) {
            Place slow = place(type, x.view.box), quick = place(type, x.view.box, 1);
            slow_fn(x.view, target.view, s.sums.view(), slow.view, s.spec);
            fast_fn(x.view, target.view, s.sums.view(), quick.view, s.spec);
            const double scale = largest_of(slow.view);
            ASSERT_GT(scale, 0) << what;
            expect_close(slow.view, quick.view, (type == DType::kBF16 ? 0x1p-8 : 1e-5) * scale, name + what);
            Box part_box = x.view.box;
            part_box.set(3, block.begin[3], block.end(3));
            Place part = place(type, part_box);
            fast_fn(x.view, target.view, s.sums.view(), part.view, s.spec);
            expect_same_bits(quick.view.sub(part_box), part.view, "block of " + name + what);
          };
          check(reference::detection.focal_grad, fast::detection.focal_grad, s.logits, s.class_targets,
                "focal gradient ");
          check(reference::detection.huber_grad, fast::detection.huber_grad, s.boxes, s.box_targets, "Huber gradient ");
          if (HasFailure()) return;
        }
}

TEST(DetectionLoss, LargeLogitsStayFinite) {
  for (bool fast : {false, true}) {
    DetectionScene s(DType::kF32, {1, 1, 4, 5}, 2, 3, 1);
    for (std::int64_t i = 0; i < s.logits.memory.count(); ++i) s.logits.memory.as<float>()[i] *= 1000;
    (fast ? fast::detection.sums : reference::detection.sums)(s.logits.view, s.class_targets.view, s.boxes.view,
                                                              s.box_targets.view, s.sums.view(), s.spec);
    EXPECT_TRUE(std::isfinite(s.sums.as<double>()[0])) << fast;
    EXPECT_GT(s.sums.as<double>()[0], 1000) << fast;
    Place grad = place(DType::kF32, s.logits.view.box);
    (fast ? fast::detection.focal_grad : reference::detection.focal_grad)(s.logits.view, s.class_targets.view,
                                                                          s.sums.view(), grad.view, s.spec);
    for (std::int64_t i = 0; i < grad.memory.count(); ++i)
      ASSERT_TRUE(std::isfinite(grad.memory.as<float>()[i])) << fast;
  }
}

TEST(DetectionLoss, ANumberThatIsNoNumberShowsInTheLoss) {
  for (bool fast : {false, true}) {
    Hand h;
    h.logits.as<float>()[3] = std::nanf("");
    h.boxes.as<float>()[0] = std::nanf("");
    (fast ? fast::detection.sums : reference::detection.sums)(h.logits.view(), h.class_targets.view(), h.boxes.view(),
                                                              h.box_targets.view(), h.sums.view(), h.spec);
    EXPECT_TRUE(std::isnan(h.sums.as<double>()[0]) && std::isnan(h.sums.as<double>()[1])) << fast;
  }
}

TEST(DetectionLoss, AnImageWithoutObjectsHasAFiniteLossAndNoBoxGradient) {
  DetectionScene s(DType::kF32, {1, 1, 2, 3}, 2, 3, 1);
  fill(s.class_targets.view, [](const Dims&) { return -1.0; });
  fill(s.box_targets.view, [](const Dims&) { return 0.0; });
  EXPECT_GT(s.reference_loss(), 0);
  EXPECT_TRUE(std::isfinite(s.loss.as<double>()[0]));
  Place grad = random(DType::kF32, s.boxes.view.box, kDetectionSeed), zero = place(DType::kF32, s.boxes.view.box);
  fast::detection.huber_grad(s.boxes.view, s.box_targets.view, s.sums.view(), grad.view, s.spec);
  expect_same_bits(zero.view, grad.view, "gradient");
}

}  // namespace
}  // namespace voxshard
