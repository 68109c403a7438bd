// Drawings of time lines that cannot be made: the predictions stay, and each film is counted once.
#include <gmock/gmock.h>

#include <algorithm>

#include "pipelines/engine/audit_trail.h"
#include "tests/pipelines/tasks/classification/film_scene.h"

namespace voxshard {
namespace {

class DrawClips : public TrainedFilms {};

TEST_F(DrawClips, AFilmThatCannotBeDrawnIsPredictedAndCountedOnce) {
  scene_.film("new/a.mkv", {{16, kDark}}), scene_.film("new/b.mkv", {{16, kBright}});
  struct : RecordingProgress {
    void update(std::string_view stage, std::int64_t, std::int64_t, std::string_view text) override {
      if (stage == "draw" && text == "b.mkv") throw Error(ErrorKind::kInput, "no frame can be drawn into");
    }
  } undrawn;
  PredictOptions o = options(scene_.path("new"));
  FilmScene::own(o).draw = scene_.path("drawn");
  o.task.of<AuditRequest>().file = scene_.path("audit.jsonl");
  const PredictReport report = run_predict(o, undrawn);
  EXPECT_EQ(report.cases.size(), 2u);
  EXPECT_TRUE(report.failures.empty()) << "its time lines are written";
  EXPECT_TRUE(report.damaged) << "for exit 8";
  EXPECT_EQ(report.found.at("not_written").at(0).at("case"), "b.mkv");
  EXPECT_THAT(undrawn.lines, testing::Contains(testing::HasSubstr("b.mkv: W_OUTPUT it is not drawn")));
  EXPECT_THAT(report.text, testing::Not(testing::HasSubstr("decoded"))) << "no frame is lost";
  EXPECT_EQ(std::ranges::count(Scene::bytes_of(scene_.path("audit.jsonl")), '\n'), 2);
  EXPECT_TRUE(std::filesystem::exists(scene_.path("drawn/a.mp4")));
  EXPECT_FALSE(std::filesystem::exists(scene_.path("drawn/b.mp4")));
}

}  // namespace
}  // namespace voxshard
