// What a class without a voxel in a case is: on boxes in memory, and on real head and neck CTs (VOXSHARD_TEST_DATA
// names the folder) with planted faults.
#include "pipelines/tasks/segmentation/labels/missing_classes.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "io/datasets/dataset.h"
#include "io/volume/volume.h"
#include "libcore/base/rng.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<std::string> kClassNames = {"background", "jaw", "larynx", "tumour"};

/// Volumes of 60 x 40 x 40 voxels of 2 mm with a jaw, a larynx 20 mm below it, both apart by up to a voxel from case to
/// case, and a tumour of any place and size in every other case.
struct Necks {
  explicit Necks(int cases) {
    for (int i = 0; i < cases; ++i) {
      Tensor labels(DType::kI32, {60, 40, 40});
      const auto draw = [&](std::uint64_t at, std::int64_t below) {
        return rng_below({.seed = 5, .stream = at}, static_cast<std::uint64_t>(i), below);
      };
      const std::int64_t jaw = 38 + draw(0, 3), left = 15 + draw(1, 2);
      put(labels, {{jaw, 10, left}, {8, 8, 12}}, 1);
      put(labels, {{jaw - 20 + draw(2, 2), 12, left + 2}, {8, 6, 6}}, 2);
      if (i % 2 == 0) put(labels, {{draw(3, 50), draw(4, 30), draw(5, 30)}, {1 + draw(6, 9), 2, 3}}, 3);
      maps.push_back(std::move(labels));
    }
  }
  static void put(Tensor& labels, const Box& box, std::int32_t label) {
    for (std::int64_t i = 0; i < labels.count(); ++i)
      if (box.contains({{i / 1600, i / 40 % 40, i % 40}, {1, 1, 1}})) labels.as<std::int32_t>()[i] = label;
  }
  void erase(std::size_t at, std::int32_t label) {
    for (std::int64_t i = 0; i < maps[at].count(); ++i)
      if (maps[at].as<std::int32_t>()[i] == label) maps[at].as<std::int32_t>()[i] = 0;
  }
  /// Cuts off the planes below `first`.
  void cut(std::size_t at, std::int64_t first) {
    Tensor rest(DType::kI32, {60 - first, 40, 40});
    std::copy_n(maps[at].as<std::int32_t>() + first * 1600, rest.count(), rest.as<std::int32_t>());
    maps[at] = std::move(rest);
  }
  Json records() const {
    Json records = Json::array();
    for (const Tensor& map : maps) {
      const Shape& shape = map.shape();
      Json record = {{"shape", {shape[0], shape[1], shape[2]}}, {"spacing_mm", {2.0, 2.0, 2.0}}};
      note_classes(map, 4, record);
      records.push_back(record);
    }
    return records;
  }
  std::vector<Tensor> maps;
};

const MissingClass& of(const std::vector<MissingClass>& decided, const std::string& name) {
  for (const MissingClass& one : decided)
    if (one.name == name) return one;
  throw std::runtime_error("nothing was decided about " + name);
}

TEST(MissingClasses, TheBoxesOfARecordAreThoseOfTheVoxels) {
  Tensor labels(DType::kI32, {3, 4, 5});
  labels.as<std::int32_t>()[0 * 20 + 1 * 5 + 2] = 1;
  labels.as<std::int32_t>()[2 * 20 + 3 * 5 + 0] = 1;
  labels.as<std::int32_t>()[59] = 7;  // ignored
  Json record;
  note_classes(labels, 3, record);
  EXPECT_EQ(record.at("class_voxels"), Json({57, 2, 0}));
  EXPECT_EQ(record.at("class_boxes"), Json({nullptr, {0, 1, 0, 3, 4, 3}, nullptr}));
}

TEST(MissingClasses, AutoTellsAClassThatIsInViewFromOneThatIsCutOff) {
  Necks necks(14);
  necks.erase(0, 2), necks.erase(3, 2);  // not contoured
  necks.cut(5, 34), necks.cut(6, 34);    // the larynx lies below
  Json records = necks.records();
  const std::vector<MissingClass> decided = decide_missing(records, kClassNames, MissingClasses::kAuto);
  const MissingClass& larynx = of(decided, "larynx");
  EXPECT_EQ(larynx.cases_with, 10);
  EXPECT_EQ(larynx.unknown, 2);
  EXPECT_EQ(larynx.empty, 2);
  EXPECT_EQ(larynx.why.at("its place is out of view"), 2);
  for (std::size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(records[i].contains("annotated"), i == 0 || i == 3) << i;
    if (records[i].contains("annotated")) {
      EXPECT_EQ(records[i].at("annotated"), Json({"jaw", "tumour"})) << "the tumour is truly not there";
    }
  }
  EXPECT_THAT(
      to_text(decided, MissingClasses::kAuto),
      HasSubstr("larynx: 10 cases have it; of those without, 2 count as not annotated, 2 as empty (its place is "
                "out of view)\n"));
}

TEST(MissingClasses, ATumourOfAnyPlaceOrInFewCasesCountsAsEmpty) {
  Necks necks(30);
  Json records = necks.records();
  const MissingClass tumour = of(decide_missing(records, kClassNames, MissingClasses::kAuto), "tumour");
  EXPECT_EQ(tumour.unknown, 0);
  EXPECT_EQ(tumour.empty, 15);
  Necks few(9);
  few.erase(0, 2), few.erase(1, 2);
  records = few.records();
  const MissingClass larynx = of(decide_missing(records, kClassNames, MissingClasses::kAuto), "larynx");
  EXPECT_EQ(larynx.unknown, 0);
  EXPECT_EQ(larynx.why.at("in fewer than 8 cases"), 2);
}

/// A case of 100 x 40 x 40 voxels of 2 mm with three classes of these planes; {0, 0}: the class has no voxel.
Json record_of_planes(const std::vector<std::array<std::int64_t, 2>>& planes) {
  Json record = {{"shape", {100, 40, 40}}, {"spacing_mm", {2.0, 2.0, 2.0}}};
  record["class_voxels"] = {0}, record["class_boxes"] = {nullptr};
  for (const auto& [low, high] : planes) {
    record["class_voxels"].push_back(high > low ? 100 : 0);
    record["class_boxes"].push_back(high > low ? Json({low, 10, 10, high, 20, 20}) : Json());
  }
  return record;
}

TEST(MissingClasses, AClassIsInViewThoughTwoOthersTellThatItEndsBeforeItBegins) {
  Json records = Json::array();  // the larynx begins 30 planes below the jaw, and ends 5 below the tongue
  for (std::int64_t i = 0; i < 12; ++i) {
    const std::int64_t jaw = 70 + i % 3, low = jaw - 30, high = low + 6 + 2 * (i % 4);
    records.push_back(record_of_planes({{jaw, jaw + 8}, {low, high}, {high + 5, high + 9}}));
  }
  records.push_back(record_of_planes({{70, 78}, {0, 0}, {40, 44}}));  // from 40 to 35, in a view of 100 planes
  const MissingClass larynx =
      of(decide_missing(records, {"background", "jaw", "larynx", "tongue"}, MissingClasses::kAuto), "larynx");
  EXPECT_EQ(larynx.cases_with, 12);
  EXPECT_EQ(larynx.unknown, 1);
}

TEST(MissingClasses, WhatTheDataSetSaysStandsAndTheOtherRulesAskNothing) {
  Necks necks(14);
  necks.erase(0, 2), necks.erase(3, 2);
  for (const MissingClasses rule : {MissingClasses::kUnknown, MissingClasses::kBackground, MissingClasses::kAuto}) {
    Json records = necks.records();
    records[0]["annotated"] = {"jaw"};
    const std::vector<MissingClass> decided = decide_missing(records, kClassNames, rule);
    EXPECT_EQ(records[0].at("annotated"), Json({"jaw"}));
    EXPECT_EQ(records[3].contains("annotated"), rule != MissingClasses::kBackground);
    EXPECT_EQ(of(decided, "larynx").unknown, rule != MissingClasses::kBackground);
    EXPECT_EQ(of(decided, "larynx").empty, rule == MissingClasses::kBackground);
    EXPECT_EQ(of(decided, "tumour").unknown, rule == MissingClasses::kUnknown ? 7 : 0);
  }
  Json complete = Json::array();
  EXPECT_TRUE(decide_missing(complete, kClassNames, MissingClasses::kAuto).empty());
}

/// The training cases of OpenKBP as label maps in memory.
struct RealCases {
  std::vector<Volume> labels;
  std::vector<std::string> names;

  static const RealCases* get() {
    static const RealCases real = read();
    return real.labels.empty() ? nullptr : &real;
  }
  static Json record_of(const Tensor& labels, const Geometry& geometry, std::size_t classes) {
    const Shape& shape = labels.shape();
    Json record = {{"shape", {shape[0], shape[1], shape[2]}}, {"spacing_mm", geometry.spacing}};
    note_classes(labels, static_cast<int>(classes), record);
    return record;
  }

 private:
  static RealCases read() {
    const char* root = std::getenv("VOXSHARD_TEST_DATA");
    const std::filesystem::path folder = std::filesystem::path(root == nullptr ? "" : root) / "ct/Dataset001_OpenKBP";
    RealCases real;
    if (root == nullptr || !std::filesystem::exists(folder)) return real;
    const Dataset dataset = read_dataset(folder);
    real.names = dataset.label_names;
    for (const Case& item : dataset.training) real.labels.push_back(read_label(*item.label));
    return real;
  }
};

#define SKIP_WITHOUT_REAL_CASES() \
  if (RealCases::get() == nullptr) GTEST_SKIP() << "VOXSHARD_TEST_DATA is not set, or holds no OpenKBP"

TEST(MissingClassesReal, DeletedLabelsOfFiveOrgansAreFoundIn95OfAHundred) {
  SKIP_WITHOUT_REAL_CASES();
  const RealCases& real = *RealCases::get();
  int right = 0, deleted = 0;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    Json records = Json::array();
    std::set<std::pair<std::size_t, std::size_t>> gone;
    for (std::size_t i = 0; i < real.labels.size(); ++i) {
      records.push_back(RealCases::record_of(real.labels[i].voxels, real.labels[i].geometry, real.names.size()));
      for (std::size_t c = 1; c <= 5; ++c)  // those that every case has
        if (rng_uniform({.seed = seed, .stream = c}, i) < 0.2) {
          gone.emplace(i, c);
          records.back()["class_voxels"][c] = 0, records.back()["class_boxes"][c] = nullptr;
        }
    }
    decide_missing(records, real.names, MissingClasses::kAuto);
    for (const auto& [i, c] : gone) {
      const bool unknown =
          records[i].contains("annotated") && std::ranges::count(records[i].at("annotated"), Json(real.names[c])) == 0;
      right += unknown, ++deleted;
    }
  }
  RecordProperty("right", right), RecordProperty("deleted", deleted);
  std::printf("%d of %d deleted labels are called unknown\n", right, deleted);
  EXPECT_GE(right, 0.95 * deleted);
}

TEST(MissingClassesReal, OrgansThatAreCutOffAreNeverCalledUnknown) {
  SKIP_WITHOUT_REAL_CASES();
  const RealCases& real = *RealCases::get();
  int wrong = 0, empty = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    Json records = Json::array(), whole = Json::array();
    for (std::size_t i = 0; i < real.labels.size(); ++i) {
      const Volume& label = real.labels[i];
      whole.push_back(RealCases::record_of(label.voxels, label.geometry, real.names.size()));
      const auto chance = [&](std::uint64_t stream) { return rng_uniform({.seed = seed, .stream = stream}, i); };
      Box part = Box::whole(label.voxels.shape());
      if (chance(0) < 0.4) {  // cut off a part of 30 to 80 %
        const int axis = chance(1) < 0.6 ? 0 : chance(1) < 0.8 ? 1 : 2;
        const std::int64_t extent = part.extent[axis],
                           kept = static_cast<std::int64_t>(static_cast<double>(extent) * (0.2 + 0.5 * chance(2)));
        chance(3) < 0.5 ? part.set(axis, 0, kept) : part.set(axis, extent - kept, extent);
      }
      Tensor voxels(DType::kI32, part.extent);
      TensorView view = voxels.view();
      view.box = part;
      copy(label.voxels.view(), view);
      records.push_back(RealCases::record_of(voxels, label.geometry, real.names.size()));
    }
    decide_missing(records, real.names, MissingClasses::kAuto);
    for (std::size_t i = 0; i < records.size(); ++i)
      for (std::size_t c = 1; c < real.names.size(); ++c) {
        if (whole[i].at("class_voxels").at(c) == 0 || records[i].at("class_voxels").at(c) != 0) continue;
        ++empty;
        wrong += records[i].contains("annotated") &&
                 std::ranges::count(records[i].at("annotated"), Json(real.names[c])) == 0;
      }
  }
  std::printf("%d of %d organs that were cut off are called unknown\n", wrong, empty);
  EXPECT_GT(empty, 100);
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace voxshard
