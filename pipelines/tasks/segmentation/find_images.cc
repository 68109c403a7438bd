#include "pipelines/tasks/segmentation/find_images.h"

#include <algorithm>

#include "pipelines/tasks/volume_files.h"

namespace voxshard {

namespace fs = std::filesystem;

namespace {

/// Returns the paths of series or of the volumes of an archive; `best_only` leaves out those with a better
/// reconstruction of the same scan.
std::vector<fs::path> chosen_of(std::vector<FoundVolume> found, bool best_only, Progress& progress) {
  std::vector<fs::path> images;
  std::size_t others = 0;
  for (FoundVolume& volume : found) {
    others += !volume.better.empty();
    if (best_only && !volume.better.empty())
      progress.log("left out: " + volume.id + ", a reconstruction of the scan of " + volume.better);
    else
      images.push_back(std::move(volume.path));
  }
  if (others > 0 && !best_only)
    progress.log(
        std::to_string(others) +
        (others == 1 ? " series is another reconstruction of a scan" : " series are other reconstructions of scans") +
        "; with {series} best one of each scan is predicted");
  return images;
}

}  // namespace

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
  found.images = chosen_of(std::move(list.volumes), search.best_only, progress);
  std::ranges::sort(found.images);
  return found;
}

}  // namespace voxshard
