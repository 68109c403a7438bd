#include "io/structures/structure_labels.h"

#include <algorithm>
#include <set>

#include "io/dicom/structures.h"
#include "io/files/file_error.h"
#include "io/files/now_reading.h"
#include "io/structures/contour_fill.h"
#include "io/structures/segmentation_on_image.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// Refuses structures in another frame of reference. A file that names the image's series is taken nevertheless: some
/// programs write a new frame of reference into each structure set.
void require_frame(const StructureFile& file, const std::map<int, int>& class_of, const ImageReference& image,
                   const fs::path& path, StructureLabels& made) {
  const std::string& of_image = image.frame_of_reference_uid;
  if (!image.series_uid.empty() && !file.series_uid.empty() && file.series_uid != image.series_uid)
    made.notes.emplace_back("W_REFERENCE the structures were made on another series than this image");
  const auto other = [&](const NamedStructure& one) {
    return class_of.contains(one.number) && !one.frame_of_reference_uid.empty() &&
           one.frame_of_reference_uid != of_image;
  };
  if (of_image.empty() || std::none_of(file.structures.begin(), file.structures.end(), other)) return;
  if (!image.series_uid.empty() && file.series_uid == image.series_uid) {
    made.notes.emplace_back(
        "W_REFERENCE the structures name another frame of reference than the image, but its series: they are taken");
    return;
  }
  throw input_error(path, "lies in another frame of reference than the image",
                    "give the image that the structures were drawn on", "E_FRAME");
}

void add_overlap(StructureLabels& made, std::int64_t voxels) {
  if (voxels > 0)
    made.notes.emplace_back("W_OVERLAP " + counted(voxels, "voxel") +
                            " that several classes share take the class with the highest number");
}

void add_segments(const fs::path& path, const Geometry& image, const std::map<int, int>& class_of,
                  const StructureOptions& options, StructureLabels& made) {
  require_within(options.limits, read_volume_info(path), path);
  const double least = options.limits.least_fraction;
  OnImage found = segmentation_on_image(place_segmentation(read_dicom_header(path)), image, class_of, least);
  made.volume = std::move(found.volume);
  if (found.partial > 0)
    made.notes.emplace_back("W_FRACTION " + counted(found.partial, "voxel") + " that a segment fills in part: from " +
                            fixed_text(least, 2) + " of the most on they belong to it");
  add_overlap(made, found.shared);
  if (found.outside > 0)
    made.notes.emplace_back("W_OUTSIDE " + counted(found.outside, "labelled voxel") + " outside of the image " +
                            (found.outside == 1 ? "is" : "are") + " left out");
  if (!found.same_voxels)
    made.notes.emplace_back(
        "W_RESAMPLED its voxels are not those of the image; each voxel of the image takes the nearest");
}

/// Writes classes, the highest where several come to one voxel, and counts such voxels.
class Painter {
 public:
  explicit Painter(Tensor& labels)
      : labels_(labels.as<std::int32_t>()), count_(static_cast<std::size_t>(labels.count())) {}

  void paint(std::int64_t voxel, std::int32_t label) {
    std::int32_t& out = labels_[voxel];
    if (out != 0 && out != label) {
      shared_.resize(count_);
      shared_[voxel] = true;
    }
    out = std::max(out, label);
  }
  std::int64_t shared() const { return std::count(shared_.begin(), shared_.end(), true); }

 private:
  std::int32_t* labels_;
  std::size_t count_;
  std::vector<bool> shared_;  // sized by the first voxel that is
};

void add_counts(StructureLabels& made, const NamedStructure& structure, const ContourCounts& counts) {
  const auto note = [&](const char* code, std::int64_t count, const char* what, const char* between,
                        const char* meaning) {
    if (count > 0)
      made.notes.emplace_back(std::string(code) + " " + counted(count, what) + between + " of \"" + structure.name +
                              "\"" + meaning);
  };
  note("W_GAP", counts.gaps, "slice", " between contours", " without one stay empty");
  note("W_OUTSIDE", counts.outside, "contour", "", " outside of the image, or across its border");
  note("W_CONTOURS", counts.between, "plane", "", " are left out: another plane lies nearer to the slice");
  note("W_CONTOURS", counts.doubled, "contour", "", " that repeat another one count once");
  note("W_CONTOURS", structure.left_out, "point or open contour", "", " are left out: they enclose no voxel");
}

void add_contours(const fs::path& path, const StructureFile& file, const Geometry& image,
                  const std::map<int, int>& class_of, StructureLabels& made) {
  std::map<int, const NamedStructure*> known;
  std::set<int> numbers;
  for (const NamedStructure& structure : file.structures)
    if (class_of.contains(structure.number)) known[structure.number] = &structure, numbers.insert(structure.number);
  std::vector<StructureContours> contours = read_structure_contours(path, numbers);
  std::vector<std::string> names;
  for (const StructureContours& one : contours) names.push_back(known.at(one.number)->name);
  ContourFill fill(image, std::move(contours), names, path);
  made.volume = {image, Tensor(DType::kI32, image.shape())};
  Painter painter(made.volume.voxels);
  for (std::size_t s = 0; s < fill.structures(); ++s) {
    const std::int32_t label = class_of.at(fill.number(s));
    add_counts(made, *known.at(fill.number(s)),
               fill.paint(s, [&](std::int64_t voxel) { painter.paint(voxel, label); }));
  }
  add_overlap(made, painter.shared());
}

}  // namespace

StructureLabels read_structures_on(const fs::path& path, const Geometry& image,
                                   const std::map<int, int>& class_of_structure, const StructureOptions& options) {
  const NowReading reading(path);
  const StructureFile file = read_structure_file(path);
  StructureLabels made;
  require_frame(file, class_of_structure, options.image, path, made);
  if (file.kind == StructureKind::kContours)
    add_contours(path, file, image, class_of_structure, made);
  else
    add_segments(path, image, class_of_structure, options, made);
  return made;
}

Geometry grid_of_image(const std::filesystem::path& image, const VolumeFormats& formats) {
  const VolumeInfo info = read_volume_info(image, formats);
  if (!info.readable) static_cast<void>(read_image(image, formats));  // says why, by its code
  require_within(formats.limits, info, image);
  return info.geometry;
}

}  // namespace voxshard
