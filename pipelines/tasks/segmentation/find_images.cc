#include "pipelines/tasks/segmentation/find_images.h"

#include <algorithm>

#include "pipelines/tasks/volume_files.h"

namespace voxshard {

namespace fs = std::filesystem;

FoundImageFiles find_images(const fs::path& input, const VolumeFormats& formats, const ImageSearch& search,
                            Progress& progress) {
  if (is_volume_address(input, formats)) return {.images = {input}};
  if (!fs::exists(input))
    throw Error(ErrorKind::kInput,
                "[predict] " + input.string() + " does not exist; give an image or a folder of images");
  if (!is_volume_folder(input, formats)) return {.images = {input}};
  FoundImageFiles found;
  std::error_code error;
  const bool below = search.recursive && fs::is_directory(input, error);
  VolumeList list = below ? list_volumes_below(input, formats, found.foreign) : list_volumes(input, formats);
  if (list.files) found.foreign = foreign_beside(list.volumes, input, formats);
  if (!list.left_out.empty()) progress.log("left out: " + list.left_out);
  if (const std::string beside = list.files ? series_beside(input, formats) : ""; !beside.empty())
    progress.warn("left out: " + beside);
  if (search.best_only) found.others = take_other_reconstructions(list.volumes);
  for (const std::string& line : reconstruction_lines(found.others)) progress.log(line);
  for (FoundVolume& volume : list.volumes) found.images.push_back(std::move(volume.path));
  std::ranges::sort(found.images);
  return found;
}

}  // namespace voxshard
