#include "pipelines/tasks/segmentation/find_images.h"

#include <algorithm>

#include "pipelines/tasks/volume_files.h"

namespace voxshard {

namespace fs = std::filesystem;

FoundImages find_images(const fs::path& input, const VolumeFormats& formats, bool best_only, Progress& progress) {
  if (is_volume_address(input, formats)) return {.images = {input}, .others = {}};
  if (!fs::exists(input))
    throw Error(ErrorKind::kInput,
                "[predict] " + input.string() + " does not exist; give an image or a folder of images");
  if (!is_volume_folder(input, formats)) return {.images = {input}, .others = {}};
  VolumeList list = list_volumes(input, formats);
  if (!list.left_out.empty()) progress.log("left out: " + list.left_out);
  if (const std::string beside = list.files ? series_beside(input, formats) : ""; !beside.empty())
    progress.warn("left out: " + beside);
  FoundImages found;
  if (best_only) found.others = take_other_reconstructions(list.volumes);
  for (const std::string& line : reconstruction_lines(found.others)) progress.log(line);
  for (FoundVolume& volume : list.volumes) found.images.push_back(std::move(volume.path));
  std::sort(found.images.begin(), found.images.end());
  return found;
}

}  // namespace voxshard
