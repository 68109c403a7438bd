// A rank reads of the prepared volumes exactly the bytes that lie in its cores' boxes.
#include "libcore/ops/op_table.h"
#include "libcore/train/initialise.h"
#include "libcore/train/trainer.h"
#include "pipelines/model_runs/model_spec.h"
#include "pipelines/tasks/segmentation/samples/sample_source.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

/// A rank that feeds its cores and runs nothing.
struct Place : Transport {
  explicit Place(const Ranks& at) : at(at) {}
  int rank() const override { return at.rank; }
  int ranks() const override { return at.ranks; }
  const Ranks at;
};

/// Counts the voxels of `box` (N, D, H, W, 1) that lie in the volumes, one by one: a crop may go beyond a volume, and a
/// mirrored one counts from its end.
std::int64_t voxels_inside(const Box& box, const std::vector<Sample>& batch, const Shape& volume) {
  std::int64_t inside = 0;
  for (std::int64_t i = 0; i < box.count(); ++i) {
    std::int64_t rest = i, at[5];
    for (int a = 4; a >= 0; --a) at[a] = box.begin[a] + rest % box.extent[a], rest /= box.extent[a];
    const Sample& s = batch[at[0]];
    bool is_inside = true;
    for (std::size_t a = 0; a < 3; ++a) {
      const std::int64_t in_crop = s.mirrored[a] ? s.size[static_cast<int>(a)] - 1 - at[a + 1] : at[a + 1];
      const std::int64_t in_volume = s.begin[a] + in_crop;
      is_inside = is_inside && in_volume >= 0 && in_volume < volume[static_cast<int>(a)];
    }
    inside += is_inside;
  }
  return inside;
}

/// Cases of D x H x W = 8 x 10 x 12, crops that go beyond them, over `partition`.
struct RankBoxes : testing::TestWithParam<std::tuple<std::int64_t, Dims>> {};

TEST_P(RankBoxes, AreAllThatIsReadOfThePreparedVolumes) {
  const auto& [replicas, partition] = GetParam();
  Scene scene("rank_boxes");
  scene.write_dataset(3);
  prepare_dataset({.dataset = scene.data(), .work = scene.work(), .spacing = "keep"}, scene.progress);
  const PreparedDataset dataset = read_prepared(scene.work());

  ModelSpec spec;
  spec.as<UNetConfig>() = {.base_filters = 2, .depth = 2};
  const Shape extents = {2, 12, 8, 12};
  const Graph graph = build_graph(spec, extents, Phase::kTrain, DType::kF32);
  const Cut cut{.mesh = {.replicas = replicas, .partition = partition}};
  const Shape volume = {8, 10, 12};
  WorkerPool pool(1);
  for (int ranks : {1, 2, 3, 4}) {
    std::int64_t all = 0, whole = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      const SampleSource source(dataset, {0, 1, 2}, {.crop = {12, 8, 12}, .flip = {true, true, true}});
      Place place({.rank = rank, .ranks = ranks});
      Session session(
          op_table(), [&](const Shape&, Phase) { return lower(graph, op_table(), cut, {.ranks = place.at}); }, pool,
          &place);
      session.parameters() = initialise(graph, 1);
      CoreSet& cores = session.cores(extents, Phase::kTrain);
      const Program& program = cores.executable().program;
      std::int64_t expected = 0;
      for (std::int64_t step = 0; step < 4; ++step) {
        const auto batch = source.batch(step, 2);
        feed_all(cores, [&](const Node& input, const TensorView& box) { source.fill(batch, input.input, box); });
        for (ValueId id = 0; id < program.graph.size(); ++id) {
          const Node& node = program.graph.node(id);
          if (node.role != Role::kInput) continue;
          const bool image = std::holds_alternative<input::Image>(node.input);
          const std::int64_t voxel_bytes = image ? sizeof(float) : sizeof(std::uint8_t);  // of the prepared files
          const std::vector<Box>& own = program.plan(id).own;
          const auto count = static_cast<std::int64_t>(own.size());
          whole += voxel_bytes * voxels_inside(Box::whole(node.type.shape), batch, volume);
          for (std::int64_t core = place.at.first(count); core < place.at.end(count); ++core)
            expected += voxel_bytes * voxels_inside(own[core], batch, volume);
        }
      }
      EXPECT_EQ(source.copied_bytes(), expected) << "rank " << rank << " of " << ranks;
      EXPECT_GT(expected, 0);
      all += expected;
    }
    EXPECT_EQ(all * ranks, whole) << "every voxel is read by one rank";
  }
}

INSTANTIATE_TEST_SUITE_P(Grids, RankBoxes,
                         testing::Values(std::tuple{1, Dims{1, 4, 1, 1, 1}}, std::tuple{1, Dims{1, 3, 2, 1, 1}},
                                         std::tuple{2, Dims{1, 1, 2, 2, 1}}));

}  // namespace
}  // namespace voxshard
