// Slices of validated cases: every sample once, the labels that the scores count, the worst cases and the best one.
#include "pipelines/report_page/slices_section.h"

#include <array>
#include <sstream>

#include "pipelines/report_page/report_page.h"
#include "pipelines/tasks/segmentation/scores/case_slices.h"
#include "pipelines/tasks/segmentation/scores/volume_validation.h"
#include "tests/pipelines/rank_sessions.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

std::vector<int> bytes_of(const std::string& base64) {
  std::vector<int> bytes;
  int held = 0, bits = 0;
  for (const char c : base64) {
    const auto at = std::string("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/").find(c);
    if (at == std::string::npos) break;
    held = (held << 6 | static_cast<int>(at)) & 0xfffff, bits += 6;
    if (bits >= 8) bits -= 8, bytes.push_back(held >> bits & 255);
  }
  return bytes;
}

TEST(SlicePlan, BoxesThatTileAVolumeVisitEverySampleOnce) {
  for (const Shape& volume : {Shape{5, 7, 3}, Shape{30, 130, 300}, Shape{1, 1, 1}, Shape{24, 128, 129}}) {
    const SlicePlan plan(volume);
    for (int a = 0; a < 3; ++a) {
      EXPECT_EQ(std::ssize(plan.planes(a)), std::min(kMostSlices, volume[a]));
      EXPECT_LE(plan.side(a), kMostSliceSide);
      EXPECT_LT(plan.planes(a).back(), volume[a]);
      EXPECT_LT((plan.side(a) - 1) * plan.stride(a), volume[a]);
    }
    std::vector<int> visits(static_cast<std::size_t>(plan.samples()));
    std::vector<std::array<std::int64_t, 3>> voxels(visits.size());
    for (const auto& [d, past_d] :
         {std::pair<std::int64_t, std::int64_t>{0, volume[0] / 3}, {volume[0] / 3, volume[0]}})
      for (const auto& [w, past_w] :
           {std::pair<std::int64_t, std::int64_t>{0, volume[2] / 2}, {volume[2] / 2, volume[2]}}) {
        Box box{.begin = {0, 0, 0}, .extent = volume};
        box.set(0, d, past_d), box.set(2, w, past_w);
        plan.each_in(box, [&](std::size_t at, std::int64_t z, std::int64_t y, std::int64_t x) {
          ++visits[at], voxels[at] = {z, y, x};
        });
      }
    EXPECT_EQ(std::ranges::count(visits, 1), plan.samples());
    Box whole{.begin = {0, 0, 0}, .extent = volume};
    plan.each_in(whole, [&](std::size_t at, std::int64_t z, std::int64_t y, std::int64_t x) {
      EXPECT_EQ(voxels[at], (std::array<std::int64_t, 3>{z, y, x}));
    });
  }
}

/// Scores the axial planes of a case, which are all of its voxels when it is small.
std::vector<double> dice_of(const json& item, int classes) {
  const json& axial = item.at("planes").at(0);
  const std::vector<int> truth = bytes_of(axial.at("reference")), found = bytes_of(axial.at("prediction"));
  std::vector<double> scores;
  for (int c = 1; c < classes; ++c) {
    std::int64_t both = 0, either = 0;
    for (std::size_t i = 0; i < truth.size(); ++i)
      both += truth[i] == c && found[i] == c, either += (truth[i] == c) + (found[i] == c);
    scores.push_back(2.0 * static_cast<double>(both) / static_cast<double>(either));
  }
  return scores;
}

TEST(CaseSlices, HoldTheLabelsThatTheScoresCountOnEveryGridAndOverRanks) {
  TrainingScene scene("slices", 5);
  const PreparedDataset dataset = read_prepared(scene.work());
  for (const PreparedCase& item : dataset.cases) ASSERT_LE(item.shape[0], kMostSlices) << "axial planes are the volume";
  Validation alone;
  for (const auto& [ranks, partition] :
       std::vector<std::pair<int, Dims>>{{1, {1, 1, 1, 1, 1}}, {1, {1, 2, 2, 1, 1}}, {3, {1, 2, 2, 1, 1}}}) {
    ModelSpec spec = test::small_unet(partition);
    spec.set("classes", dataset.plan.classes());
    test::over_ranks(ranks, spec, [&](Session& session) {
      NoProgress quiet;
      const auto pass = validate_volumes(dataset, {0, 1, 2, 3, 4}, overlap_metrics().front(), spec.multiple());
      pass->keep_slices(3);
      const Validation found = run_validation(
          session, *pass, [](const CaseFailure&) { FAIL(); }, quiet);
      if (session.transport().rank() > 0) return;
      ASSERT_EQ(found.slices.size(), 3u);
      std::vector<ValidatedCase> cases = found.cases;
      std::ranges::stable_sort(cases, std::less(), [](const ValidatedCase& one) { return nan_mean(one.by_class); });
      const std::vector<ValidatedCase> expected = {cases[0], cases[1], cases.back()};
      for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(found.slices[i].at("case"), expected[i].name) << "the worst two and the best one";
        const std::vector<double> dice = dice_of(json(found.slices[i]), dataset.plan.classes());
        for (std::size_t c = 0; c < dice.size(); ++c)
          if (!std::isnan(expected[i].by_class[c])) {
            EXPECT_DOUBLE_EQ(dice[c], expected[i].by_class[c]) << expected[i].name << ", class " << c + 1;
          }
      }
      if (ranks == 3) {
        EXPECT_EQ(found.slices, alone.slices) << "the same cut in one process";
      }
      alone = found;
    });
  }
}

TEST(CaseSlices, TheRunKeepsThemForItsPageUnlessItIsAskedNotTo) {
  TrainingScene scene("slices_of_run");
  TrainOptions o = scene.options("run");
  o.steps = 2, volumes(o).fold = "0";
  run_train(o, scene.progress);
  const json slices = read_json(o.run / kSlicesFile);
  EXPECT_EQ(slices.at("step"), 2);
  const std::string page = Scene::bytes_of(o.run / kReportPage);
  EXPECT_THAT(page, HasSubstr(slices.at("cases").at(0).at("planes").at(2).at("prediction").get<std::string>()));
  EXPECT_THAT(page, HasSubstr("show a face"));
  EXPECT_THAT(page, HasSubstr("<figure data-item=\"0\" data-plane=\"2\">"));
  o.restart = true, o.slices = 0;
  run_train(o, scene.progress);
  EXPECT_FALSE(std::filesystem::exists(o.run / kSlicesFile));
  EXPECT_THAT(Scene::bytes_of(o.run / kReportPage), Not(HasSubstr("show a face")));
}

TEST(CaseSlices, AFileOfAnotherFormShowsNoSlices) {
  const ScratchFolder folder("slices_hostile");
  for (const char* text : {"[]", "{}", "17", R"({"cases": [1]})", R"({"cases": [{"planes": [{}, {}, {}]}]})",
                           R"({"cases": [{"case": "a", "planes": [{"plane": "axial", "at": [0], "rows": 4096,
                               "columns": 4096, "row_mm": 1, "column_mm": 1, "image": "AA", "reference": "AA",
                               "prediction": "</script>"}]}]})"}) {
    folder.write(kSlicesFile, text);
    EXPECT_TRUE(read_slices(folder.path()).is_null()) << text;
  }
}

}  // namespace
}  // namespace voxshard
