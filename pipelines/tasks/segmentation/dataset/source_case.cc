#include "pipelines/tasks/segmentation/dataset/source_case.h"

#include <cmath>
#include <system_error>

#include "libcore/base/text.h"

namespace voxshard {
namespace {

std::string size_text(const Geometry& g) { return joined_text(g.size.data(), 3); }

void require_known_classes(const Volume& label, int classes, std::optional<int> ignored, const std::string& file) {
  const auto* v = label.voxels.as<std::int32_t>();
  const std::int64_t n = label.voxels.count();
  std::int64_t wrong = 0;
  std::int32_t first = 0;
  for (std::int64_t i = 0; i < n; ++i)
    if (v[i] != ignored && (v[i] < 0 || v[i] >= classes)) first = wrong++ == 0 ? v[i] : first;
  if (wrong > 0)
    throw Error(ErrorKind::kInput, "E_LABELS",
                "[" + file + "] " + std::to_string(wrong) + " voxels have a label outside the classes 0 to " +
                    std::to_string(classes - 1) + " of dataset.json, the first is " + std::to_string(first) +
                    "; correct the label map or add the class to dataset.json");
}

}  // namespace

void require_same_grid(const Geometry& image, const Geometry& label, const std::string& what) {
  if (image.size != label.size)
    throw Error(ErrorKind::kInput, "E_SHAPE",
                "[" + what + "] the label has another shape; expected " + size_text(image) +
                    " voxels as its image; got " + size_text(label) + "; export it again on the image's grid");
  if (!same_geometry(image, label, kGridTolerance))
    throw Error(ErrorKind::kInput, "E_GEOMETRY",
                "[" + what + "] the label has the image's shape but another origin, spacing or direction (" +
                    orientation_code(image) + " and " + orientation_code(label) +
                    "): it would train on the wrong place; export it again on the image's grid");
}

SourceCase read_source_case(const Case& item, int classes, const VolumeFormats& formats, std::optional<int> ignored) {
  if (item.images.size() != 1)
    throw Error(ErrorKind::kInput, "E_READ",
                "[" + item.id + "] " + std::to_string(item.images.size()) + " channels; expected 1");
  if (!item.label) throw Error(ErrorKind::kInput, "E_MISSING", "[" + item.id + "] the label is missing");
  SourceCase source{read_image(item.images[0], formats), read_label(*item.label, formats)};
  const std::string file = item.label->filename().string();
  require_same_grid(source.image.geometry, source.label.geometry, file);
  require_known_classes(source.label, classes, ignored, file);
  return source;
}

Dataset read_any_dataset(const std::filesystem::path& folder) {
  std::error_code error;
  if (std::filesystem::is_directory(folder, error) && std::filesystem::is_empty(folder, error))
    throw Error(ErrorKind::kNoCase,
                "[" + folder.string() + "] the folder is empty; expected dataset.json, imagesTr and labelsTr");
  return read_dataset(folder);
}

Dataset read_source_dataset(const std::filesystem::path& folder) {
  Dataset dataset = read_any_dataset(folder);
  if (dataset.channels.size() != 1)
    throw Error(ErrorKind::kConfig, "[" + folder.string() + "] the data set has " +
                                        std::to_string(dataset.channels.size()) +
                                        " channels; voxshard reads images of one channel");
  return dataset;
}

}  // namespace voxshard
