// Left and right by where classes lie, whatever their names say.
#include "pipelines/tasks/segmentation/sides/placed_pairs.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>

#include "libcore/base/rng.h"
#include "pipelines/tasks/segmentation/dataset/prepared_dataset.h"
#include "tests/pipelines/tasks/segmentation/sides/sided_scene.h"

namespace voxshard {
namespace {

using testing::ElementsAre, testing::IsEmpty;

constexpr int kSpineClass = 1, kOne = 2, kOther = 3, kLiver = 4;

/// A case with a spine in the middle, an organ on each side of it, 120 mm apart and at a height of their own, and a
/// liver on the right.
CasePlaces body(std::uint64_t number) {
  const auto jitter = [&](std::uint64_t what, double mm) {
    return mm * (2 * rng_uniform({.seed = 9, .stream = what}, number) - 1);
  };
  const double middle = jitter(0, 30);
  CasePlaces places{.middle_mm = middle, .classes = std::vector<std::optional<CasePlaces::Place>>(5)};
  const auto at = [&](double x, double z, double mm3) {
    return CasePlaces::Place{.centre_mm = {middle + x + jitter(1, 4), jitter(2, 5), z}, .volume_mm3 = mm3};
  };
  places.classes[kSpineClass] = at(0, 0, 9000);
  places.classes[kOne] = at(-60, 20 + jitter(3, 10), 5000);
  places.classes[kOther] = at(60, 20, 5500);
  places.classes[kLiver] = at(-50, 40, 60000);
  return places;
}

std::vector<CasePlaces> bodies(std::uint64_t count) {
  std::vector<CasePlaces> cases;
  for (std::uint64_t i = 0; i < count; ++i) cases.push_back(body(i));
  return cases;
}

TEST(PlacedPairs, AreThoseThatMirrorEachOther) {
  EXPECT_THAT(pairs_by_place(bodies(8), {}), ElementsAre(SidePair{.left = kOther, .right = kOne}));
  EXPECT_THAT(pairs_by_place({}, {}), IsEmpty());
  EXPECT_THAT(pairs_by_place(bodies(8), {{.left = kOther, .right = kLiver}}), IsEmpty()) << "its names tell another";
}

TEST(PlacedPairs, AreNoneWhereCasesAreFewOrDisagree) {
  EXPECT_THAT(pairs_by_place(bodies(4), {}), IsEmpty());
  std::vector<CasePlaces> cases = bodies(12);
  const auto without = [&](const auto& change) {
    std::vector<CasePlaces> changed = cases;
    change(changed);
    return pairs_by_place(changed, {});
  };
  EXPECT_THAT(without([](auto& c) { std::swap(c[3].classes[kOne], c[3].classes[kOther]); }), IsEmpty()) << "turned";
  EXPECT_THAT(without([](auto& c) {
                for (std::size_t i = 0; i < 7; ++i) c[i].classes[kOne].reset();
              }),
              IsEmpty())
      << "seven cases have only one of them";
  EXPECT_THAT(without([](auto& c) {
                for (CasePlaces& one : c) one.classes[kOne]->volume_mm3 *= 1.7;
              }),
              IsEmpty());
  for (const std::size_t axis : {1, 2})
    EXPECT_THAT(without([&](auto& c) {
                  for (CasePlaces& one : c) one.classes[kOne]->centre_mm[axis] -= 50;
                }),
                IsEmpty());
  EXPECT_THAT(without([](auto& c) {
                for (CasePlaces& one : c) one.middle_mm += 40;
              }),
              IsEmpty());
  EXPECT_THAT(without([](auto& c) { c[3].classes[kOne]->volume_mm3 *= 3; }),
              ElementsAre(SidePair{.left = kOther, .right = kOne}))
      << "one odd case of twelve";
}

TEST(PlacedPairs, OfAClassThatHasTwoCandidatesTheBetterIsTaken) {
  std::vector<CasePlaces> cases = bodies(8);
  for (CasePlaces& one : cases) {
    one.classes.push_back(one.classes[kOne]);
    one.classes.back()->centre_mm[2] += 15;
  }
  EXPECT_THAT(pairs_by_place(cases, {}), ElementsAre(SidePair{.left = kOther, .right = kOne}));
}

TEST(PlacedPairs, OfOpenKBPAreTheParotidGlands) {
  const char* folder = std::getenv("VOXSHARD_TEST_DATA");
  const std::filesystem::path data =
      std::filesystem::path(folder == nullptr ? "" : folder) / "ct" / "Dataset001_OpenKBP";
  if (folder == nullptr || !std::filesystem::exists(data)) GTEST_SKIP() << "VOXSHARD_TEST_DATA has no OpenKBP";
  Dataset dataset = read_dataset(data);
  std::vector<CasePlaces> cases;
  for (std::size_t i = 0; i < 12; ++i) {
    const Volume label = read_label(*dataset.training.at(i).label);
    std::vector<std::vector<std::int32_t>> rows(8);
    std::vector<std::int64_t> voxels(8);
    for (std::int64_t v = 0; v < label.voxels.count(); ++v) {
      const int c = label.voxels.as<std::int32_t>()[v];
      const auto size = label.geometry.size;
      for (const std::int64_t index : {v / (size[0] * size[1]), v / size[0] % size[1], v % size[0]})
        rows.at(c).push_back(static_cast<std::int32_t>(index));
      ++voxels.at(c);
    }
    std::vector<Tensor> tensors(8);
    for (std::size_t c = 1; c < rows.size(); ++c) {
      if (rows[c].empty()) continue;
      tensors[c] = Tensor(DType::kI32, {std::ssize(rows[c]) / 3, 3});
      std::ranges::copy(rows[c], tensors[c].as<std::int32_t>());
    }
    cases.push_back(case_places(label.geometry, tensors, voxels));
  }
  EXPECT_THAT(pairs_by_place(cases, {}), ElementsAre(SidePair{.left = 4, .right = 3}));
}

TEST(PlacedPairs, AreTrainedAsOneClassByTheRecipe) {
  SidedScene scene("sided_placed", {.cases = 6, .names = {"background", "spine", "K1", "K2"}});
  run_train(scene.options("run", Sides::kAuto), scene.progress);
  EXPECT_EQ(load_trained_run({.run = scene.path("run")}).spec.as<UNetConfig>().classes, 3);
  EXPECT_THAT(
      scene.progress.lines,
      testing::Contains("sides: K2 and K1 lie as left and right do in the training cases; their names do not say it"));
  scene.progress = {};
  TrainOptions keep = scene.options("keep", Sides::kKeep);
  volumes(keep).sampling.flip = {false, false, true};
  run_train(keep, scene.progress);
  EXPECT_EQ(load_trained_run({.run = scene.path("keep")}).spec.as<UNetConfig>().classes, 4);
  EXPECT_THAT(scene.progress.lines, testing::Contains(testing::HasSubstr("\"K2\" and \"K1\" are classes")));
}

}  // namespace
}  // namespace voxshard
