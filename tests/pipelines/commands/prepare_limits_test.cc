// Cases that are too large, or not what they seem: `prepare` leaves out the case, and nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "io/files/config_file.h"
#include "io/volume/mapped_volume.h"
#include "pipelines/tasks/segmentation/dataset/prepare_dataset.h"
#include "pipelines/tasks/segmentation/dataset/prepared_dataset.h"
#include "tests/pipelines/prepare_scene.h"

namespace voxshard {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

/// Writes two cases, the second of 64000 voxels, and returns options that leave it out.
PrepareOptions one_too_large(Scene& scene) {
  scene.write_dataset(2);
  write_volume(scene.image(1), Scene::make_image(1, {40, 40, 40}), DiskType::kI16);
  write_volume(scene.label(1), Scene::make_label({40, 40, 40}), DiskType::kU8);
  PrepareOptions options = preparation(scene);
  options.formats.limits.most_voxels = 10000;
  return options;
}

TEST(Prepare, ACaseThatIsTooLargeCostsItself) {
  Scene scene("prepare_large");
  PrepareOptions options = one_too_large(scene);
  PrepareReport report = prepare_dataset(options, scene.progress);
  EXPECT_EQ(report.prepared, 1);
  ASSERT_EQ(report.failures.size(), 1u);
  EXPECT_EQ(report.failures[0].code, "E_SIZE");
  options.formats.limits = {.memory_bytes = 200000};
  report = prepare_dataset(options, scene.progress);
  EXPECT_EQ(report.prepared, 1);
  ASSERT_EQ(report.failures.size(), 1u);
  EXPECT_EQ(report.failures[0].code, "E_BUDGET");
  EXPECT_THAT(report.failures[0].message, HasSubstr("would fit"));
}

TEST(Prepare, APlanOfFewerCasesThanAreThereIsSaid) {
  Scene scene("prepare_raised");
  PrepareOptions options = one_too_large(scene);
  EXPECT_EQ(prepare_dataset(options, scene.progress).prepared, 1);
  EXPECT_THAT(scene.progress.lines, Not(Contains(HasSubstr("could be used at first"))));
  options.formats.limits = {}, options.resume = true;
  EXPECT_EQ(prepare_dataset(options, scene.progress).prepared, 1);
  EXPECT_THAT(scene.progress.lines, Contains(HasSubstr("those of the 1 case that could be used at first, and 2 are")));
}

/// Returns the three numbers after "a spacing of".
std::string spacing_in(const std::string& message) {
  const std::string mark = "a spacing of ";
  const std::size_t begin = message.find(mark) + mark.size();
  return message.substr(begin, message.find(' ', begin) - begin);
}

TEST(Prepare, ASpacingThatIsTooFineIsRefusedWithOneThatFits) {
  Scene scene("prepare_fine");
  scene.write_dataset(2);
  PrepareOptions options = preparation(scene);
  options.spacing = "0.01,0.01,0.01";  // 2400 x 2000 x 2400 voxels
  for (const VolumeLimits limits : {VolumeLimits{.most_voxels = 50000}, VolumeLimits{.memory_bytes = 400000},
                                    VolumeLimits{.most_voxels = 1000000, .memory_bytes = 100000}}) {
    options.formats.limits = limits;
    options.spacing = "0.01,0.01,0.01";
    try {
      prepare_dataset(options, scene.progress);
      ADD_FAILURE() << "a volume of 10^10 voxels was made";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::kNoCase);
      EXPECT_THAT(e.what(), HasSubstr("mm would fit"));
      options.spacing = spacing_in(e.what());
    }
    EXPECT_EQ(prepare_dataset(options, scene.progress).prepared, 2) << options.spacing;
  }
}

TEST(Prepare, ASpacingBeyondReasonIsAWrongOption) {
  Scene scene("prepare_spacing");
  scene.write_dataset(1);
  for (const char* spacing : {"1e-300,1,1", "inf,1,1", "0,1,1", "nan,1,1", "1e5,1,1"}) {
    PrepareOptions options = preparation(scene);
    options.spacing = spacing;
    try {
      prepare_dataset(options, scene.progress);
      ADD_FAILURE() << spacing;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::kUsage) << e.what();
    }
  }
}

TEST(Prepare, MemoryForOneCaseAtATimeGivesTheSameFiles) {
  Scene scene("prepare_narrow");
  scene.write_dataset(4);
  PrepareOptions options = preparation(scene);
  options.spacing = "3,3,3";
  const RunContext context(scene.progress, {.threads = 4});
  prepare_dataset(options, context);
  const std::string wide = Scene::bytes_of(scene.work() / "images/case_3.nii");
  options.work = scene.path("narrow");
  options.formats.limits.memory_bytes = 30000;  // a case needs some 18 kB
  EXPECT_EQ(prepare_dataset(options, context).prepared, 4);
  EXPECT_TRUE(wide == Scene::bytes_of(options.work / "images/case_3.nii"));
}

TEST(Prepare, OnlyAChannelCalledCtIsNormalisedAsCt) {
  Scene scene("prepare_channel");
  scene.write_dataset(2);
  for (const auto& [channel, wanted] :
       {std::pair("CT", Normalise::kSoftTissue), std::pair("ct", Normalise::kSoftTissue),
        std::pair("T1", Normalise::kZscore), std::pair("noNorm", Normalise::kNone)}) {
    scene.edit_dataset([&, name = std::string(channel)](nlohmann::json& json) { json["channel_names"]["0"] = name; });
    EXPECT_EQ(prepare_dataset(preparation(scene), scene.progress).plan.normalise, wanted) << channel;
  }
  EXPECT_THAT(scene.progress.lines, Contains(HasSubstr("channel \"T1\" is no CT: normalised by zscore")));
  scene.edit_dataset([](nlohmann::json& json) { json["channel_names"]["0"] = "rgb_to_0_1"; });
  EXPECT_THROW(prepare_dataset(preparation(scene), scene.progress), Error);
  PrepareOptions asked = preparation(scene);
  asked.normalise = Normalise::kCt;
  EXPECT_EQ(prepare_dataset(asked, scene.progress).plan.normalise, Normalise::kCt) << "a user who says so is obeyed";
}

TEST(Prepare, OnlyImagesFarFromTheMedianSpacingAreResampledUnlessAllAreAskedFor) {
  Scene scene("prepare_auto_spacing");
  scene.write_dataset(4);
  for (const auto& [i, spacing] : {std::pair(0, 2.0), std::pair(1, 2.0), std::pair(2, 2.7), std::pair(3, 3.0)}) {
    Volume image = Scene::make_image(i), label = Scene::make_label();
    image.geometry.spacing = label.geometry.spacing = {spacing, spacing, spacing};
    write_volume(scene.image(i), image, DiskType::kI16), write_volume(scene.label(i), label, DiskType::kU8);
  }
  const auto sizes = [&](const std::string& spacing) {
    prepare_dataset(preparation(scene, spacing), scene.progress);
    std::vector<std::int64_t> along_x;
    for (const PreparedCase& item : read_prepared(scene.work()).cases) along_x.push_back(item.shape[2]);
    return along_x;
  };
  EXPECT_EQ(sizes("median"), (std::vector<std::int64_t>{10, 10, 14, 15})) << "2.35 mm";
  EXPECT_EQ(sizes("auto"), (std::vector<std::int64_t>{12, 12, 12, 12})) << "from 1.68 to 3.29 mm";
  Volume coarse = Scene::make_image(3), label = Scene::make_label();
  coarse.geometry.spacing = label.geometry.spacing = {3.3, 2.35, 2.35};
  write_volume(scene.image(3), coarse, DiskType::kI16), write_volume(scene.label(3), label, DiskType::kU8);
  EXPECT_EQ(sizes("auto").at(3), 17) << "39.6 mm at 2.35 mm";
  EXPECT_TRUE(read_prepared(scene.work()).plan.kept);
  EXPECT_FALSE(PreparePlan().kept);
}

TEST(Prepare, ACtKeepsAllOfItsRangeUnlessAWindowIsChosen) {
  Scene scene("prepare_soft_tissue");
  scene.write_dataset(2);
  const PreparePlan soft = prepare_dataset(preparation(scene), scene.progress).plan;
  PrepareOptions options = preparation(scene);
  options.normalise = Normalise::kCt;
  const PreparePlan ct = prepare_dataset(options, scene.progress).plan;
  EXPECT_EQ(soft.clip_hu, ct.clip_hu) << "the percentiles of the foreground";
  options.normalise.reset(), options.clip_hu = Range{-100, 200};
  EXPECT_EQ(prepare_dataset(options, scene.progress).plan.normalise, Normalise::kCt) << "the window of a user";
  options.clip_hu.reset(), options.convention = Convention::kNnunet;
  EXPECT_EQ(prepare_dataset(options, scene.progress).plan.normalise, Normalise::kCt);
  options.normalise = Normalise::kSoftTissue;
  EXPECT_THROW(prepare_dataset(options, scene.progress), Error) << "nnU-Net has none";
}

TEST(Prepare, IgnoredVoxelsAreOfNoClass) {
  Scene scene("prepare_ignore");
  scene.write_dataset(2);
  scene.edit_dataset([](nlohmann::json& json) { json["labels"] = {{"background", 0}, {"one", 1}, {"ignore", 2}}; });
  const PrepareReport report = prepare_dataset(preparation(scene), scene.progress);
  EXPECT_TRUE(report.failures.empty());
  const PreparedDataset d = read_prepared(scene.work());
  EXPECT_EQ(d.plan.classes(), 2);
  EXPECT_EQ(d.plan.ignore_label, 2);
  EXPECT_EQ(d.cases[0].class_voxels, (std::vector<std::int64_t>{480, 320})) << "160 voxels of class 2 are unknown";
  const Volume label = read_label(d.cases[0].label);
  EXPECT_EQ(std::count(label.voxels.as<std::int32_t>(), label.voxels.as<std::int32_t>() + label.voxels.count(), 2),
            160);
  EXPECT_EQ(load_foreground(d.cases[0], 2).by_class.size(), 2u);
}

TEST(Prepare, TwoPlacesOfOneVolumeAreSaidAndReported) {
  Scene scene("prepare_forms");
  scene.ending = ".nii";
  scene.write_dataset(2);
  std::string bytes = Scene::bytes_of(scene.image(1));
  const std::int16_t code = 1;
  float x = 0;
  std::memcpy(&bytes[252], &code, 2);  // qform_code
  std::memcpy(&x, &bytes[268], 4);     // qoffset_x
  x += 35;
  std::memcpy(&bytes[268], &x, 4);
  std::ofstream(scene.image(1), std::ios::binary) << bytes;
  for (const bool resume : {false, true}) {
    RecordingProgress progress;
    const PrepareReport report = prepare_dataset(preparation(scene, "keep", resume), progress);
    EXPECT_EQ(report.prepared + report.skipped, 2) << "it is used";
    ASSERT_EQ(report.warnings.size(), 1u);
    EXPECT_EQ(report.warnings[0].id, "case_1");
    EXPECT_EQ(report.warnings[0].code, "W_FORMS");
    EXPECT_THAT(progress.lines,
                Contains(HasSubstr("case case_1: W_FORMS case_1_0000.nii: qform and sform differ by 35.0 mm")));
    EXPECT_EQ(to_json(report).at("warnings").at(0).at("code"), "W_FORMS");
  }
}

}  // namespace
}  // namespace voxshard
