#include "pipelines/tasks/segmentation/dataset/prepare_report.h"

#include <nlohmann/json.hpp>

#include "io/volume/mapped_volume.h"

namespace voxshard {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Json prepared_listing(const Dataset& dataset, const PreparePlan& plan, const Json& records) {
  Json labels, channels;
  for (int c = 0; c < plan.classes(); ++c) labels[plan.class_names[static_cast<std::size_t>(c)]] = c;
  if (plan.ignore_label) labels["ignore"] = *plan.ignore_label;
  for (std::size_t c = 0; c < plan.channels.size(); ++c) channels[std::to_string(c)] = plan.channels[c];
  Json listing = {{"name", dataset.name},          {"channel_names", channels},    {"labels", labels},
                  {"numTraining", records.size()}, {"file_ending", kMappedEnding}, {"cases", records}};
  for (const LabelRegion& region : dataset.regions) listing["regions"][region.name] = region.labels;
  return listing;
}

Json source_of(const PrepareOptions& options) {
  if (options.source.images.empty()) return fs::absolute(options.dataset).string();
  return {{"images", fs::absolute(options.source.images).string()},
          {"labels", fs::absolute(options.source.labels).string()}};
}

Json to_json(const PrepareReport& report) {
  return {{"work", report.work.string()},
          {"plan", to_json(report.plan)},
          {"ids", report.ids},
          {"prepared", report.prepared},
          {"skipped", report.skipped},
          {"failed", report.failures.size()},
          {"failures", to_json(report.failures)},
          {"warnings", to_json(report.warnings)},
          {"annotated", to_json(report.coverage)},
          {"missing_classes", kMissingClassesNames[static_cast<std::size_t>(report.missing_rule)]},
          {"missing", to_json(report.missing)},
          {"interrupted", report.interrupted},
          {"seconds", report.seconds}};
}

}  // namespace voxshard
