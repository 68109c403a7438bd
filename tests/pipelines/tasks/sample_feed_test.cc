// Samples are cut for the cores on the host of core 0 or by each core: the bits are the same, the bytes read are not.
#include "pipelines/tasks/sample_feed.h"

#include <nlohmann/json.hpp>

#include "pipelines/tasks/table/task_table.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

struct Fed {
  TrainReport report;
  std::string bytes;
};

Fed trained(TrainingScene& scene, FeedMode mode, const std::function<void(TrainOptions&)>& change = {}) {
  TrainOptions o = scene.options(kFeedNames[static_cast<std::size_t>(mode)]);
  o.restart = true, o.feed = mode, o.steps = 3, o.batch = 4;
  o.spec.cut.mesh = {.replicas = 2, .partition = {1, 2, 3, 1, 1}};  // 16 over 3: 6, 6, 4
  if (change) change(o);
  Fed fed{.report = run_train(o, scene.progress)};
  fed.bytes = scene.last_bytes(o.run.filename().string());
  return fed;
}

TEST(SampleFeed, TheHostOfCore0GivesTheSameBitsAsEachCore) {
  TrainingScene scene("feed");
  for (const auto& change : std::vector<std::function<void(TrainOptions&)>>{
           {},
           [](TrainOptions& o) { o.spec.precision = DType::kBF16; },
           [](TrainOptions& o) {
             o.spec.cut.inputs = {{"labels", {.kind = InputPlacement::Kind::kReplicated}}};
           },
           [](TrainOptions& o) {
             o.spec.cut.inputs = {{"labels", {.kind = InputPlacement::Kind::kFirstCore}}};
           },
           [](TrainOptions& o) {
             o.spec.cut.mesh = {.replicas = 4, .partition = {1, 1, 1, 1, 1}};
           }}) {
    const Fed boxes = trained(scene, FeedMode::kBoxes, change), host = trained(scene, FeedMode::kPerHost, change);
    EXPECT_EQ(boxes.bytes, host.bytes);
    EXPECT_EQ(boxes.report.loss, host.report.loss);
    // bf16 or f32, i32
    const std::int64_t each = change && boxes.report.feed.bytes_read < 3 * 4 * 4096 * 8 ? 2 + 4 : 4 + 4;
    EXPECT_EQ(host.report.feed.bytes_read, 3 * 4 * 4096 * each) << "each sample once";
    EXPECT_LE(host.report.feed.bytes_read, boxes.report.feed.bytes_read) << "what is on every core is read by each";
  }
}

TEST(SampleFeed, ReportsWhatIsReadAndHeld) {
  TrainingScene scene("feed_report");
  const FeedReport boxes = trained(scene, FeedMode::kBoxes).report.feed,
                   host = trained(scene, FeedMode::kPerHost).report.feed;
  const std::int64_t sample = 16 * 16 * 16 * 4;             // of the image, as of the labels
  EXPECT_EQ(boxes.bytes_read, 3 * 4 * 2 * sample);          // steps, batch, image and labels
  EXPECT_EQ(boxes.largest_read_bytes, 2 * 8 * 6 * 16 * 4);  // of core 0: two samples, 8 x 6 x 16
  EXPECT_EQ(boxes.staged_peak_bytes, 0);
  EXPECT_EQ(host.largest_read_bytes, 2 * sample) << "a replica's samples whole";
  EXPECT_EQ(host.staged_peak_bytes, 4 * 2 * sample) << "of both replicas, image and labels";
  EXPECT_EQ(host.bytes_read, boxes.bytes_read);
  EXPECT_GT(host.input_s, 0);
  EXPECT_LE(host.input_s, host.step_s);
  EXPECT_THAT(scene.progress.lines,
              testing::Contains(testing::HasSubstr("fed by whole samples on the host of core 0")));
  EXPECT_EQ(to_json(host)["mode"], "per-host");
}

TEST(SampleFeed, AnInputThatDoesNotDivideOverTheReplicasIsRefused) {
  TrainingScene scene("feed_uneven");
  const TrainOptions o = scene.options("run");
  const auto task = task_of(task_table(), o.spec).training({.data = o.work, .seed = 0}, o.task, o.spec);
  for (const std::int64_t samples : {1, 3}) {
    SampleFeed feed(FeedMode::kPerHost, {.replicas = 2, .partition = {1, 1, 1, 1, 1}}, *task);
    feed.begin(0);
    const Tensor image(DType::kF32, {samples, 4, 4, 4, 1});
    const Node input{.role = Role::kInput, .name = "image", .type = {DType::kF32, image.shape()}};
    expect_error(ErrorKind::kInternal, "divide over the replicas", [&] { feed.fill(input, image.view()); });
  }
}

TEST(FeedReport, WarnsWhereInputIsSlowerThanMoreThanOneStepInTen) {
  FeedReport report;
  report.add_step(9, 10);
  EXPECT_FALSE(report.warning()) << "the first steps open files";
  for (int i = 0; i < 9; ++i) report.add_step(1, 10);
  EXPECT_EQ(report.waiting_steps, 1);
  EXPECT_FALSE(report.warning());
  report.add_step(6, 10);
  EXPECT_THAT(report.warning().value_or(""),
              testing::AllOf(testing::HasSubstr("input is slower than the step in 2 of 11 steps"),
                             testing::HasSubstr("22 % of the time")));
}

}  // namespace
}  // namespace voxshard
