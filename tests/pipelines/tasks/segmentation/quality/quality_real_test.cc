// The flags of real head and neck CTs by their true labels: what is usual of 40 cases, held against 16 others, as they
// are and broken. VOXSHARD_TEST_DATA names the folder of the data.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <set>

#include "libcore/base/rng.h"
#include "pipelines/tasks/segmentation/dataset/prepare_dataset.h"
#include "pipelines/tasks/segmentation/dataset/prepare_image.h"
#include "pipelines/tasks/segmentation/quality/quality_rules.h"
#include "pipelines/tasks/segmentation/quality/training_ranges.h"
#include "tests/pipelines/pipeline_scene.h"

namespace voxshard {
namespace {

struct RealCase {
  Volume image, labels;
};
using Break = std::function<void(RealCase&)>;

void add_to_voxels(Volume& image, const std::function<double(std::int64_t)>& value) {
  for (std::int64_t i = 0; i < image.voxels.count(); ++i) image.voxels.as<float>()[i] += static_cast<float>(value(i));
}

/// Keeps the half of the planes with the lowest z.
void halve(Volume& volume) {
  volume.geometry.size[2] /= 2;
  Box box = Box::whole(volume.geometry.shape());
  Tensor half(volume.voxels.dtype(), volume.geometry.shape());
  copy(volume.voxels.view().sub(box), half.view());
  volume.voxels = std::move(half);
}

/// Swaps foot and head of the voxels, whose geometry says nothing of it.
void turn(Volume& volume) {
  const Tensor was = volume.voxels;
  const std::int64_t plane = was.bytes() / volume.geometry.size[2];
  for (std::int64_t z = 0; z < volume.geometry.size[2]; ++z)
    std::memcpy(static_cast<std::byte*>(volume.voxels.data()) + z * plane,
                static_cast<const std::byte*>(was.data()) + (volume.geometry.size[2] - 1 - z) * plane,
                static_cast<std::size_t>(plane));
}

/// The number of cases with any flag, and with each.
struct Found {
  std::size_t any = 0;
  std::map<std::string, std::size_t> by_code;
};

/// The ranges of the training cases, and the test cases.
struct RealRanges : Scene {
  RealRanges(const std::filesystem::path& folder) : Scene("quality_real"), dataset(read_dataset(folder)) {
    prepare_dataset({.dataset = folder, .work = work()}, {progress, {.threads = 2}});
    const PreparedDataset prepared = read_prepared(work());
    plan = prepared.plan;
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < prepared.cases.size(); ++i) all.push_back(i);
    ranges = training_ranges(prepared, all);
  }
  Found flags_of_test_cases(const Break& break_it) const {
    Found found;
    std::vector<double> least;
    for (const ClassRange& range : ranges.classes) least.push_back(range.least_part_ml);
    for (const auto& entry : std::filesystem::directory_iterator(dataset.folder / "labelsTs")) {
      const std::string id = entry.path().stem().stem().string();
      RealCase item{read_image(dataset.folder / "imagesTs" / (id + "_0000.nii.gz")), read_label(entry.path())};
      break_it(item);
      const QualityFacts facts{
          .labels = label_facts(LabelSlabs::of(item.labels.voxels), item.labels.geometry, least, 0),
          .channels = {intensity_quantiles(prepare_image(std::move(item.image), plan).image.voxels)}};
      std::set<std::string> codes;
      for (const QualityFlag& flag : quality_flags(facts, ranges, plan.class_names)) codes.insert(flag.code);
      found.any += !codes.empty();
      for (const std::string& code : codes) ++found.by_code[code];
    }
    return found;
  }
  Dataset dataset;
  RecordingProgress progress;
  PreparePlan plan;
  QualityRanges ranges;
};

TEST(QualityReal, UntouchedHeadsAndNecksGetNoFlagAndBrokenOnesDo) {
  const char* root = std::getenv("VOXSHARD_TEST_DATA");
  const std::filesystem::path folder = std::filesystem::path(root == nullptr ? "" : root) / "ct/Dataset001_OpenKBP";
  if (root == nullptr || !std::filesystem::exists(folder))
    GTEST_SKIP() << "VOXSHARD_TEST_DATA is not set, or holds no OpenKBP";
  const RealRanges real(folder);
  ASSERT_EQ(real.ranges.cases, 40);
  const auto measured = [&](const char* name, const Break& break_it) {
    const Found found = real.flags_of_test_cases(break_it);
    std::printf("%s: %zu of 16 flagged", name, found.any);
    for (const auto& [code, count] : found.by_code) std::printf(", %s %zu", code.c_str(), count);
    std::printf("\n");
    return found;
  };
  EXPECT_EQ(measured("untouched", [](RealCase&) {}).any, 0u);
  EXPECT_EQ(
      measured("half of the slices", [](RealCase& item) { halve(item.image), halve(item.labels); }).by_code["W_VIEW"],
      16u);
  EXPECT_GE(measured("noise of 100 HU",
                     [](RealCase& item) {
                       add_to_voxels(item.image, [](std::int64_t i) {
                         return 100 * rng_normal({.seed = 4, .stream = 1}, static_cast<std::uint64_t>(i));
                       });
                     })
                .by_code["W_HISTOGRAM"],
            15u);
  EXPECT_GE(measured("150 HU more", [](RealCase& item) { add_to_voxels(item.image, [](std::int64_t) { return 150; }); })
                .by_code["W_HISTOGRAM"],
            9u);
  EXPECT_GE(
      measured("150 HU less", [](RealCase& item) { add_to_voxels(item.image, [](std::int64_t) { return -150; }); })
          .by_code["W_HISTOGRAM"],
      6u);
  EXPECT_EQ(measured("left and right parotid swapped",
                     [](RealCase& item) {
                       for (std::int64_t i = 0; i < item.labels.voxels.count(); ++i) {
                         std::int32_t& label = item.labels.voxels.as<std::int32_t>()[i];
                         label = label == 3 ? 4 : label == 4 ? 3 : label;
                       }
                     })
                .by_code["W_PLACE"],
            16u);
  EXPECT_GE(
      measured("foot and head swapped", [](RealCase& item) { turn(item.image), turn(item.labels); }).by_code["W_PLACE"],
      11u);
  EXPECT_EQ(measured("no mandible",
                     [](RealCase& item) {
                       for (std::int64_t i = 0; i < item.labels.voxels.count(); ++i)
                         if (item.labels.voxels.as<std::int32_t>()[i] == 5)
                           item.labels.voxels.as<std::int32_t>()[i] = 0;
                     })
                .by_code["W_ABSENT"],
            16u);
}

}  // namespace
}  // namespace voxshard
