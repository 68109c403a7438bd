#include "io/datasets/case_label.h"

#include <algorithm>

#include "io/dicom/structures.h"
#include "io/structures/structure_labels.h"
#include "io/volume/archive.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// Reading contours takes so many bytes for each of their file: parsed items, and points as numbers, twice.
constexpr std::int64_t kBytesOfContours = 16;

/// Returns the bytes that reading a file of structures takes beside the label map on the image.
std::int64_t structure_bytes(const fs::path& file, std::int64_t file_bytes, const VolumeFormats& formats) {
  if (is_structure_set_file(file)) return kBytesOfContours * file_bytes;
  return reading_bytes(read_volume_info(file, formats));  // a segmentation has a grid of its own
}

/// Adds labels to a map; returns the number of voxels that both claim for different classes.
std::int64_t merge(const Tensor& from, Tensor& into) {
  const auto* src = from.as<std::int32_t>();
  auto* dst = into.as<std::int32_t>();
  std::int64_t shared = 0;
  for (std::int64_t i = 0; i < into.count(); ++i) {
    shared += src[i] != 0 && dst[i] != 0 && src[i] != dst[i];
    dst[i] = std::max(dst[i], src[i]);
  }
  return shared;
}

}  // namespace

std::vector<fs::path> label_files(const Case& item) {
  std::vector<fs::path> files;
  if (item.label) files.push_back(*item.label);
  for (const ClassedStructures& one : item.structures) files.push_back(one.file);
  return files;
}

CaseLabel read_case_label(const Case& item, const Geometry& image, const VolumeFormats& formats) {
  if (item.label) return {read_label(*item.label, formats), {}};
  if (item.structures.empty()) throw Error(ErrorKind::kInput, "E_MISSING", "[" + item.id + "] the label is missing");
  const ImageReference reference = reference_of_image(item.images.at(0), formats.limits);
  CaseLabel label;
  std::int64_t shared = 0;
  for (std::size_t i = 0; i < item.structures.size(); ++i) {
    const ClassedStructures& one = item.structures[i];
    StructureLabels made = OpenedFile(one.file, formats.limits).read([&](const fs::path& file) {
      return read_structures_on(file, image, one.class_of, {.image = reference, .limits = formats.limits});
    });
    label.notes.insert(label.notes.end(), made.notes.begin(), made.notes.end());
    if (i == 0)
      label.volume = std::move(made.volume);
    else
      shared += merge(made.volume.voxels, label.volume.voxels);
  }
  if (shared > 0)
    label.notes.push_back("W_OVERLAP " + std::to_string(shared) +
                          " voxels belong to different classes in its files of labels; they take the highest class");
  return label;
}

VolumeInfo read_label_info(const Case& item, const VolumeInfo& image, const VolumeFormats& formats) {
  if (item.label) return read_volume_info(*item.label, formats);
  VolumeInfo info;
  info.geometry = image.geometry, info.orientation = image.orientation, info.scalar_type = "structures";
  info.dimensions.assign(image.geometry.size.begin(), image.geometry.size.end());
  info.compressed = true;
  std::int64_t largest = 0;
  for (const fs::path& label : label_files(item)) {
    const OpenedFile opened(label, formats.limits);
    std::error_code error;
    const auto bytes = static_cast<std::int64_t>(fs::file_size(opened.path(), error));
    if (error) continue;
    info.file_bytes += bytes;
    largest =
        std::max(largest, opened.read([&](const fs::path& file) { return structure_bytes(file, bytes, formats); }));
  }
  // A second label map while files are merged, and the voxels that several classes claim.
  info.extra_bytes = 5 * voxels_of(image.geometry) + largest;
  info.voxel_bytes = 4 * voxels_of(image.geometry);
  return info;
}

}  // namespace voxshard
