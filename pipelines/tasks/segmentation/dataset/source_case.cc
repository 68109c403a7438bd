#include "pipelines/tasks/segmentation/dataset/source_case.h"

#include <cmath>
#include <system_error>

#include "io/datasets/case_label.h"
#include "io/datasets/hidden_paths.h"
#include "libcore/base/text.h"
#include "pipelines/tasks/segmentation/labels/byte_labels.h"

namespace voxshard {
namespace {

std::string size_text(const Geometry& g) { return joined_text(g.size.data(), 3); }

/// Returns the error of a label map with other labels than the classes and the ignored one.
std::optional<Error> unknown_classes(const Volume& label, int classes, std::optional<int> ignored,
                                     const std::string& file) {
  const int kept = ignored.value_or(0);
  const auto is_unknown = [&](int value) { return (value < 0 || value >= classes) && value != kept; };
  std::int64_t wrong = 0;
  int first = 0;
  with_labels(label.voxels, [&](const auto* v) {
    const std::int64_t n = label.voxels.count();
    for (std::int64_t i = 0; i < n; ++i) wrong += is_unknown(v[i]);
    if (wrong > 0) first = *std::find_if(v, v + n, is_unknown);
  });
  if (wrong == 0) return std::nullopt;
  return Error(ErrorKind::kInput, "E_LABELS",
               "[" + file + "] " + std::to_string(wrong) + " voxels have a label outside the classes 0 to " +
                   std::to_string(classes - 1) + " of the data set, the first is " + std::to_string(first) +
                   "; correct the label map or add the class");
}

/// Reads the label map of a case, as u8 where its file and the classes allow it.
CaseLabel read_label_of(const Case& item, const Geometry& image, bool bytes, const VolumeFormats& formats) {
  if (bytes && item.label) return {read_small_label(*item.label, formats), {}};
  return read_case_label(item, image, formats);
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
  if (item.images.empty()) throw Error(ErrorKind::kInput, "E_MISSING", "[" + item.id + "] the image is missing");
  if (!item.has_label()) throw Error(ErrorKind::kInput, "E_MISSING", "[" + item.id + "] the label is missing");
  const std::string file = shown_file(item, item.label.value_or(""), "label map");
  SourceCase source;
  if (!item.label) source.image = read_image(item.images[0], formats);  // structures are drawn on its grid
  const bool bytes = fit_bytes(classes, ignored);
  CaseLabel label = read_label_of(item, source.image.geometry, bytes, formats);
  source.label = std::move(label.volume), source.notes = std::move(label.notes);
  const std::optional<Error> unknown = unknown_classes(source.label, classes, ignored, file);
  if (unknown)
    source.label.voxels = {};
  else if (bytes)
    source.label.voxels = labels_as_bytes(std::move(source.label.voxels));
  if (item.label) source.image = read_image(item.images[0], formats);
  require_same_grid(source.image.geometry, source.label.geometry, file);
  source.label.geometry = source.image.geometry;  // to the last bit, so that both are resampled, or neither
  if (unknown) throw Error(*unknown);
  return source;
}

Dataset read_any_dataset(const std::filesystem::path& folder, IdsInErrors ids) {
  std::error_code error;
  if (std::filesystem::is_directory(folder, error) && std::filesystem::is_empty(folder, error))
    throw Error(ErrorKind::kNoCase,
                "[" + folder.string() + "] the folder is empty; expected dataset.json, imagesTr and labelsTr");
  return read_dataset(folder, ids);
}

}  // namespace voxshard
