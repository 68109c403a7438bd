// The grids of `voxshard verify` that the first release promises, at the promised size, and six of every classifier.
// Slow: up to a minute each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/run_voxshard.h"

namespace voxshard {
namespace {

struct Grid {
  const char *size, *partition;
  int batch = 1;
  const char* model = "unet3d --base-filters 8";
};

class SlowGrid : public testing::TestWithParam<std::tuple<Grid, const char*>> {};

TEST_P(SlowGrid, EqualsTheUncutModel) {
  const auto& [grid, precision] = GetParam();
  const CommandResult r =
      run_voxshard("verify --model " + std::string(grid.model) + " --json --size " + grid.size + " --partition " +
                   grid.partition + " --batch " + std::to_string(grid.batch) + " --precision " + precision);
  EXPECT_EQ(r.exit_code, 0) << r.out << r.err;
  EXPECT_EQ(r.json().at("equal"), true) << r.out;
}

std::string name_of(const testing::TestParamInfo<SlowGrid::ParamType>& info) {
  const Grid& grid = std::get<0>(info.param);
  return std::string(grid.size) + "_over_" + grid.partition + "_" + std::get<1>(info.param);
}

std::string name_with_model(const testing::TestParamInfo<SlowGrid::ParamType>& info) {
  const std::string model = std::get<0>(info.param).model;
  return model.substr(0, model.find(' ')) + "_" + name_of(info);
}

INSTANTIATE_TEST_SUITE_P(Grids, SlowGrid,
                         testing::Combine(testing::Values(Grid{"48x40x56", "1x2x2x2x1"}, Grid{"48x40x56", "1x8x1x1x1"},
                                                          Grid{"48x40x56", "1x16x1x1x1"}, Grid{"48x40x56", "1x4x2x2x1"},
                                                          Grid{"48x40x56", "2x2x2x1x1", 2},
                                                          Grid{"37x29x43", "1x2x2x2x1"},
                                                          Grid{"37x29x43", "1x16x1x1x1"}),
                                          testing::Values("f32", "bf16")),
                         name_of);

/// Returns the grids over which a classifier is verified: odd parts, more parts than deep layers have planes, batches.
std::vector<Grid> grids_of(const char* model, const char* size, const std::vector<std::pair<const char*, int>>& cuts) {
  std::vector<Grid> grids;
  for (const auto& [partition, batch] : cuts) grids.push_back({size, partition, batch, model});
  return grids;
}

std::vector<Grid> grids_of_classifiers() {
  const std::vector<std::pair<const char*, int>> flat = {{"1x2x2x1", 3}, {"1x4x1x1", 2},  {"1x1x4x1", 2},
                                                         {"1x3x5x1", 1}, {"1x16x1x1", 2}, {"2x2x2x1", 3}},
                                                 deep = {{"1x2x2x2x1", 1}, {"1x4x1x1x1", 2}, {"1x1x4x1x1", 1},
                                                         {"1x3x1x5x1", 1}, {"1x8x2x1x1", 2}, {"2x2x1x2x1", 3}};
  std::vector<Grid> all;
  for (const auto& part : {grids_of("digits --size-multiplier 2", "56x56", flat),
                           grids_of("resnet18 --base-filters 8 --classes 7", "97x75", flat),
                           grids_of("resnet34 --base-filters 8 --classes 7", "75x97", flat),
                           grids_of("resnet50 --base-filters 8 --classes 7", "81x67", flat),
                           grids_of("resnet3d18 --base-filters 8 --classes 7", "17x49x43", deep),
                           grids_of("r2plus1d18 --base-filters 8 --classes 7", "13x43x49", deep)})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

INSTANTIATE_TEST_SUITE_P(Classifiers, SlowGrid,
                         testing::Combine(testing::ValuesIn(grids_of_classifiers()), testing::Values("f32", "bf16")),
                         name_with_model);

}  // namespace
}  // namespace voxshard
