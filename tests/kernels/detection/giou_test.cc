// GIoU on box codes: hand-sized numbers, corners as an outside opinion, gradients by central differences, both kernel
// sets, and codes that no training should meet.
#include "libcore/kernels/giou.h"

#include "libcore/kernels/detection_loss.h"
#include "tests/kernels/support.h"

namespace voxshard {
namespace {

using namespace test;

const std::uint64_t kGiouSeed = printed_seed("kernels/giou", 17);

using Code = std::array<double, 4>;

Code random_code(std::uint64_t index, double deviation = 1) {
  Code code;
  for (std::size_t k = 0; k < 4; ++k) code[k] = deviation * rng_normal({.seed = kGiouSeed, .stream = 1}, 4 * index + k);
  return code;
}

/// The loss by the corners of both boxes, in pixels, of an anchor of some place and size.
double by_corners(const Code& code, const Code& truth) {
  const double height = 37, width = 12;
  struct Corners {
    double y0, x0, y1, x1;
    double area() const { return std::max(y1 - y0, 0.0) * std::max(x1 - x0, 0.0); }
  };
  const auto box = [&](const Code& c) {
    const double y = 100 + c[0] * height, x = 50 + c[1] * width, h = height * std::exp(c[2]),
                 w = width * std::exp(c[3]);
    return Corners{y - h / 2, x - w / 2, y + h / 2, x + w / 2};
  };
  const Corners a = box(code), b = box(truth);
  const double
      shared = Corners{std::max(a.y0, b.y0), std::max(a.x0, b.x0), std::min(a.y1, b.y1), std::min(a.x1, b.x1)}.area(),
      hull = Corners{std::min(a.y0, b.y0), std::min(a.x0, b.x0), std::max(a.y1, b.y1), std::max(a.x1, b.x1)}.area(),
      joint = a.area() + b.area() - shared;
  return 1 - (shared / joint - (hull - joint) / hull);
}

TEST(Giou, ByHand) {
  EXPECT_EQ(giou_terms({0.5, -1, 0.25, 0}, {0.5, -1, 0.25, 0}).loss, 0);
  EXPECT_DOUBLE_EQ(giou_terms({0, 0.5, 0, 0}, {0, 0, 0, 0}).loss, 2.0 / 3);
  EXPECT_DOUBLE_EQ(giou_terms({0, 2, 0, 0}, {0, 0, 0, 0}).loss, 1 + 1.0 / 3) << "one side between them";
  EXPECT_NEAR(giou_terms({0, 0, std::log(2.0), 0}, {0, 0, 0, 0}).loss, 0.5, 1e-15);
}

TEST(Giou, IsThatOfTheCornersInPixels) {
  int apart = 0;
  for (std::uint64_t i = 0; i < 200; ++i) {
    const Code code = random_code(2 * i), truth = random_code(2 * i + 1);
    const double loss = giou_terms(code, truth).loss;
    EXPECT_NEAR(loss, by_corners(code, truth), 1e-12) << i;
    apart += loss > 1 ? 1 : 0;
  }
  EXPECT_GT(apart, 10) << "also boxes that do not touch";
  EXPECT_LT(apart, 190);
}

TEST(Giou, DerivativesMatchCentralDifferences) {
  constexpr double kStep = 1e-6;
  for (std::uint64_t i = 0; i < 200; ++i) {
    const Code code = random_code(2 * i), truth = random_code(2 * i + 1);
    const GiouTerms terms = giou_terms(code, truth);
    for (std::size_t k = 0; k < 4; ++k) {
      Code up = code, down = code;
      up[k] += kStep, down[k] -= kStep;
      const double slope = (giou_terms(up, truth).loss - giou_terms(down, truth).loss) / (2 * kStep);
      EXPECT_NEAR(terms.d_code[k], slope, 1e-7) << i << " " << k;
    }
  }
}

TEST(Giou, BoxesThatDoNotTouchArePulledTogether) {
  const GiouTerms terms = giou_terms({0, 3, 0, 0}, {0, 0, 0, 0});
  EXPECT_GT(terms.loss, 1);
  EXPECT_GT(terms.d_code[1], 0) << "a step against the gradient moves it left";
}

TEST(Giou, FarCodesStayFinite) {
  for (const double far : {-1e30, -1000.0, -50.0, 50.0, 1000.0, 1e30})
    for (std::size_t k = 0; k < 4; ++k) {
      Code code{};
      code[k] = far;
      const GiouTerms terms = giou_terms(code, {});
      EXPECT_TRUE(terms.loss >= 0 && terms.loss <= 2) << far << " " << k << ": " << terms.loss;
      for (const double d : terms.d_code) EXPECT_TRUE(std::isfinite(d)) << far << " " << k;
    }
}

TEST(Giou, ANumberThatIsNoNumberShows) {
  for (std::size_t k = 0; k < 4; ++k) {
    Code code{};
    code[k] = std::nan("");
    EXPECT_TRUE(std::isnan(giou_terms(code, {0.1, 0.1, 0.1, 0.1}).loss)) << k;
  }
}

/// Boxes of random codes, of which every third anchor has an object.
struct GiouScene {
  Place logits, class_targets, boxes, box_targets;
  DetectionLossSpec spec{.box_loss = BoxLossKind::kGiou, .box_weight = 2};
  Tensor sums, loss{DType::kF64, {1}};

  GiouScene(DType type, std::int64_t anchors, std::int64_t groups, std::int64_t margin = 0)
      : sums(DType::kF64, {groups, 3}) {
    spec.groups = groups, spec.batch = 2;
    const auto with = [](std::int64_t channels) { return Box::whole({2, 1, 3, 4, channels}); };
    logits = random(type, with(anchors), kGiouSeed, margin);
    class_targets = place(DType::kI32, with(anchors), margin);
    boxes = random(type, with(4 * anchors), kGiouSeed + 1, margin);
    box_targets = place(type == DType::kF64 ? type : DType::kF32, with(4 * anchors), margin);
    fill(class_targets.view, [](const Dims& at) { return index_of(at) % 3 == 0 ? 0.0 : -1.0; });
    fill(box_targets.view, [anchors](const Dims& at) {
      Dims anchor = at;
      anchor[4] /= 4;
      if (index_of(anchor) % 3 != 0) return 0.0;
      return at[4] % 4 == 1 ? 0.0 : rng_normal({.seed = kGiouSeed, .stream = 7}, index_of(at));  // one of four may be 0
    });
  }

  double reference_loss() {
    reference::detection.sums(logits.view, class_targets.view, boxes.view, box_targets.view, sums.view(), spec);
    reference::detection.loss(sums.view(), loss.view(), spec);
    return loss.as<double>()[0];
  }
};

TEST(Giou, SumsAreOverAnchorsWithAnObjectAndTheLossHasItsWeight) {
  for (const bool fast : {false, true}) {
    Tensor logits(DType::kF32, {1, 1, 1, 1, 2}), classes(DType::kI32, {1, 1, 1, 1, 2});
    Tensor boxes(DType::kF32, {1, 1, 1, 1, 8}), targets(DType::kF32, {1, 1, 1, 1, 8});
    Tensor sums(DType::kF64, {1, 3}), loss(DType::kF64, {1}), d_boxes(DType::kF32, boxes.shape());
    classes.as<std::int32_t>()[1] = -1;
    targets.as<float>()[1] = 0.5F;  // half a side apart
    boxes.as<float>()[5] = 3;       // of an anchor without an object
    const DetectionLossSpec spec{.box_loss = BoxLossKind::kGiou, .box_weight = 2};
    const DetectionKernels& kernels = detection_kernels(fast ? KernelSet::kFast : KernelSet::kReference);
    kernels.sums(logits.view(), classes.view(), boxes.view(), targets.view(), sums.view(), spec);
    EXPECT_NEAR(sums.as<double>()[1], 2.0 / 3, 1e-7);
    kernels.loss(sums.view(), loss.view(), spec);
    EXPECT_NEAR(loss.as<double>()[0], (sums.as<double>()[0] + 2 * 2.0 / 3) / 2, 1e-7);
    kernels.giou_grad(boxes.view(), targets.view(), sums.view(), d_boxes.view(), spec);
    // I = 1 - d, U = C = 1 + d for the distance d = 1/2: the loss 2 - I / U - 1 has the slope 2 / (1 + d)^2 in d.
    EXPECT_NEAR(d_boxes.as<float>()[1], -2 / 2.25 * 2 / 2, 1e-6) << "weight 2, over one positive + 1";
    for (const int i : {4, 5, 6, 7}) EXPECT_EQ(d_boxes.as<float>()[i], 0) << i;
  }
}

TEST(Giou, GradientsOfTheLossMatchCentralDifferences) {
  for (const std::int64_t groups : {1, 2}) {
    GiouScene s(DType::kF64, 3, groups);
    Place d_boxes = place(DType::kF64, s.boxes.view.box);
    s.reference_loss();
    reference::detection.giou_grad(s.boxes.view, s.box_targets.view, s.sums.view(), d_boxes.view, s.spec);
    EXPECT_LE(gradient_error(s.boxes.view, d_boxes.view, [&] { return s.reference_loss(); }), 1e-6) << groups;
  }
}

TEST(Giou, FastEqualsReferenceAndDoesNotDependOnTheBlock) {
  for (const std::int64_t anchors : {1, 9, 16, 17})
    for (const DType type : {DType::kF32, DType::kBF16})
      for (const std::int64_t groups : {1, 2}) {
        GiouScene s(type, anchors, groups, 1);
        s.reference_loss();
        Tensor sums(DType::kF64, s.sums.shape());
        fast::detection.sums(s.logits.view, s.class_targets.view, s.boxes.view, s.box_targets.view, sums.view(),
                             s.spec);
        expect_close(s.sums.view(), sums.view(), 1e-6, "sums");
        Place slow = place(type, s.boxes.view.box), quick = place(type, s.boxes.view.box, 1);
        reference::detection.giou_grad(s.boxes.view, s.box_targets.view, s.sums.view(), slow.view, s.spec);
        fast::detection.giou_grad(s.boxes.view, s.box_targets.view, s.sums.view(), quick.view, s.spec);
        expect_close(slow.view, quick.view, type == DType::kBF16 ? 0x1p-8 : 1e-6, "gradient");
        Box part_box = s.boxes.view.box;
        part_box.set(3, 1, 3);
        Place part = place(type, part_box);
        fast::detection.giou_grad(s.boxes.view, s.box_targets.view, s.sums.view(), part.view, s.spec);
        expect_same_bits(quick.view.sub(part_box), part.view, "block of the gradient");
        if (HasFailure()) return;
      }
}

}  // namespace
}  // namespace voxshard
