#include "pipelines/tasks/segmentation/dataset/prepare_sources.h"

#include "io/files/config_file.h"
#include "io/files/content_hash.h"
#include "pipelines/tasks/segmentation/dataset/prepared_dataset.h"
#include "pipelines/tasks/volume_files.h"

namespace voxshard {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

std::vector<fs::path> volumes_of(const Case& item) {
  std::vector<fs::path> volumes = item.images;
  if (item.label) volumes.push_back(*item.label);
  return volumes;
}

}  // namespace

std::vector<CaseFailure> source_warnings(const Case& item, const VolumeFormats& formats) {
  std::vector<CaseFailure> warnings;
  for (const fs::path& volume : volumes_of(item)) {
    const auto unreadable = failure_of(item.id, {ErrorKind::kInput, ErrorKind::kNoCase}, [&] {
      const VolumeInfo info = read_volume_info(volume, formats);
      if (!info.warning.empty())
        warnings.push_back({item.id, info.warning.substr(0, info.warning.find(' ')),
                            volume.filename().string() + ": " + info.warning.substr(info.warning.find(' ') + 1)});
    });
    if (unreadable) break;  // the case is left out, with the reason, when it is read
  }
  return warnings;
}

Json source_hashes(const Case& item) {
  Json hashes = Json::array();
  const auto add = [&](const fs::path& path) {
    try {
      hashes.push_back({path.filename().string(), file_hash(path)});
    } catch (const Error&) {
      hashes.push_back({path.filename().string(), nullptr});
    }
  };
  for (const fs::path& volume : volumes_of(item))
    for (const fs::path& file : files_of_volume(volume)) add(file);
  return hashes;
}

Json request_of(const PrepareOptions& options, const Dataset& dataset, const std::vector<Json>& sources) {
  Json cases;
  for (std::size_t i = 0; i < sources.size(); ++i) cases[dataset.training[i].id] = sources[i];
  Json clip = options.clip_hu ? Json({options.clip_hu->low, options.clip_hu->high}) : Json(nullptr);
  return {{"spacing", options.spacing},
          {"orientation", options.orientation},
          {"clip_hu", clip},
          {"seed", options.seed},
          {"normalise", options.normalise ? normalise_name(*options.normalise) : "by channel"},
          {"channels", dataset.channels},
          {"classes", dataset.label_names},
          {"ignore_label", dataset.ignore_label ? Json(*dataset.ignore_label) : Json(nullptr)},
          {"cases", cases}};
}

std::optional<PreparePlan> earlier_plan(const fs::path& work, const Json& request) {
  try {
    if (!fs::exists(work / "plans.json")) return std::nullopt;
    if (read_json(work / "plans.json").at("request") != nlohmann::json(request)) return std::nullopt;
    return read_plan(work / "plans.json");
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

std::vector<fs::path> inputs_of(const Dataset& dataset) {
  std::set<fs::path> inputs = {dataset.folder};
  for (const Case& item : dataset.training) {
    for (const fs::path& image : item.images) inputs.insert(image.parent_path());
    if (item.label) inputs.insert(item.label->parent_path());
  }
  return {inputs.begin(), inputs.end()};
}

std::string options_hash(const PreparePlan& plan, const PrepareOptions& options) {
  return content_hash("prepare 1 " + plan_hash(plan) + " " + std::to_string(options.seed));
}

std::set<std::string> part_names(const Dataset& dataset) {
  std::set<std::string> names = {kPlansPart, kFingerprintPart, kDatasetPart};
  for (const Case& item : dataset.training) names.insert(case_part(item.id));
  return names;
}

}  // namespace voxshard
