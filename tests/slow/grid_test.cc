// The grids of `voxshard verify` that the first release promises, at the promised size. Slow: about a minute each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/run_voxshard.h"

namespace voxshard {
namespace {

struct Grid {
  const char *size, *partition;
  int batch = 1;
};

class SlowGrid : public testing::TestWithParam<std::tuple<Grid, const char*>> {};

TEST_P(SlowGrid, EqualsTheUncutModel) {
  const auto& [grid, precision] = GetParam();
  const CommandResult r =
      run_voxshard("verify --model unet3d --base-filters 8 --json --size " + std::string(grid.size) + " --partition " +
                   grid.partition + " --batch " + std::to_string(grid.batch) + " --precision " + precision);
  EXPECT_EQ(r.exit_code, 0) << r.out << r.err;
  EXPECT_EQ(r.json().at("equal"), true) << r.out;
}

std::string name_of(const testing::TestParamInfo<SlowGrid::ParamType>& info) {
  const Grid& grid = std::get<0>(info.param);
  return std::string(grid.size) + "_over_" + grid.partition + "_" + std::get<1>(info.param);
}

INSTANTIATE_TEST_SUITE_P(Grids, SlowGrid,
                         testing::Combine(testing::Values(Grid{"48x40x56", "1x2x2x2x1"}, Grid{"48x40x56", "1x8x1x1x1"},
                                                          Grid{"48x40x56", "1x16x1x1x1"}, Grid{"48x40x56", "1x4x2x2x1"},
                                                          Grid{"48x40x56", "2x2x2x1x1", 2},
                                                          Grid{"37x29x43", "1x2x2x2x1"},
                                                          Grid{"37x29x43", "1x16x1x1x1"}),
                                          testing::Values("f32", "bf16")),
                         name_of);

}  // namespace
}  // namespace voxshard
