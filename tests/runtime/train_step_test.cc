// One training step: a NaN stops the run before anything is changed, running statistics do not depend on the cut,
// initial parameters are reproducible, parameters of another model are refused.
#include <atomic>
#include <cmath>
#include <limits>

#include "tests/expect_error.h"

#include "tests/runtime/unet_scene.h"

namespace voxshard {
namespace {

using namespace test;

TEST(Divergence, ANaNInTheInputNamesStepAndFirstLayerAndChangesNothing) {
  for (const char* partition : {"1x1x1x1x1", "1x2x1x2x1"}) {
    UNetScene scene({.partition = partition, .workers = 2});
    Trainer trainer = scene.trainer({.kind = OptimizerKind::kAdam}, 10);
    trainer.step(scene.extents, scene.feed());
    trainer.step(scene.extents, scene.feed());
    const Parameters before = scene.session.parameters(), slots = trainer.optimizer().state();
    scene.image.as<float>()[777] = std::numeric_limits<float>::quiet_NaN();
    try {
      trainer.step(scene.extents, scene.feed());
      FAIL() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kDiverged);
      const std::string text = error.what();
      EXPECT_NE(text.find("step 2:"), std::string::npos) << text;
      EXPECT_NE(text.find("first at layer encoder0/conv0;"), std::string::npos) << text;
    }
    EXPECT_EQ(first_difference(before, scene.session.parameters()), "") << partition;
    EXPECT_EQ(first_difference(slots, trainer.optimizer().state()), "") << partition;
    EXPECT_EQ(trainer.steps_done(), 2);
  }
}

TEST(Divergence, AnInfiniteWeightNamesItsLayer) {
  UNetScene scene({.partition = "1x2x1x1x1"});
  scene.session.parameters().at("encoder1/conv1/kernel").as<float>()[0] = std::numeric_limits<float>::infinity();
  Trainer trainer = scene.trainer({}, 10);
  expect_error(ErrorKind::kDiverged, "first at layer encoder1/conv1;",
               [&] { trainer.step(scene.extents, scene.feed()); });
}

TEST(Stop, AStepThatIsDroppedChangesNothingAndTheNextOneIsTheSame) {
  for (const char* partition : {"1x1x1x1x1", "1x2x1x2x1"}) {
    const SceneOptions options{.partition = partition, .workers = 2};
    UNetScene whole(options), broken(options);
    Trainer undisturbed = whole.trainer({.kind = OptimizerKind::kAdam}, 10);
    Trainer trainer = broken.trainer({.kind = OptimizerKind::kAdam}, 10);
    undisturbed.step(whole.extents, whole.feed());
    trainer.step(broken.extents, broken.feed());
    undisturbed.step(whole.extents, whole.feed());
    for (const int questions : {0, 1, 10, 100}) {  // queries before the answer is yes
      std::atomic<int> left{questions};
      broken.session.release();
      broken.session.set_stop([&] { return left-- <= 0; });
      EXPECT_THROW(trainer.step(broken.extents, broken.feed()), Stopped);
      EXPECT_EQ(trainer.steps_done(), 1);
    }
    broken.session.release();
    broken.session.set_stop({});
    trainer.step(broken.extents, broken.feed());
    EXPECT_EQ(first_difference(whole.session.parameters(), broken.session.parameters()), "") << partition;
    EXPECT_EQ(first_difference(undisturbed.optimizer().state(), trainer.optimizer().state()), "") << partition;
  }
}

Parameters after_steps(SceneOptions options, int steps) {
  UNetScene scene(options);
  Trainer trainer = scene.trainer({.kind = OptimizerKind::kSgd, .learning_rate = 0}, steps);
  for (int step = 0; step < steps; ++step) trainer.step(scene.extents, scene.feed());
  return scene.session.parameters();
}

TEST(RunningStatistics, AreTheSameForCutAndUncut) {
  SceneOptions options{.extents = {2, 9, 8, 11}};
  const Parameters uncut = after_steps(options, 3);
  const Graph graph = scene_graph(options, options.extents, true);
  for (const char* partition : {"2x1x1x1x1", "1x2x2x1x1", "1x3x1x2x1"}) {
    options.partition = partition;
    const Parameters cut = after_steps(options, 3);
    std::size_t compared = 0;
    for (const Node& node : graph.nodes()) {
      if (node.role != Role::kState) continue;
      ++compared;
      const Difference d = compare(uncut.at(node.name).view(), cut.at(node.name).view());
      // 17 x 2^-24. Three steps take 0.03 of the batch's moments, whose own roundings may thus be 560 x 2^-24; sums of
      // 27 x 48 products may have 288 (product_allowance()), and a mean over voxels has less.
      EXPECT_LE(d.max_abs, 1e-6 * (1 + d.max_magnitude))
          << node.name << " over " << partition << ", seed " << options.seed;
    }
    EXPECT_EQ(compared, 10U);  // depth 3: 6 encoder and 4 decoder convolutions
  }
}

TEST(RunningStatistics, MoveByTheMomentumFromTheirInitialValues) {
  const SceneOptions options{};
  UNetScene scene(options);
  Trainer trainer = scene.trainer({.kind = OptimizerKind::kSgd, .learning_rate = 0}, 1);
  trainer.step(scene.extents, scene.feed());
  // moments start at {0, 1}; one step leaves 0.99 of them and 0.01 of the batch's.
  const Tensor& moments = scene.session.parameters().at("encoder0/conv0/norm/moments");
  CoreSet& cores = scene.session.cores(scene.extents, Phase::kTrain);
  const Graph& graph = cores.executable().program.graph;
  const TensorView next = cores.replicated(graph.find("encoder0/conv0/norm/next_moments"));
  for (std::int64_t c = 0; c < moments.count() / 2; ++c) {
    EXPECT_EQ(load(moments.view(), 2 * c), load(next, 2 * c));
    EXPECT_GT(load(moments.view(), 2 * c + 1), 0.99 * 1 - 1e-6) << "a variance is never negative";
    EXPECT_LT(std::abs(load(moments.view(), 2 * c)), 0.1);
  }
}

TEST(RunningStatistics, PredictionUsesThemAndDoesNotChangeThem) {
  UNetScene scene({.partition = "1x2x1x1x1"});
  Trainer trainer = scene.trainer({}, 1);
  trainer.step(scene.extents, scene.feed());
  const Parameters before = scene.session.parameters();
  auto logits = [&] {
    CoreSet& cores = scene.session.cores(scene.extents, Phase::kPredict);
    cores.feed(cores.executable().program.graph.find("image"),
               [&](const TensorView& box) { copy(scene.image.view(), box); });
    cores.run();
    return cores.gather(cores.executable().program.graph.outputs.at("logits"));
  };
  const Tensor first = logits();
  EXPECT_EQ(first_difference(before, scene.session.parameters()), "");
  scene.session.parameters().at("encoder0/conv0/norm/moments").as<float>()[0] += 1;
  EXPECT_FALSE(compare(first.view(), logits().view()).bit_equal);
}

TEST(Initialise, IsReproducibleAndDependsOnTheSeed) {
  const Graph graph = scene_graph({}, {1, 8, 8, 16}, true);
  EXPECT_EQ(first_difference(initialise(graph, 5), initialise(graph, 5)), "");
  EXPECT_NE(first_difference(initialise(graph, 5), initialise(graph, 6)), "");
}

TEST(Initialise, DoesNotDependOnTheInputSize) {
  EXPECT_EQ(first_difference(initialise(scene_graph({}, {1, 8, 8, 16}, true), 5),
                             initialise(scene_graph({}, {2, 9, 7, 5}, true), 5)),
            "");
}

TEST(Initialise, KernelsAreGlorotUniformTheRestIsConstant) {
  const Graph graph = scene_graph({}, {1, 8, 8, 16}, true);
  const Parameters parameters = initialise(graph, 5);
  const Tensor& kernel = parameters.at("encoder1/conv1/kernel");  // 3 x 3 x 3 x 8 x 16
  ASSERT_EQ(kernel.shape(), (Shape{3, 3, 3, 8, 16}));
  const double limit = std::sqrt(6.0 / (27 * 24));
  double largest = 0, square = 0;
  for (std::int64_t i = 0; i < kernel.count(); ++i) {
    largest = std::max(largest, std::abs(load(kernel.view(), i)));
    square += load(kernel.view(), i) * load(kernel.view(), i) / static_cast<double>(kernel.count());
  }
  EXPECT_LE(largest, limit);
  EXPECT_GT(largest, 0.99 * limit);
  EXPECT_NEAR(square, limit * limit / 3, 0.05 * limit * limit / 3);
  EXPECT_EQ(parameters.at("encoder1/conv1/norm/gamma").as<float>()[3], 1.0F);
  EXPECT_EQ(parameters.at("encoder1/conv1/norm/beta").as<float>()[3], 0.0F);
  EXPECT_EQ(parameters.at("encoder1/conv1/bias").as<float>()[3], 0.0F);
  EXPECT_EQ(parameters.at("encoder1/conv1/norm/moments").as<float>()[6], 0.0F);
  EXPECT_EQ(parameters.at("encoder1/conv1/norm/moments").as<float>()[7], 1.0F);
}

std::string checkpoint_refusal(const Graph& graph, const Parameters& parameters) {
  try {
    require_parameters_of(graph, parameters);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kCheckpoint);
    return error.what();
  }
  return "accepted";
}

TEST(RequireParametersOf, AcceptsItsOwnAndNamesWhatIsMissingExtraOrDifferent) {
  const Graph graph = scene_graph({}, {1, 8, 8, 16}, true);
  const Parameters own = initialise(graph, 5);
  EXPECT_EQ(checkpoint_refusal(graph, own), "accepted");
  Parameters other = own;
  other.erase("head/bias");
  EXPECT_NE(checkpoint_refusal(graph, other).find("head/bias is missing"), std::string::npos);
  other = own;
  other["head/scale"] = Tensor(DType::kF32, {3});
  EXPECT_NE(checkpoint_refusal(graph, other).find("head/scale"), std::string::npos) << checkpoint_refusal(graph, other);
  other = own;
  other["head/bias"] = Tensor(DType::kF32, {4});
  EXPECT_NE(checkpoint_refusal(graph, other).find("head/bias is f32[4], the model expects f32[3]"), std::string::npos);
  other["head/bias"] = Tensor(DType::kBF16, {3});
  EXPECT_NE(checkpoint_refusal(graph, other).find("head/bias is bf16[3]"), std::string::npos);
}

TEST(CoreSet, AMissingParameterIsInternal) {
  UNetScene scene({});
  scene.session.parameters().erase("head/bias");
  try {
    scene.session.cores(scene.extents, Phase::kTrain);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInternal);
  }
}

}  // namespace
}  // namespace voxshard
