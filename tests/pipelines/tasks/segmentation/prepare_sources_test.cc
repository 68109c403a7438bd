// A prepared case is identified by the content of every file that it is made of.
#include "pipelines/tasks/segmentation/dataset/prepare_sources.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/scratch_folder.h"

namespace voxshard {
namespace {

TEST(PrepareSources, AChangedImgOfAPairChangesTheHashesOfItsCase) {
  const ScratchFolder folder("sources");
  folder.write("a.hdr", "header"), folder.write("a.img", "voxels");
  const Case item{.id = "a", .images = {folder / "a.hdr"}, .label = std::nullopt};
  const auto before = source_hashes(item, volume_formats());
  folder.write("a.img", "others");
  EXPECT_NE(source_hashes(item, volume_formats()), before);
}

}  // namespace
}  // namespace voxshard
