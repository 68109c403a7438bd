// What a prepared case is known by: the content of every file that it is made of.
#include "pipelines/tasks/segmentation/prepare_sources.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

namespace voxshard {
namespace {

TEST(PrepareSources, AChangedImgOfAPairChangesTheHashesOfItsCase) {
  const auto folder = std::filesystem::temp_directory_path() / ("voxshard_sources_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "a.hdr") << "header";
  std::ofstream(folder / "a.img") << "voxels";
  const Case item{.id = "a", .images = {folder / "a.hdr"}, .label = std::nullopt};
  const auto before = source_hashes(item);
  std::ofstream(folder / "a.img") << "others";
  EXPECT_NE(source_hashes(item), before);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace voxshard
