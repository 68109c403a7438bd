#include "pipelines/tasks/segmentation/dataset/prepare_sources.h"

#include "io/datasets/case_label.h"
#include "io/datasets/hidden_paths.h"
#include "io/files/config_file.h"
#include "io/files/content_hash.h"
#include "io/volume/archive.h"
#include "libcore/base/coded_text.h"
#include "pipelines/tasks/channel_grids.h"
#include "pipelines/tasks/segmentation/dataset/prepared_dataset.h"
#include "pipelines/tasks/volume_files.h"

namespace voxshard {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

/// Returns what a case is made of beside the bytes of its files, in one of the sources; null: nothing.
Json choices_of(const Case& item, const VolumeFormats& formats) {
  Json choices;
  for (const ClassedStructures& one : item.structures) {
    Json classes = Json::object();
    for (const auto& [structure, label] : one.class_of) classes[std::to_string(structure)] = label;
    choices["classes"].push_back(classes);
  }
  if (item.annotated) choices["annotated"] = *item.annotated;
  if (formats.limits.least_fraction != kLeastFraction) choices["fraction"] = formats.limits.least_fraction;
  return choices;
}

}  // namespace

std::vector<CaseFailure> source_warnings(const Case& item, bool resamples_channels, const VolumeFormats& formats) {
  std::vector<CaseFailure> warnings;
  std::vector<fs::path> volumes = item.images;
  if (item.label) volumes.push_back(*item.label);
  std::optional<VolumeInfo> first;
  for (std::size_t i = 0; i < volumes.size(); ++i) {
    const fs::path& volume = volumes[i];
    const bool is_channel = i > 0 && i < item.images.size();
    const std::string what = i < item.images.size() ? "image" : "label map";
    const auto unreadable = failure_of(item.id, {ErrorKind::kInput, ErrorKind::kNoCase}, [&] {
      const VolumeInfo info =
          is_channel ? channel_info(item, i, *first, resamples_channels, formats) : read_volume_info(volume, formats);
      if (i == 0) first = info;
      for (const CodedText& one : coded_texts(info.warning))
        warnings.push_back({item.id, one.code, shown_file(item, volume, what) + ": " + one.text});
    });
    if (unreadable) break;  // the case is left out, with the reason, when it is read
  }
  return warnings;
}

void add_warnings(const std::string& id, const std::vector<std::string>& notes, std::vector<CaseFailure>& warnings) {
  for (const std::string& note : notes)
    warnings.push_back({id, note.substr(0, note.find(' ')), note.substr(note.find(' ') + 1)});
}

Json source_hashes(const Case& item, const VolumeFormats& formats) {
  Json hashes = Json::array();
  const auto add = [&](const fs::path& path, auto hash_of) {
    const std::string name = item.anonymous ? std::to_string(hashes.size()) : path.filename().string();
    try {
      hashes.push_back({name, hash_of(path)});
    } catch (const Error&) {
      hashes.push_back({name, nullptr});
    }
  };
  std::set<fs::path> added;  // channels may be of one file
  const auto add_volume = [&](const fs::path& volume) {
    const VolumeFiles known = known_files_of_volume(volume, formats);
    for (const fs::path& file : known.files)
      if (added.insert(file).second) add(file, [&](const fs::path& path) { return known.hash_of(path); });
  };
  for (const fs::path& image : item.images) add_volume(image);
  added.clear();
  if (item.label) add_volume(*item.label);
  for (const ClassedStructures& one : item.structures)
    add(one.file, [&](const fs::path& path) { return OpenedFile(path, formats.limits).read(file_hash); });
  if (const Json choices = choices_of(item, formats); !choices.is_null())
    hashes.push_back({"choices", nullptr, choices});
  return hashes;
}

namespace {

Json request_of_ours(const PrepareOptions& options, const Dataset& dataset, const std::vector<Json>& sources) {
  Json cases;
  for (std::size_t i = 0; i < sources.size(); ++i) cases[dataset.training[i].id] = sources[i];
  Json clip = options.clip_hu ? Json({options.clip_hu->low, options.clip_hu->high}) : Json(nullptr);
  Json request = {{"spacing", options.spacing},
                  {"orientation", options.orientation},
                  {"clip_hu", clip},
                  {"seed", options.seed},
                  {"normalise", options.normalise ? normalise_name(*options.normalise) : "by channel"},
                  {"channels", dataset.channels},
                  {"classes", dataset.label_names},
                  {"ignore_label", dataset.ignore_label ? Json(*dataset.ignore_label) : Json(nullptr)},
                  {"cases", cases}};
  for (const std::string& channel : dataset.channels)
    if (!options.normalise && usual_normalise(options, channel) == Normalise::kSoftTissue)
      request["normalise"] = "by channel, soft tissue of CT";
  if (options.irregular != IrregularSlices::kReject) request["irregular_slices"] = "resample";
  if (options.resamples_channels) request["channel_grids"] = "resample";
  return request;
}

}  // namespace

Json request_of(const PrepareOptions& options, const Dataset& dataset, const std::vector<Json>& sources) {
  Json request = request_of_ours(options, dataset, sources);
  for (const LabelRegion& region : dataset.regions) request["regions"][region.name] = region.labels;
  if (options.convention != Convention::kVoxshard)
    request["convention"] = convention_names().at(static_cast<std::size_t>(options.convention));
  return request;
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
    for (const fs::path& file : label_files(item)) inputs.insert(containing_file(file).parent_path());
  }
  return {inputs.begin(), inputs.end()};
}

std::string options_hash(const PreparePlan& plan, const PrepareOptions& options) {
  return content_hash("prepare 2 " + plan_hash(plan) + " " + std::to_string(options.seed));
}

std::set<std::string> part_names(const Dataset& dataset) {
  std::set<std::string> names = {kPlansPart, kFingerprintPart, kDatasetPart};
  for (const Case& item : dataset.training) names.insert(case_part(item.id));
  return names;
}

std::vector<std::string> parts_in_order(const std::vector<Case>& cases) {
  std::vector<std::string> parts = {kFingerprintPart, kPlansPart};
  for (const Case& item : cases) parts.push_back(case_part(item.id));
  parts.push_back(kDatasetPart);
  return parts;
}

}  // namespace voxshard
