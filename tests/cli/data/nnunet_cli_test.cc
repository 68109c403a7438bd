// nnU-Net's numbers, folders and regions on the command line.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "tests/cli/trained_cli.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr const char* kDescription =
    R"({"channel_names": {"0": "T2"}, "labels": {"background": 0, "both": [1, 2], "inner": [2]},
        "regions_class_order": [1, 2], "file_ending": ".nii", "numTraining": 2})";

constexpr std::int64_t kEdge = 40;    // voxels along each axis
constexpr std::size_t kHeader = 352;  // bytes of a NIfTI-1 header

/// Writes a .nii of kEdge^3 voxels of 1 x 1 x 1.5 mm, int16.
template <class ValueAt>
void write_cube(const std::string& path, ValueAt value_at) {
  std::string bytes(kHeader, '\0');
  const auto put = [&](std::size_t at, auto value) { std::memcpy(&bytes[at], &value, sizeof value); };
  put(0, std::int32_t{348}), put(40, std::int16_t{3}), put(70, std::int16_t{4}), put(72, std::int16_t{16});
  for (std::size_t axis = 0; axis < 7; ++axis) put(42 + 2 * axis, static_cast<std::int16_t>(axis < 3 ? kEdge : 1));
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const float mm = axis == 2 ? 1.5F : 1.0F;
    put(80 + 4 * axis, mm), put(280 + 20 * axis, mm);
  }
  put(76, 1.0F), put(108, static_cast<float>(kHeader)), put(254, std::int16_t{1});
  bytes.replace(344, 3, "n+1");
  for (std::int64_t z = 0; z < kEdge; ++z)
    for (std::int64_t y = 0; y < kEdge; ++y)
      for (std::int64_t x = 0; x < kEdge; ++x) {
        const auto value = static_cast<std::int16_t>(value_at(x, y, z));
        bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
      }
  std::ofstream(path, std::ios::binary) << bytes;
}

bool is_framed(std::int64_t x, std::int64_t y, std::int64_t z, int c) {
  return std::min({x, y, z}) < 10 || std::max({x, y, z}) >= 30 + c;
}

/// Two MR-like volumes in a frame of zeros with two nested classes.
void write_framed_set(const fs::path& data) {
  for (const char* part : {"imagesTr", "labelsTr"}) fs::create_directories(data / part);
  std::ofstream(data / "dataset.json") << kDescription;
  const auto radius = [](std::int64_t x, std::int64_t y, std::int64_t z) {
    return (x - 20) * (x - 20) + (y - 20) * (y - 20) + (z - 20) * (z - 20);
  };
  for (int c = 0; c < 2; ++c) {
    const std::string id = "mr_" + std::to_string(c);
    write_cube(data / "imagesTr" / (id + "_0000.nii"), [&](auto x, auto y, auto z) {
      return is_framed(x, y, z, c) ? 0 : 100 + (x * 7 + y * 5 + z * 3) % 40 + (radius(x, y, z) < 49 ? 90 : 0);
    });
    write_cube(data / "labelsTr" / (id + ".nii"), [&](auto x, auto y, auto z) {
      return radius(x, y, z) < 16 ? 2 : radius(x, y, z) < 49 ? 1 : 0;
    });
  }
}

TEST(NnunetCli, ACroppedSetOfRegionsIsPreparedTrainedPredictedOnTheWholeGridAndScored) {
  Folder folder("nnunet");
  const fs::path data = folder / "data";
  write_framed_set(data);
  const CommandResult prepared =
      run_voxshard("prepare " + data.string() + " -o " + (folder / "work") + " --convention nnunet --json");
  ASSERT_EQ(prepared.exit_code, 0) << prepared.err;
  const auto plan = prepared.json().at("plan");
  EXPECT_EQ(plan.at("convention"), "nnunet");
  EXPECT_EQ(plan.at("orientation"), "keep");
  EXPECT_EQ(plan.at("zscore_in_nonzero"), true) << "an eighth of each volume is not zero";
  const nlohmann::json work = nlohmann::json::parse(file_text(folder / "work/dataset.json"));
  EXPECT_EQ(work.at("cases").at(0).at("shape"), nlohmann::json({20, 20, 20}));
  EXPECT_EQ(work.at("regions").at("both"), nlohmann::json({1, 2}));
  const CommandResult trained =
      run_voxshard("train " + (folder / "work") + " -o " + (folder / "run") +
                   " --base-filters 4 --depth 3 --precision f32 --crop 16x16x16 --steps 2 --fold all --quiet");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const CommandResult predicted =
      run_voxshard("predict " + (folder / "run") + " " + (data / "imagesTr").string() + " -o " + (folder / "out"));
  ASSERT_EQ(predicted.exit_code, 0) << predicted.err;
  ASSERT_EQ(run_voxshard("convert " + (folder / "out/mr_1.nii.gz") + " -o " + (folder / "labels.nii")).exit_code, 0);
  const std::string bytes = file_text(folder / "labels.nii");
  ASSERT_EQ(bytes.size(), kHeader + 2 * kEdge * kEdge * kEdge);
  for (std::int64_t i = 0; i < kEdge * kEdge * kEdge; ++i) {
    if (!is_framed(i % kEdge, i / kEdge % kEdge, i / (kEdge * kEdge), 1)) continue;
    std::int16_t label = 0;
    std::memcpy(&label, &bytes[kHeader + 2 * static_cast<std::size_t>(i)], sizeof label);
    ASSERT_EQ(label, 0) << i;
  }
  // Scores are those of the regions: unions of classes, counted here by hand.
  const std::string reference = file_text((data / "labelsTr/mr_1.nii").string());
  const auto dice_from = [&](int lowest) {
    double both = 0, all = 0;
    for (std::int64_t i = 0; i < kEdge * kEdge * kEdge; ++i) {
      std::int16_t found = 0, wanted = 0;
      std::memcpy(&found, &bytes[kHeader + 2 * static_cast<std::size_t>(i)], sizeof found);
      std::memcpy(&wanted, &reference[kHeader + 2 * static_cast<std::size_t>(i)], sizeof wanted);
      both += 2 * (found >= lowest && wanted >= lowest), all += (found >= lowest) + (wanted >= lowest);
    }
    return both / all;
  };
  const CommandResult scores = run_voxshard("evaluate " + (folder / "out") + " " + (data / "labelsTr").string() +
                                            " --dataset " + data.string() + " --json");
  ASSERT_EQ(scores.exit_code, 0) << scores.err;
  const nlohmann::json regions = scores.json().at("classes");
  ASSERT_EQ(regions.size(), 2u);
  EXPECT_EQ(regions.at(0).at("name"), "both");
  EXPECT_EQ(regions.at(0).at("labels"), nlohmann::json({1, 2}));
  EXPECT_EQ(regions.at(1).at("name"), "inner");
  const nlohmann::json of_case = scores.json().at("cases").at(1);
  EXPECT_EQ(of_case.at("case"), "mr_1");
  EXPECT_NEAR(of_case.at("dice").at(0).get<double>(), dice_from(1), 1e-12);
  EXPECT_NEAR(of_case.at("dice").at(1).get<double>(), dice_from(2), 1e-12);
}

TEST(NnunetCli, InfoListsRegionsAsUnionsOfClasses) {
  Folder folder("nnunet_regions");
  write_framed_set(folder / "data");
  const CommandResult r = run_voxshard("info " + (folder / "data"));
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("regions: both = 1+2 inner = 2"));
}

TEST(NnunetCli, OptionsThatWouldChangeNnUNetsNumbersAreRefused) {
  Folder folder("nnunet_refused");
  write_framed_set(folder / "data");
  const std::string prepare = "prepare " + (folder / "data") + " -o " + (folder / "work") + " --convention nnunet";
  expect_refusal(prepare + " --clip 0,100", 2, "usage", "--clip");
  expect_refusal(prepare + " --normalise window", 2, "usage", "window");
  expect_refusal("prepare " + (folder / "data") + " -o " + (folder / "work") + " --convention monai", 2, "usage",
                 "convention");
}

TEST(NnunetCli, ADataSetIsConvertedWithItsProvenance) {
  Folder folder("nnunet_convert");
  write_framed_set(folder / "data");
  const std::string convert = "convert " + (folder / "data") + " -o " + (folder / "out") + " --to nnunet";
  EXPECT_EQ(run_voxshard(convert + " --keep-names").exit_code, 2) << "names of what?";
  const CommandResult r = run_voxshard(convert + " --provenance");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(nlohmann::json::parse(file_text(folder / "out/dataset.json")).at("regions_class_order"),
            nlohmann::json({1, 2}));
  const auto provenance = nlohmann::json::parse(file_text(folder / "out/imagesTr/mr_0_0000.json"));
  EXPECT_EQ(provenance.at("source").at("format"), "NIfTI");
  EXPECT_FALSE(provenance.at("source").contains("path"));
}

TEST(NnunetCli, MasksOfEachSubjectAreNoClassesButAreNamedWithTheNextStep) {
  Folder folder("masks");
  for (const char* subject : {"s0001", "s0002"}) {
    fs::create_directories(folder / ("data/" + std::string(subject) + "/segmentations"));
    write_cube(folder / ("data/" + std::string(subject) + "/ct.nii"), [](auto x, auto, auto) { return x; });
  }
  for (const std::string& words :
       {"info " + (folder / "data"), "prepare " + (folder / "data") + " -o " + (folder / "work")}) {
    const CommandResult r = run_voxshard(words);
    EXPECT_EQ(r.exit_code, 3) << words << r.out << r.err;
    EXPECT_THAT(r.err, HasSubstr("make one label map of whole numbers of each subject's masks"));
  }
}

}  // namespace
}  // namespace voxshard
