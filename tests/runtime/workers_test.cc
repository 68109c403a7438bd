// Same bytes for any number of workers: ten training steps with one, two and three threads end in equal parameters,
// states and optimizer slots; and the order in which cores run inside a segment never shows.
#include "libcore/tensor/rounding.h"

#include "tests/runtime/unet_scene.h"

namespace voxshard {
namespace {

using namespace test;

struct Outcome {
  Parameters parameters;
  Parameters slots;
  std::vector<double> losses;
};

Outcome train(SceneOptions options, const OptimizerOptions& optimizer, int workers, int steps) {
  options.workers = workers;
  UNetScene scene(options);
  Trainer trainer = scene.trainer(optimizer, steps);
  Outcome outcome;
  for (int step = 0; step < steps; ++step) outcome.losses.push_back(trainer.step(scene.extents, scene.feed()).loss);
  outcome.parameters = scene.session.parameters();
  outcome.slots = trainer.optimizer().state();
  return outcome;
}

using Case = std::tuple<DType, OptimizerKind, std::string>;
class AnyWorkers : public testing::TestWithParam<Case> {};

TEST_P(AnyWorkers, GiveTheSameBytesAfterTenSteps) {
  const auto& [dtype, kind, partition] = GetParam();
  const SceneOptions options{.extents = {1, 9, 8, 16}, .partition = partition, .dtype = dtype};
  const OptimizerOptions optimizer{.kind = kind, .learning_rate = 1e-2, .weight_decay = 1e-4, .clip_norm = 1};
  const Outcome one = train(options, optimizer, 1, 10);
  EXPECT_LT(one.losses.back(), one.losses.front()) << "ten steps on one image should learn something";
  for (int workers : {2, 3}) {
    const Outcome other = train(options, optimizer, workers, 10);
    EXPECT_EQ(first_difference(one.parameters, other.parameters), "") << workers << " workers, seed " << options.seed;
    EXPECT_EQ(first_difference(one.slots, other.slots), "") << workers << " workers, seed " << options.seed;
    EXPECT_EQ(one.losses, other.losses) << workers << " workers, seed " << options.seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Training, AnyWorkers,
                         testing::Combine(testing::Values(DType::kF32, DType::kBF16),
                                          testing::Values(OptimizerKind::kSgd, OptimizerKind::kAdam),
                                          testing::Values("1x1x1x1x1", "1x2x1x2x1")));

/// Returns the logits of a prediction as a whole tensor.
Tensor predict(const SceneOptions& options) {
  UNetScene scene(options);
  CoreSet& cores = scene.session.cores(scene.extents, Phase::kPredict);
  feed_all(cores, scene.feed());
  cores.run();
  return cores.gather(cores.executable().program.graph.outputs.at("logits"));
}

// With fewer planes than cores the deep levels belong to one core alone, whose sums are written in place; it must not
// run ahead and overwrite statistics in the process pool that other cores of the segment still read.
TEST(Segment, ACoreThatIsAloneAtADeepLevelDoesNotRunAhead) {
  // Ten convolutions may add their products in another order on a part; the longest sums have 27 taps of 48 channels.
  const double tolerance = product_allowance(27 * 48, 10);
  for (const char* partition : {"1x2x1x1x1", "1x4x1x1x1", "1x3x1x1x1"}) {
    for (KernelSet set : {KernelSet::kReference, KernelSet::kFast}) {
      SceneOptions options{.extents = {1, 5, 8, 8},
                           .config = {.base_filters = 4, .norm = NormKind::kInstance, .deconvolution = false},
                           .kernels = set};
      const Tensor uncut = predict(options);
      options.partition = partition;
      for (int workers : {1, 2}) {
        options.workers = workers;
        const Tensor cut = predict(options);
        const Difference d = compare(uncut.view(), cut.view());
        EXPECT_LE(d.max_abs, tolerance * d.max_magnitude)
            << partition << " with " << workers << " workers, seed " << options.seed;
      }
    }
  }
}

// The same law where it can be provoked: x is cut over two cores; its one row of interest lives on core 0 alone.
TEST(Segment, AResultWrittenInPlaceWaitsForTheReadersOfItsMemory) {
  Graph graph;
  Builder b(graph, op_table());
  const ValueId x = b.input("x", {DType::kF32, {1, 4, 2, 2}});
  const NormAttrs norm{.count = 8};
  const ValueId sums = b.op("moment_sums", {x}, norm, "sums");
  const ValueId stats = b.op("norm_stats", {sums}, norm, "stats");
  const ValueId gamma = b.parameter("gamma", {DType::kF32, {2}}), beta = b.parameter("beta", {DType::kF32, {2}});
  const ValueId y = b.op("norm_apply", {x, stats, gamma, beta}, norm, "y");  // both cores; the last reader of stats
  const ValueId row = b.op("slice", {y}, SliceAttrs{.axis = 1, .shape = {1, 1, 2, 2}}, "row");  // core 0 alone
  const ValueId sum = b.op("moment_sums", {row}, norm, "row_sums");  // in place, may take stats' memory
  graph.outputs = {{"y", y}, {"sum", sum}, {"sums", sums}};  // sums is kept, so that only the memory of stats is free
  WorkerPool pool(1);
  InProcessTransport transport;
  Parameters parameters;
  for (const char* name : {"gamma", "beta"}) {
    Tensor& t = parameters[name] = Tensor(DType::kF32, {2});
    for (int i = 0; i < 2; ++i) t.as<float>()[i] = 1;
  }
  Tensor results[2];
  for (int i = 0; i < 2; ++i) {
    const Executable e =
        lower(graph, op_table(), {.mesh = {.partition = {1, i + 1, 1, 1}}}, {.kernels = KernelSet::kReference});
    ASSERT_EQ(e.memory.process.find(sum)->offset, e.memory.process.find(stats)->offset) << "the scene proves nothing";
    CoreSet cores(e, op_table(), parameters, pool, transport);
    cores.feed(x, [](const TensorView& box) {
      for (std::int64_t k = 0; k < box.count(); ++k) store(box, k, static_cast<double>(k + 4 * box.box.begin[1]));
    });
    cores.run();
    results[i] = cores.gather(y);
  }
  const Difference d = compare(results[0].view(), results[1].view());
  EXPECT_LE(d.max_abs, 1e-6 * d.max_magnitude) << "at " << to_string(d.at);
}

}  // namespace
}  // namespace voxshard
