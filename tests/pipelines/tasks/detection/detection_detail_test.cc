// What a validation of a detector stores for the page of its run, held against the scores that it is about and against
// scenes that are counted by hand; in a run the same bytes on every grid and over ranks.
#include "pipelines/tasks/detection/scores/detection_detail.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

#include "io/files/config_file.h"
#include "pipelines/report_page/validation_detail.h"
#include "tests/pipelines/rank_sessions.h"
#include "tests/pipelines/tasks/detection/images_scene.h"

namespace voxshard {
namespace {

using nlohmann::json;
using testing::ElementsAre;

constexpr CocoBox kHere = {10, 10, 40, 40}, kThere = {100, 20, 20, 20};

TrueBox object(std::int64_t image, std::int64_t category, const CocoBox& box) {
  return {.image = image, .category = category, .box = box, .area = box.area()};
}

double mean_of(const json& values) {
  return std::accumulate(values.begin(), values.end(), 0.0,
                         [](double sum, const json& value) { return sum + value.get<double>(); }) /
         static_cast<double>(values.size());
}

/// Three images of two classes, and a third class without objects: the first image is found but for a false detection
/// of little score, the second one is taken for the other class, the third is empty.
struct FoundScene {
  FoundScene() {
    for (const char* name : {"a.png", "b.png", "c.png"})
      dataset.images.push_back({.file = std::string("folder/") + name, .id = 1, .width = 200, .height = 100});
    truth = {object(0, 0, kHere), object(0, 1, kThere), object(1, 1, kHere)};
    found = {{.image = 0, .category = 0, .box = kHere, .score = 0.9},
             {.image = 0, .category = 1, .box = kThere, .score = 0.8},
             {.image = 0, .category = 1, .box = kHere, .score = 0.3},
             {.image = 1, .category = 0, .box = kHere, .score = 0.85},
             {.image = 2, .category = 0, .box = kThere, .score = 0.1}};
  }
  json detail(std::vector<DrawnImage> drawn = {}) const {
    const AveragePrecision scores = average_precision(truth, found, {.images = 3, .categories = 3});
    const std::vector<double> by_image = {1, 0, std::nan("")};
    return detection_detail({.dataset = dataset,
                             .classes = {"red", "blue", "green"},
                             .truth = truth,
                             .found = found,
                             .scores = scores,
                             .ap50_by_image = by_image,
                             .drawn = std::move(drawn)});
  }

  DetectionDataset dataset;
  std::vector<TrueBox> truth;
  std::vector<ScoredBox> found;
};

TEST(DetectionDetail, ACurvesMeanIsTheAveragePrecision) {
  const FoundScene scene;
  const json curves = scene.detail().at("curves");
  const AveragePrecision scores = average_precision(scene.truth, scene.found, {.images = 3, .categories = 3});
  ASSERT_EQ(curves.at("recall").size(), 101u);
  EXPECT_NEAR(mean_of(curves.at("all")), scores.summary()[1], 1e-12);
  for (std::size_t c = 0; c < 2; ++c)
    EXPECT_NEAR(mean_of(curves.at("by_class").at(c)), scores.summary_of(c)[1], 1e-12) << c;
  EXPECT_TRUE(curves.at("by_class").at(2).is_null()) << "a class without objects has no curve";
  EXPECT_NEAR(curves.at("by_class").at(1).at(50).get<double>(), 1, 1e-12) << "half of blue is found without a mistake";
  EXPECT_EQ(curves.at("by_class").at(1).at(51), 0) << "and no more";
}

TEST(DetectionDetail, SaysWhatIsFoundAndMistakenAtTheOperatingPoint) {
  const json detail = FoundScene().detail(), point = detail.at("operating_point");
  EXPECT_EQ(point.at("score"), 0.8);
  EXPECT_THAT(std::vector<int>({point.at("found"), point.at("wrong"), point.at("missed")}), ElementsAre(2, 1, 1));
  EXPECT_EQ(detail.at("confusion"), json({{1, 0, 0, 0}, {1, 1, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}}));
  EXPECT_EQ(detail.at("mistakes"), json::array({{{"true", 1}, {"found", 0}, {"items", 1}}}));
  EXPECT_EQ(
      detail.at("classes").at(1),
      json({{"class", "blue"}, {"items", 2}, {"found", 1}, {"recall", 0.5}, {"precision", 1.0}, {"f1", 2.0 / 3}}));
  EXPECT_TRUE(detail.at("classes").at(2).at("recall").is_null());
  EXPECT_EQ(detail.at("worst").at(0),
            json({{"item", "b.png"}, {"ap50", 0.0}, {"objects", 1}, {"found", 0}, {"wrong", 1}}));
  EXPECT_EQ(detail.at("best").at(0),
            json({{"item", "a.png"}, {"ap50", 1.0}, {"objects", 2}, {"found", 2}, {"wrong", 0}}));
  EXPECT_EQ(detail.at("worst").size(), 1u) << "an image without an object has no AP50";
  EXPECT_EQ(detail.at("best").size(), 1u) << "none is among the worst and the best";
}

TEST(DetectionDetail, DrawnImagesHaveTheBoxesOfTheOperatingPoint) {
  FoundScene scene;
  const json image = scene.detail({{.image = 0, .ap50 = 1, .jpeg = "AAAA"}}).at("images").at(0);
  EXPECT_EQ(image.at("item"), "a.png") << "without the folder";
  EXPECT_EQ(image.at("width"), 200);
  EXPECT_EQ(image.at("reference").size(), 2u);
  ASSERT_EQ(image.at("prediction").size(), 2u) << "the one of 0.3 is below";
  EXPECT_EQ(image.at("prediction").at(0), json({{"class", 0}, {"box", {10, 10, 40, 40}}, {"score", 0.9}}));
  scene.truth = {object(0, 2, kThere)};  // nothing is found
  const json none = scene.detail({{.image = 0, .ap50 = 0, .jpeg = "AAAA"}});
  EXPECT_TRUE(none.at("operating_point").is_null());
  EXPECT_EQ(none.at("images").at(0).at("prediction").size(), 3u) << "then the best ones of the image";
}

TEST(DetectionDetail, OfASetWithoutObjectsHasNoCurve) {
  FoundScene scene;
  scene.truth.clear();
  const json detail = scene.detail();
  EXPECT_TRUE(detail.at("curves").at("all").is_null());
  EXPECT_EQ(detail.at("worst").size(), 1u);
}

TEST(DrawnImages, AreScaledToASideOf512) {
  Tensor wide(DType::kF32, {300, 1024, 3}), flat(DType::kF32, {1, 5000, 3});
  std::fill_n(wide.as<float>(), wide.count(), 0.5F);
  std::fill_n(flat.as<float>(), flat.count(), 2.0F);
  EXPECT_EQ(small_copy(wide).shape(), (Shape{150, 512, 3}));
  EXPECT_EQ(small_copy(wide).as<std::uint8_t>()[7], 128);
  EXPECT_EQ(small_copy(flat).shape(), (Shape{1, 512, 3}));
  EXPECT_EQ(small_copy(flat).as<std::uint8_t>()[0], 255);
  EXPECT_THAT(jpeg_text(small_copy(wide)), testing::StartsWith("/9j/")) << "the first bytes of a JPEG";
}

TEST(DetectionDetail, OfARunIsThatOfItsValidationsOnEveryGridAndOverRanks) {
  ImagesScene scene("detail_run");
  TrainOptions o = scene.options("run");
  o.steps = 40, o.validate_every = 20, o.optimizer.learning_rate = 3e-3;
  run_train(o, scene.progress);
  const json last = read_json(o.run / kLastDetailFile), best = read_json(o.run / kBestDetailFile);
  EXPECT_EQ(last.at("step"), 40);
  EXPECT_FALSE(best.contains("images")) << "those of the last validation are enough";
  const auto report = read_json(o.run / "run.json").at("report");
  EXPECT_NEAR(mean_of(last.at("curves").at("all")), report.at("mean_ap50").get<double>(), 1e-12);
  EXPECT_NEAR(mean_of(best.at("curves").at("all")), report.at("best_ap50").get<double>(), 1e-12);
  for (std::size_t c = 0; c < 2; ++c)
    EXPECT_NEAR(mean_of(last.at("curves").at("by_class").at(c)), report.at("validation_ap50").at(c).get<double>(),
                1e-12);
  ASSERT_EQ(last.at("images").size(), 2u) << "of the two that validate";
  for (const json& image : last.at("images")) {
    EXPECT_THAT(image.at("jpeg").get<std::string>(), testing::StartsWith("/9j/"));
    EXPECT_EQ(image.at("reference").size(), 2u);
  }
  for (const auto& [name, ranks, partition] : std::vector<std::tuple<std::string, int, Dims>>{
           {"uncut", 1, {1, 1, 1, 1}}, {"cut", 1, {1, 2, 2, 1}}, {"over", 3, {1, 2, 2, 1}}}) {
    TrainOptions other = o;  // the trained weights on other grids
    other.run = scene.path(name), other.from = o.run, other.steps = 1, other.optimizer.learning_rate = 1e-30;
    other.spec.cut.mesh.partition = partition;
    test::Mailbox mailbox(ranks);
    test::run_valid_ranks(mailbox, [&](Transport& transport) {
      NoProgress quiet;
      TrainOptions one = other;
      one.resources.transport = &transport;
      run_train(one, quiet);
    });
  }
  const std::string uncut = Scene::bytes_of(scene.path("uncut") / kLastDetailFile);
  EXPECT_GT(uncut.size(), 1000u);
  EXPECT_TRUE(Scene::bytes_of(scene.path("cut") / kLastDetailFile) == uncut) << "on every grid";
  EXPECT_TRUE(Scene::bytes_of(scene.path("over") / kLastDetailFile) == uncut) << "over ranks";
  o.restart = true, o.slices = 0;
  run_train(o, scene.progress);
  EXPECT_TRUE(read_json(o.run / kLastDetailFile).at("images").empty()) << "none when it is so asked";
  EXPECT_EQ(read_json(o.run / kLastDetailFile).at("curves"), last.at("curves"));
}

}  // namespace
}  // namespace voxshard
