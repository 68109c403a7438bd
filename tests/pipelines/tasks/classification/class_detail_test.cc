// What a validation of a classifier stores for the page of its run: counted by hand, and in a run that of its scores.
#include "pipelines/tasks/classification/scores/class_detail.h"

#include <gmock/gmock.h>

#include "io/files/config_file.h"
#include "pipelines/report_page/validation_detail.h"
#include "pipelines/tasks/confusion_json.h"
#include "tests/pipelines/rank_sessions.h"
#include "tests/pipelines/tasks/classification/class_scene.h"

namespace voxshard {
namespace {

using nlohmann::json;

TEST(ClassDetail, CountsMistakesAndNamesTheItemsFurthestFromTheirClass) {
  const Classified found{
      .classes = 2, .probabilities = {0.9, 0.1, 0.4, 0.6, 0.2, 0.8, 0.7, 0.3}, .truth = {0, 0, 1, 1}};
  const json detail = class_detail(found, {"red", "white"}, {"a", "b", "c", "d"});
  EXPECT_EQ(detail.at("items"), 4);
  EXPECT_EQ(detail.at("accuracy"), 0.5);
  EXPECT_EQ(detail.at("confusion"), json({{1, 1}, {1, 1}}));
  EXPECT_EQ(detail.at("mistakes").size(), 2u);
  EXPECT_EQ(detail.at("worst").at(0), json({{"item", "d"}, {"true", 1}, {"found", 0}, {"probability", 0.3}}));
  EXPECT_EQ(detail.at("best").at(0), json({{"item", "a"}, {"true", 0}, {"found", 0}, {"probability", 0.9}}));
  EXPECT_EQ(detail.at("worst").size() + detail.at("best").size(), 4u) << "none is among both";
  EXPECT_EQ(detail.at("classes").at(0).at("recall"), 0.5);
}

TEST(ClassDetail, TheMatrixOfManyClassesIsLeftOutAndItsMistakesAreNot) {
  ConfusionTable table;
  const std::size_t classes = kMostMatrixClasses + 1;
  for (std::size_t c = 0; c < classes; ++c) table.classes.push_back("class " + std::to_string(c));
  table.counts.resize(classes * classes);
  for (std::size_t c = 0; c + 1 < classes; ++c) table.counts[c * classes + c + 1] = static_cast<std::int64_t>(c);
  nlohmann::ordered_json detail = nlohmann::ordered_json::object();
  add_confusion(detail, table);
  EXPECT_TRUE(detail.at("confusion").is_null());
  EXPECT_EQ(detail.at("classes").size(), classes);
  ASSERT_EQ(detail.at("mistakes").size(), kMostMistakes);
  EXPECT_EQ(json(detail.at("mistakes").at(0)), json({{"true", 99}, {"found", 100}, {"items", 99}}))
      << "the most frequent";
}

TEST(ClassDetail, OfARunIsThatOfItsValidationsOverRanksToo) {
  ClassScene scene("class_detail");
  scene.dark_and_bright("data/train", 6), scene.dark_and_bright("data/val", 3);
  TrainOptions o = scene.toy("run");
  o.steps = 6, o.validate_every = 2, o.optimizer.ema = 0.5;
  run_train(o, scene.progress);
  const json last = read_json(o.run / kLastDetailFile), best = read_json(o.run / kBestDetailFile);
  const auto report = read_json(o.run / "run.json").at("report");
  EXPECT_EQ(last.at("accuracy"), report.at("mean_accuracy"));
  EXPECT_EQ(best.at("accuracy"), report.at("best_accuracy")) << "of the averaged weights where they were better";
  std::int64_t items = 0;
  for (std::size_t c = 0; c < 2; ++c) {
    EXPECT_EQ(last.at("classes").at(c).at("recall"), report.at("validation_accuracy").at(c));
    for (const json& count : last.at("confusion").at(c)) items += count.get<std::int64_t>();
  }
  EXPECT_EQ(items, 6) << "all that validate";
  TrainOptions over = o;
  over.run = scene.path("over"), over.spec.cut.mesh.partition = o.spec.cut.mesh.partition = {1, 2, 2, 1};
  o.run = scene.path("cut");
  run_train(o, scene.progress);
  test::Mailbox mailbox(3);
  test::run_valid_ranks(mailbox, [&](Transport& transport) {
    NoProgress quiet;
    TrainOptions one = over;
    one.resources.transport = &transport;
    run_train(one, quiet);
  });
  for (const char* file : {kLastDetailFile, kBestDetailFile})
    EXPECT_TRUE(Scene::bytes_of(o.run / file) == Scene::bytes_of(over.run / file)) << file;
}

}  // namespace
}  // namespace voxshard
