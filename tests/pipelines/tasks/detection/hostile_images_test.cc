// Images that are too large: each is left out alone.
#include "io/files/config_file.h"
#include "io/system/process_memory.h"
#include "pipelines/commands/run_predict.h"
#include "pipelines/tasks/detection/dataset/detection_dataset.h"
#include "pipelines/tasks/detection/predict_detections.h"
#include "tests/base/sanitizer.h"
#include "tests/pipelines/tasks/detection/detection_scene.h"
#include "tests/pipelines/tasks/detection/images_scene.h"

namespace voxshard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(DetectionDataset, AImageOfTooManyPixelsCostsItself) {
  DetectionScene scene("pixels");
  scene.add_image(1, 16, 16), scene.add_image(2, 40, 30);
  const auto path = scene.write("set.json");
  const DetectionDataset set = read_detection_dataset(path, DetectionUse::kTraining, 1000);
  EXPECT_THAT(ids_of(set), ElementsAre(1));
  EXPECT_THAT(codes_of(set.notes), ElementsAre("E_SIZE"));
  EXPECT_THAT(set.notes[0].message, HasSubstr("at most 1000 are read"));
  EXPECT_EQ(read_detection_dataset(path).images.size(), 2u);
}

DetectionPrediction& detection_of(PredictOptions& o) { return o.task.of<DetectionPrediction>(); }

struct OversizeScene : ImagesScene {
  explicit OversizeScene(const std::string& name) : ImagesScene(name) {
    TrainOptions o = options("run");
    o.steps = 1, detection_options(o).held_out.validate = false;
    run_train(o, progress);
    std::filesystem::create_directories(path("in/sub"));
    std::filesystem::copy_file(image(0), path("in") / "small.png");
    write_rgb(path("in") / "large.png", Tensor(DType::kU8, {600, 800, 3}));
  }
  PredictOptions predict() const {
    return {.run = path("run"), .input = path("in"), .output = path("out") / "found.json"};
  }
  void expect_large_refused(const PredictOptions& o, const std::string& code, const RunResources& resources = {}) {
    const PredictReport report = run_predict(o, {progress, resources});
    EXPECT_EQ(report.cases.size(), 1u);
    ASSERT_EQ(report.failures.size(), 1u);
    EXPECT_EQ(report.failures[0].id, "large.png");
    EXPECT_EQ(report.failures[0].code, code) << report.failures[0].message;
    EXPECT_THAT(bytes_of(path("out") / "found.quarantine.csv"), HasSubstr("large.png," + code));
  }
};

TEST(PredictDetections, AImageThatIsTooLargeCostsItself) {
  OversizeScene scene("detect_large");
  PredictOptions o = scene.predict();
  detection_of(o).most_pixels = 100000;
  scene.expect_large_refused(o, "E_SIZE");
  if (test::kShadowed) GTEST_SKIP() << "the sanitizer's shadow is part of the peak, and of no plan";
  const std::int64_t small = [&] {
    PredictOptions alone = scene.predict();
    alone.input = scene.path("in") / "small.png";
    const ProcessPlan plan = run_predict(alone, scene.progress).memory.plan;
    return plan.total() - plan[MemoryPart::kBase];
  }();
  std::filesystem::remove(scene.path("out/found.parts.jsonl"));  // else the small one is kept, and takes no memory
  scene.expect_large_refused(scene.predict(), "E_BUDGET", {.host_budget_bytes = resident_bytes() + small + (4 << 20)});
}

TEST(PredictDetections, NoDrawingReplacesAnother) {
  OversizeScene scene("detect_drawn");
  nlohmann::json json = read_json(scene.annotations());
  std::filesystem::create_directories(scene.data() / "images/a");
  std::filesystem::copy_file(scene.image(0), scene.data() / "images/a/p1.png");
  std::filesystem::copy_file(scene.image(0), scene.data() / "images/p1_103.png");
  json["images"][3]["file_name"] = "a/p1.png";    // id 103, of the name of id 101
  json["images"][4]["file_name"] = "p1_103.png";  // id 104, of the name that id 103 would be given
  std::ofstream(scene.annotations()) << json.dump();
  PredictOptions o = scene.predict();
  o.input = scene.annotations();
  const auto drawn = detection_of(o).draw = scene.path("drawn");
  EXPECT_EQ(run_predict(o, scene.progress).cases.size(), 7u);
  EXPECT_EQ(std::ranges::count_if(std::filesystem::directory_iterator(drawn),
                                  [](const auto& entry) { return entry.path().extension() == ".png"; }),
            7);
}

}  // namespace
}  // namespace voxshard
