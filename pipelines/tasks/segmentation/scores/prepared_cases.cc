#include "pipelines/tasks/segmentation/scores/prepared_cases.h"

#include <nlohmann/json.hpp>

#include "io/datasets/regions.h"
#include "io/files/config_file.h"
#include "libcore/base/error.h"
#include "pipelines/tasks/segmentation/dataset/prepared_dataset.h"

namespace voxshard {

namespace fs = std::filesystem;

Dataset classes_of_prepared(const fs::path& folder) {
  const PreparedDataset prepared = read_prepared(folder);
  Dataset known;
  known.name = prepared.name, known.folder = folder;
  known.channels = prepared.plan.channels, known.label_names = prepared.plan.class_names;
  known.ignore_label = prepared.plan.ignore_label;
  for (const PreparedCase& item : prepared.cases)
    known.training.push_back({.id = item.id, .images = {}, .label = {}, .annotated = item.annotated});
  const nlohmann::json listing = read_json(folder / "dataset.json");
  if (listing.contains("regions"))
    for (const auto& [name, labels] : listing.at("regions").items())
      known.regions.push_back({name, labels.get<std::vector<int>>()});
  sort_regions(known.regions);
  return known;
}

void refuse_images_of_prepared(const fs::path& folder) {
  std::string source = source_of_prepared(folder).string();
  if (source.empty()) source = "the folder of the data set that it was prepared from";
  throw Error(ErrorKind::kUsage,
              "[evaluate] {baseline} and {png} need images on the grids of the label maps, and " + folder.string() +
                  " is a folder that `voxshard prepare` wrote, which has none: give {dataset} " + source);
}

}  // namespace voxshard
