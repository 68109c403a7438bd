// A check of real head and neck CTs with labels: few findings in 40 cases, a real labelling error, and faults that are
// planted in memory. VOXSHARD_TEST_DATA names the folder of the data.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "pipelines/tasks/segmentation/checks/check_dataset.h"
#include "tests/scratch_folder.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::HasSubstr;
using Codes = std::set<std::string>;

constexpr const char* kSet = "ct/Dataset001_OpenKBP";
constexpr int kBrainstem = 1, kCord = 2, kRightParotid = 3, kLeftParotid = 4, kMandible = 5;

/// Returns the folder of the data; none when the variable is not set.
std::optional<fs::path> real_data() {
  const char* root = std::getenv("VOXSHARD_TEST_DATA");
  if (root == nullptr || !fs::exists(fs::path(root) / kSet)) return std::nullopt;
  return fs::path(root);
}

#define SKIP_WITHOUT_DATA() \
  if (!real_data()) GTEST_SKIP() << "VOXSHARD_TEST_DATA is not set, or holds no " << kSet

/// The training cases of the set with their facts, read once.
struct RealSet {
  std::vector<Volume> images, labels;
  CheckedSet set;

  static const RealSet& get() {
    static const RealSet real = read();
    return real;
  }
  static FactOptions options() { return {.classes = 8, .deep = true}; }

  static RealSet read() {
    const Dataset dataset = read_dataset(*real_data() / kSet);
    RealSet real{.images = {}, .labels = {}, .set = {.class_names = dataset.label_names, .is_ct = true}};
    for (const Case& item : dataset.training) {
      real.images.push_back(read_image(item.images[0]));
      real.labels.push_back(read_label(*item.label));
      real.set.cases.push_back(facts_of(item.id, real.images.back(), real.labels.back()));
    }
    return real;
  }
  static CaseFacts facts_of(const std::string& id, const Volume& image, const Volume& label) {
    CaseFacts facts{.id = id, .part = "training"};
    add_label_facts(label, options(), facts);
    add_image_facts(image, &label, facts);
    return facts;
  }
  /// Returns the codes of the findings about case `i` when it has this image and label map instead of its own.
  Codes codes_with(std::size_t i, const Volume& image, const Volume& label) const {
    CheckedSet changed = set;
    changed.cases[i] = facts_of(set.cases[i].id, image, label);
    Codes codes;
    for (const Finding& f : apply_rules(check_rules(), changed))
      if (f.id == set.cases[i].id) codes.insert(f.code);
    return codes;
  }
};

Volume with_classes_swapped(const Volume& label, int a, int b) {
  Volume swapped = label;
  auto* v = swapped.voxels.as<std::int32_t>();
  for (std::int64_t i = 0; i < swapped.voxels.count(); ++i) v[i] = v[i] == a ? b : v[i] == b ? a : v[i];
  return swapped;
}

/// Returns the label map moved by whole voxels along x, y or z; what comes in from outside is background.
Volume moved(const Volume& label, int axis, std::int64_t voxels) {
  Volume result = label;
  const Shape shape = label.voxels.shape();
  const auto* from = label.voxels.as<std::int32_t>();
  auto* to = result.voxels.as<std::int32_t>();
  std::int64_t i = 0;
  for (std::int64_t z = 0; z < shape[0]; ++z)
    for (std::int64_t y = 0; y < shape[1]; ++y)
      for (std::int64_t x = 0; x < shape[2]; ++x, ++i) {
        std::int64_t source[] = {z, y, x};
        source[2 - axis] -= voxels;
        const bool inside = source[2 - axis] >= 0 && source[2 - axis] < shape[2 - axis];
        to[i] = inside ? from[(source[0] * shape[1] + source[1]) * shape[2] + source[2]] : 0;
      }
  return result;
}

/// Returns the voxels of `image` on the grid of `grid`, middle on middle, with air around them.
Volume on_grid_of(const Volume& image, const Volume& grid) {
  Volume result = grid;
  const Shape from = image.voxels.shape(), to = grid.voxels.shape();
  std::int64_t i = 0;
  for (std::int64_t z = 0; z < to[0]; ++z)
    for (std::int64_t y = 0; y < to[1]; ++y)
      for (std::int64_t x = 0; x < to[2]; ++x, ++i) {
        const std::int64_t at[] = {z + (from[0] - to[0]) / 2, y + (from[1] - to[1]) / 2, x + (from[2] - to[2]) / 2};
        const bool inside =
            at[0] >= 0 && at[0] < from[0] && at[1] >= 0 && at[1] < from[1] && at[2] >= 0 && at[2] < from[2];
        result.voxels.as<float>()[i] =
            inside ? image.voxels.as<float>()[(at[0] * from[1] + at[1]) * from[2] + at[2]] : -1000;
      }
  return result;
}

bool has_any(const Codes& codes, const Codes& wanted) {
  return std::any_of(wanted.begin(), wanted.end(), [&](const std::string& code) { return codes.contains(code); });
}

TEST(CheckReal, AtMostThreeFindingsIn40CasesEachWithItsPicture) {
  SKIP_WITHOUT_DATA();
  const ScratchFolder folder("check_real");
  NoProgress progress;
  const CheckReport report = check_dataset(
      {.dataset = *real_data() / kSet, .deep = true, .output = folder.path() / "out"}, {progress, {.threads = 2}});
  EXPECT_EQ(report.training, 40);
  EXPECT_LE(report.findings.size(), 3u) << to_text(report);
  for (const Finding& f : report.findings) {
    EXPECT_FALSE(excludes(f)) << f.what;
    EXPECT_TRUE(fs::exists(folder.path() / "out" / f.picture) && !f.picture.empty()) << f.code;
  }
}

TEST(CheckReal, TheSuspectCaseIsFoundAmongThe40) {
  SKIP_WITHOUT_DATA();
  const ScratchFolder folder("check_suspect");
  for (const char* part : {"imagesTr", "labelsTr"}) {
    fs::create_directories(folder.path() / part);
    for (const auto& entry : fs::directory_iterator(*real_data() / kSet / part))
      fs::create_symlink(entry.path(), folder.path() / part / entry.path().filename());
  }
  fs::copy_file(*real_data() / kSet / "dataset.json", folder.path() / "dataset.json");
  const fs::path suspect = *real_data() / "ct/suspect";
  fs::create_symlink(suspect / "pt_260_ct.nii.gz", folder.path() / "imagesTr/pt_260_0000.nii.gz");
  fs::create_symlink(suspect / "pt_260_label.nii.gz", folder.path() / "labelsTr/pt_260.nii.gz");
  NoProgress progress;
  for (const bool deep : {false, true}) {
    const CheckReport report = check_dataset({.dataset = folder.path(), .deep = deep}, {progress, {.threads = 2}});
    EXPECT_EQ(report.training, 41);
    std::size_t about_others = 0;
    Codes codes;
    for (const Finding& f : report.findings) {
      if (f.id != "pt_260") {
        ++about_others;
        continue;
      }
      codes.insert(f.code);
      if (f.code == "W_VOLUME") {
        EXPECT_THAT(f.what, HasSubstr("SpinalCord (2) has 419"));
      }
    }
    EXPECT_THAT(codes, Contains("W_VOLUME")) << to_text(report);
    EXPECT_LE(about_others, 3u) << to_text(report);
  }
}

TEST(CheckReal, LeftAndRightSwappedAreFoundInEachCase) {
  SKIP_WITHOUT_DATA();
  const RealSet& real = RealSet::get();
  for (std::size_t i = 0; i < real.images.size(); ++i)
    EXPECT_THAT(real.codes_with(i, real.images[i], with_classes_swapped(real.labels[i], kRightParotid, kLeftParotid)),
                Contains("W_SIDES"))
        << real.set.cases[i].id;
}

TEST(CheckReal, TwoSwappedOrgansAreFoundInEachCase) {
  SKIP_WITHOUT_DATA();
  const RealSet& real = RealSet::get();
  const Codes of_classes = {"W_VOLUME", "W_EXTENT", "W_INTENSITY", "W_PLACE", "W_ORDER"};
  for (const auto& [a, b] : {std::pair(kBrainstem, kCord), {kBrainstem, kMandible}, {kCord, kRightParotid}})
    for (std::size_t i = 0; i < real.images.size(); ++i)
      EXPECT_TRUE(has_any(real.codes_with(i, real.images[i], with_classes_swapped(real.labels[i], a, b)), of_classes))
          << real.set.cases[i].id << ": " << a << " and " << b;
}

TEST(CheckReal, LabelsShiftedByThreeVoxelsAreFoundAlongEachAxis) {
  SKIP_WITHOUT_DATA();
  const RealSet& real = RealSet::get();
  for (std::size_t i = 0; i < real.images.size(); i += 2)
    for (int axis = 0; axis < 3; ++axis)
      for (const int voxels : {-3, 3})
        EXPECT_THAT(real.codes_with(i, real.images[i], moved(real.labels[i], axis, voxels)), Contains("W_SHIFT"))
            << real.set.cases[i].id << ": axis " << axis << ", " << voxels;
}

TEST(CheckReal, LabelsShiftedByOneVoxelAreFoundAlongEachAxis) {
  SKIP_WITHOUT_DATA();
  const RealSet& real = RealSet::get();
  for (std::size_t i = 1; i < real.images.size(); i += 2)
    for (int axis = 0; axis < 3; ++axis)
      for (const int voxels : {-1, 1})
        EXPECT_THAT(real.codes_with(i, real.images[i], moved(real.labels[i], axis, voxels)), Contains("W_SHIFT"))
            << real.set.cases[i].id << ": axis " << axis << ", " << voxels;
}

TEST(CheckReal, TheImageOfAnotherPatientIsFound) {
  SKIP_WITHOUT_DATA();
  const RealSet& real = RealSet::get();
  const std::size_t n = real.images.size();
  for (std::size_t i = 0; i < n; ++i) {
    const Volume image = on_grid_of(real.images[(i + 1) % n], real.images[i]);
    EXPECT_TRUE(has_any(real.codes_with(i, image, real.labels[i]), {"W_FIT", "W_SHIFT"})) << real.set.cases[i].id;
  }
}

TEST(CheckReal, ADoubledCaseIsFound) {
  SKIP_WITHOUT_DATA();
  const ScratchFolder folder("check_double");
  for (const char* part : {"imagesTr", "labelsTr"}) fs::create_directories(folder.path() / part);
  fs::copy_file(*real_data() / kSet / "dataset.json", folder.path() / "dataset.json");
  const Dataset dataset = read_dataset(*real_data() / kSet);
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string id = i < 2 ? dataset.training[i].id : "twin";
    const Case& source = dataset.training[i % 2];
    fs::copy_file(source.images[0], folder.path() / "imagesTr" / (id + "_0000.nii.gz"));
    fs::copy_file(*source.label, folder.path() / "labelsTr" / (id + ".nii.gz"));
  }
  NoProgress progress;
  const CheckReport report = check_dataset({.dataset = folder.path()}, progress);
  ASSERT_EQ(report.findings.size(), 1u) << to_text(report);
  EXPECT_EQ(report.findings[0].code, "W_DOUBLE");
  EXPECT_THAT(report.findings[0].what, HasSubstr("the image and the label map of"));
}

}  // namespace
}  // namespace voxshard
