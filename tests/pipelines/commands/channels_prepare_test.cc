// `prepare` with several channels: each by its own rule, a bad one costs its case, and the folder does not depend on
// how the channels were stored or on the number of ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "io/volume/mapped_volume.h"
#include "pipelines/tasks/segmentation/dataset/case_memory.h"
#include "pipelines/tasks/segmentation/dataset/prepared_dataset.h"
#include "tests/expect_error.h"
#include "tests/pipelines/channel_scene.h"
#include "tests/pipelines/prepared_files.h"
#include "tests/ranks/mailbox.h"

namespace voxshard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct MeanAndDeviation {
  double mean = 0, std = 0;
};
MeanAndDeviation moments_of(const std::filesystem::path& path) {
  const Volume v = read_image(path);
  double sum = 0, square = 0;
  const auto n = static_cast<double>(v.voxels.count());
  for (std::int64_t i = 0; i < v.voxels.count(); ++i) {
    const double x = v.voxels.as<float>()[i];
    sum += x / n, square += x * x / n;
  }
  return {sum, std::sqrt(square - sum * sum)};
}

TEST(ChannelsPrepare, EachChannelIsNormalisedByItsName) {
  ChannelScene scene("channels_prepare");
  scene.write_channels(2);
  const PrepareReport report = prepare_dataset(scene.preparation(), scene.progress);
  EXPECT_EQ(report.prepared, 2);
  const PreparedDataset d = read_prepared(scene.work());
  EXPECT_EQ(d.plan, report.plan);
  EXPECT_THAT(d.plan.channels, ElementsAre("CT", "PET"));
  EXPECT_EQ(d.plan.normalise, Normalise::kSoftTissue);
  EXPECT_TRUE(d.plan.clip_hu);
  EXPECT_EQ(d.plan.of_channel(1).normalise, Normalise::kZscore);
  EXPECT_FALSE(d.plan.of_channel(1).clip_hu);
  EXPECT_THAT(scene.progress.lines, Contains(HasSubstr("channel \"PET\" is no CT: normalised by zscore")));
  for (const PreparedCase& item : d.cases) {
    ASSERT_EQ(item.images.size(), 2u);
    EXPECT_EQ(item.images[1].filename(), item.id + "_0001.nii");
    const MeanAndDeviation pet = moments_of(item.images[1]);
    EXPECT_NEAR(pet.mean, 0, 1e-5);
    EXPECT_NEAR(pet.std, 1, 1e-5);
    EXPECT_EQ(MappedVolume::open(item.images[0]).shape(), item.shape);
  }
  const auto record = read_json(scene.work() / "cases/case_0.json");
  EXPECT_EQ(record.at("mean_hu").at(0), d.plan.mean_hu);
  EXPECT_NEAR(record.at("mean_hu").at(1).get<double>(), 1.14, 0.05);  // some 95 of 4096 voxels are brighter by 6
}

TEST(ChannelsPrepare, TheFirstChannelIsPreparedAsIfItWereAlone) {
  ChannelScene scene("channels_alone");
  scene.write_channels(2);
  prepare_dataset(scene.preparation(), scene.progress);
  scene.edit_dataset([](nlohmann::json& json) { json["channel_names"].erase("1"); });
  PrepareOptions alone = scene.preparation();
  alone.work = scene.path("alone");
  prepare_dataset(alone, scene.progress);
  for (const char* id : {"case_0", "case_1"}) {
    EXPECT_TRUE(Scene::bytes_of(prepared_image(scene.work(), id, 0, 2)) ==
                Scene::bytes_of(prepared_image(alone.work, id)));
    EXPECT_TRUE(Scene::bytes_of(prepared_foreground(scene.work(), id)) ==
                Scene::bytes_of(prepared_foreground(alone.work, id)));
  }
}

TEST(ChannelsPrepare, OneFileWithAFourthAxisGivesTheVolumesOfOneFileEach) {
  ChannelScene scene("channels_whole");
  scene.write_channels(2);
  prepare_dataset(scene.preparation(), scene.progress);
  scene.edit_dataset([](nlohmann::json& json) {
    json = {{"modality", {{"0", "CT"}, {"1", "PET"}}},
            {"labels", {{"0", "background"}, {"1", "lesion"}}},
            {"training", nlohmann::json::array()}};
    for (int i : {0, 1})
      json["training"].push_back(
          {{"image", "whole/" + Scene::id(i) + ".nii"}, {"label", "labelsTr/" + Scene::id(i) + ".nii"}});
  });
  std::filesystem::create_directories(scene.data() / "whole");
  for (int i : {0, 1}) scene.write_whole(scene.data() / "whole" / (Scene::id(i) + ".nii"), i);
  std::filesystem::remove_all(scene.data() / "imagesTr");
  std::filesystem::remove_all(scene.data() / "imagesTs");
  PrepareOptions options = scene.preparation();
  options.work = scene.path("again");
  const PrepareReport report = prepare_dataset(options, scene.progress);
  EXPECT_EQ(report.prepared, 2) << (report.failures.empty() ? "" : report.failures[0].message);
  EXPECT_THAT(scene.progress.lines, Contains(HasSubstr("the 4th axis of the images holds the 2 channels CT, PET")));
  for (const char* id : {"case_0", "case_1"})
    for (const std::size_t c : {0, 1})
      EXPECT_TRUE(Scene::bytes_of(prepared_image(scene.work(), id, c, 2)) ==
                  Scene::bytes_of(prepared_image(options.work, id, c, 2)));
  EXPECT_EQ(read_prepared(options.work).cases[0].sources.size(), 2u) << "the file and the label, each once";
}

TEST(ChannelsPrepare, AChannelThatIsMissingOrElsewhereCostsItsCase) {
  ChannelScene scene("channels_bad");
  scene.write_channels(5);
  std::filesystem::remove(scene.channel(1, 1));
  Volume other = ChannelScene::make_channel(2, 1);
  other.geometry.origin[0] += 10;
  write_volume(scene.channel(2, 1), other, DiskType::kF32);
  write_volume(scene.channel(3, 1), Scene::make_image(0), DiskType::kF32);
  Scene::truncate(scene.channel(4, 1));
  const PrepareReport report = prepare_dataset(scene.preparation(), scene.progress);
  EXPECT_EQ(report.prepared, 1);
  std::map<std::string, std::string> codes;
  for (const CaseFailure& failure : report.failures) codes[failure.id] = failure.code + " " + failure.message;
  ASSERT_EQ(codes.size(), 4u);
  EXPECT_THAT(codes["case_1"], HasSubstr("E_MISSING"));
  EXPECT_THAT(codes["case_2"], HasSubstr("E_GEOMETRY [case_2_0001.nii] the channel has the first one's shape but"));
  EXPECT_THAT(codes["case_3"], HasSubstr("E_SHAPE [case_3_0001.nii] the channel has another shape"));
  EXPECT_THAT(codes["case_4"], HasSubstr("E_READ"));
  EXPECT_EQ(read_prepared(scene.work()).cases.size(), 1u);
}

TEST(ChannelsPrepare, OptionsInHounsfieldUnitsAreForTheChannelCalledCt) {
  ChannelScene scene("channels_options");
  scene.write_channels(2);
  PrepareOptions options = scene.preparation();
  options.clip_hu = Range{0, 80}, options.normalise = Normalise::kWindow;
  const PreparePlan plan = prepare_dataset(options, scene.progress).plan;
  EXPECT_EQ(plan.clip_hu, (Range{0, 80}));
  EXPECT_EQ(plan.normalise, Normalise::kWindow);
  EXPECT_EQ(plan.of_channel(1).normalise, Normalise::kZscore);
  EXPECT_FALSE(plan.of_channel(1).clip_hu);
  options.clip_hu.reset(), options.normalise = Normalise::kNone;
  EXPECT_EQ(prepare_dataset(options, scene.progress).plan.of_channel(1).normalise, Normalise::kNone);
  scene.edit_dataset([](nlohmann::json& json) { json["channel_names"] = {{"0", "T1"}, {"1", "T2"}}; });
  options.normalise = Normalise::kCt;
  expect_error(ErrorKind::kUsage, "none of the 2 channels is called CT",
               [&] { prepare_dataset(options, scene.progress); });
}

TEST(ChannelsPrepare, AnyNumberOfRanksWritesTheSameBytes) {
  ChannelScene scene("channels_ranks");
  scene.write_channels(5);
  std::filesystem::remove(scene.channel(3, 1));
  Scene::truncate(scene.channel(2, 1));
  prepare_dataset(scene.preparation(), scene.progress);
  for (const int ranks : {2, 3}) {
    test::Mailbox mailbox(ranks);
    const std::filesystem::path folder = scene.path(std::to_string(ranks));
    test::run_valid_ranks(mailbox, [&](Transport& transport) {
      RecordingProgress progress;
      PrepareOptions options = scene.preparation();
      options.work = folder;
      prepare_dataset(options, {progress, {.transport = &transport}});
    });
    EXPECT_EQ(test::differing_file(scene.work(), folder), "") << ranks;
  }
}

TEST(ChannelsPrepare, ResumeKeepsWhatIsFinishedAndSeesAChangedChannel) {
  ChannelScene scene("channels_resume");
  scene.write_channels(3);
  PrepareOptions options = scene.preparation();
  prepare_dataset(options, scene.progress);
  std::filesystem::remove(prepared_image(scene.work(), "case_0", 1, 2));
  options.resume = true;
  PrepareReport report = prepare_dataset(options, scene.progress);
  EXPECT_EQ(report.prepared, 1);
  EXPECT_EQ(report.skipped, 2);
  write_volume(scene.channel(2, 1), ChannelScene::make_channel(7, 1), DiskType::kF32);
  report = prepare_dataset(options, scene.progress);
  EXPECT_EQ(report.prepared, 1) << "no number of the plan comes from a channel that is normalised by each image's own";
  EXPECT_EQ(report.skipped, 2);
}

TEST(ChannelsPrepare, TheMemoryOfACaseIsThatOfOneChannelBesideTheLabel) {
  ChannelScene scene("channels_memory");
  scene.write_channels(1);
  const Case both{.id = "a", .images = {scene.channel(0, 0), scene.channel(0, 1)}, .label = scene.label(0)};
  const Case one{.id = "a", .images = {scene.channel(0, 0)}, .label = scene.label(0)};
  PreparePlan plan;
  EXPECT_EQ(preparing_case_plan(both, plan, volume_formats()).total(),
            preparing_case_plan(one, plan, volume_formats()).total());
}

TEST(ChannelsPrepare, PredictionHoldsAllChannelsAtOnce) {
  ChannelScene scene("channels_held");
  scene.write_channels(1);
  const VolumeInfo info = read_volume_info(scene.channel(0, 0));
  PreparePlan plan;
  plan.orientation = "keep";
  const std::int64_t volume = 4 * 16 * 16 * 16;
  EXPECT_EQ(predicting_plan(info, scene.channel(0, 0), plan, {}, {}).total(), volume + volume / 4);
  plan.channels = {"a", "b", "c"}, plan.further.resize(2);
  EXPECT_EQ(predicting_plan(info, scene.channel(0, 0), plan, {}, {}).total(), 3 * volume);
  VolumeInfo longest = info;
  longest.geometry.size = {40000, 8, 8};  // which other formats hold
  try {
    predicting_plan(longest, "long.nrrd", plan, {}, {});
    ADD_FAILURE() << "no label map on this grid can be written";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), std::string("E_SIZE"));
    EXPECT_THAT(e.what(), testing::HasSubstr("long.nrrd"));
  }
}

TEST(ChannelsPlan, JsonThereAndBackIsTheSamePlan) {
  PreparePlan plan{.channels = {"CT", "PET", "T1"}, .class_names = {"background", "lesion"}};
  plan.clip_hu = Range{-100, 300};
  plan.further = {{.normalise = Normalise::kZscore}, {.clip_hu = Range{0, 9}, .normalise = Normalise::kNone}};
  const auto json = nlohmann::json::parse(to_json(plan).dump());
  EXPECT_EQ(plan_from_json(json), plan);
  EXPECT_EQ(plan.of_channel(2).clip_hu, (Range{0, 9}));
  EXPECT_THAT(plan.of_channel(2).channels, ElementsAre("T1"));
  auto broken = json;
  broken["further_channels"].erase(0);
  expect_error(ErrorKind::kConfig, "further_channels", [&] { plan_from_json(broken); });
  broken = json;
  broken["further_channels"][0]["std_hu"] = 0;
  EXPECT_THROW(plan_from_json(broken), Error);
  broken = json;
  broken.erase("further_channels");
  EXPECT_THROW(plan_from_json(broken), Error);
  PreparePlan single{.class_names = {"background", "lesion"}};
  EXPECT_FALSE(to_json(single).contains("further_channels")) << "the form of one channel has not changed";
}

}  // namespace
}  // namespace voxshard
