// `check` over several ranks: the facts as messages, and the files of one process, byte for byte.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "io/files/structured_text.h"
#include "pipelines/model_runs/rank_json.h"
#include "pipelines/tasks/segmentation/checks/case_facts_message.h"
#include "pipelines/tasks/segmentation/checks/check_dataset.h"
#include "tests/pipelines/pipeline_scene.h"
#include "tests/pipelines/tasks/segmentation/checks/check_scene.h"
#include "tests/ranks/mailbox.h"

namespace voxshard {
namespace {

using namespace test;

TEST(CaseFactsMessage, KeepsEveryNumberToItsLastBit) {
  CaseFacts facts = usual_set().cases[3];
  facts.problems = {{facts.id, "E_READ", "is no volume"}};
  facts.wrong_voxels = 7, facts.first_wrong = -2;
  facts.classes[2].mean_hu.reset();
  facts.classes[1].volume_ml = 1.0 / 3;
  facts.hu = HuRange{-1000.1F, 3e38F};
  facts.fit->peak = {0.1, std::nullopt, -1.0 / 7};
  facts.fit->shift = {0, -3, 4};
  const auto message = facts_message(facts);
  const CaseFacts back = facts_of_message(unpack_cbor(pack_json(message)));
  EXPECT_EQ(facts_message(back), message);
  EXPECT_EQ(back.classes.at(1).volume_ml, 1.0 / 3);
  EXPECT_FALSE(back.classes.at(2).mean_hu);
  EXPECT_EQ(back.fit->peak, facts.fit->peak);
  EXPECT_EQ(back.hu->low, -1000.1F);
  EXPECT_EQ(back.images[0].geometry.spacing, facts.images[0].geometry.spacing);
  const CaseFacts none = facts_of_message(facts_message({.id = "a", .part = "test"}));
  EXPECT_FALSE(none.label || none.hu || none.fit);
}

TEST(RanksCheck, TheListsAndPicturesOfOneProcess) {
  Scene scene("ranks_check");
  scene.write_dataset(5);
  Scene::truncate(scene.image(0));
  Volume label = Scene::make_label();
  label.geometry.origin[2] += 3, label.voxels.as<std::int32_t>()[5] = 7;
  write_volume(scene.label(2), label, DiskType::kU8);
  CheckDatasetOptions options{.dataset = scene.data(), .deep = true, .output = scene.path("one")};
  const CheckReport one = check_dataset(options, scene.progress);
  ASSERT_GE(one.findings.size(), 4u) << "a cut file, an origin, a label, equal label maps";
  for (int ranks : {2, 4}) {
    SCOPED_TRACE(std::to_string(ranks) + " ranks");
    Mailbox mailbox(ranks);
    options.output = scene.path("of_" + std::to_string(ranks)), options.csv = scene.path("found.csv");
    run_valid_ranks(mailbox, [&](Transport& transport) {
      RecordingProgress progress;
      const CheckReport report = check_dataset(options, {progress, {.transport = &transport}});
      EXPECT_EQ(report.findings.size(), one.findings.size());
      EXPECT_EQ(report.odd_cases, one.odd_cases);
    });
    EXPECT_EQ(read_bytes(options.csv), read_bytes(scene.path("one") / "findings.csv"));
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(scene.path("one"))) {
      const std::string name = entry.path().filename().string();
      if (!name.ends_with(".png") && !name.starts_with("findings")) continue;
      EXPECT_EQ(read_bytes(options.output / name), read_bytes(entry.path())) << name;
      ++files;
    }
    EXPECT_GE(files, 4u);
  }
}

}  // namespace
}  // namespace voxshard
