#include "pipelines/tasks/detection/dataset/image_folds.h"

#include <algorithm>
#include <map>

#include "pipelines/tasks/crop_name.h"
#include "pipelines/tasks/detection/dataset/video_dataset.h"
#include "pipelines/tasks/group_folds.h"

namespace voxshard {
namespace {

/// Returns the video of a frame, the image of a crop, else the image itself.
std::string source_of(const DetectionImage& image) {
  if (const auto place = frame_place(image)) return place->sequence;
  const auto whole = image_of_crop(image.file);
  return whole ? "cut out of " + *whole : image.file.lexically_normal().generic_string();
}

struct ImageNames {
  std::vector<std::string> names, sources;  // of each image

  explicit ImageNames(const DetectionDataset& dataset) {
    for (const DetectionImage& image : dataset.images)
      names.push_back(image.file.filename().string()), sources.push_back(source_of(image));
  }
};

/// A run knows its images by the names of their files. Errors: kConfig where two have a name that validated, of which
/// one may have trained.
void require_own_names(const DetectionDataset& dataset, const std::vector<KeptSplit>& kept) {
  std::map<std::string, std::filesystem::path> files;
  for (const DetectionImage& image : dataset.images) {
    const std::string name = image.file.filename().string();
    if (std::ranges::none_of(kept, [&](const KeptSplit& one) { return one.validates(name); })) continue;
    if (const auto [other, is_new] = files.emplace(name, image.file); !is_new)
      throw Error(ErrorKind::kConfig, "[data] " + other->second.string() + " and " + image.file.string() +
                                          " have one name, by which the run cannot tell whether they trained; give "
                                          "them names of their own and begin a new run");
  }
}

DetectionSets split_by(DetectionDataset dataset, const Folds& folds, std::int64_t fold) {
  DetectionSets sets;
  sets.val = {.source = dataset.source, .classes = dataset.classes, .images = {}, .notes = {}};
  std::vector<DetectionImage> train;
  for (std::size_t i = 0; i < dataset.images.size(); ++i)
    (folds.validates(fold, i) ? sets.val.images : train).push_back(std::move(dataset.images[i]));
  dataset.images = std::move(train);
  sets.train = std::move(dataset);
  return sets;
}

}  // namespace

DetectionSets split_by_fold(DetectionDataset dataset, const std::string& fold, const std::vector<KeptSplit>& kept) {
  require_own_names(dataset, kept);
  const auto [names, sources] = ImageNames(dataset);
  const Folds folds = kept.empty() ? folds_by_group(sources) : folds_as_kept(names, sources, kept);
  require_folds(folds, fold, "pictures");
  DetectionSets sets = split_by(std::move(dataset), folds, number_of_fold(fold, folds.count));
  sets.folds = splits_of(folds, names), sets.said = fold_text(folds, fold, sources, "pictures");
  return sets;
}

DetectionSets split_as_kept(DetectionDataset dataset, const KeptSplit& kept) {
  require_own_names(dataset, {kept});
  const auto [names, sources] = ImageNames(dataset);
  const Folds folds = folds_as_kept(names, sources, {kept});
  return split_by(std::move(dataset), folds, 0);
}

}  // namespace voxshard
