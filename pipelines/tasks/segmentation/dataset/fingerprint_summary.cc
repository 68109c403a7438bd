#include "pipelines/tasks/segmentation/dataset/fingerprint_summary.h"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>

#include "io/files/config_file.h"
#include "pipelines/model_runs/report.h"
#include "pipelines/model_runs/run_record.h"
#include "pipelines/tasks/segmentation/dataset/fingerprint.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// Returns the least, median and most of what each case has under `key`, axis by axis.
Json range_of(const nlohmann::json& cases, const char* key) {
  std::vector<std::array<double, 3>> values;
  for (const nlohmann::json& one : cases) values.push_back(one.at(key).get<std::array<double, 3>>());
  if (values.empty()) return Json::object();
  std::array<double, 3> least = values.front(), most = least;
  for (const std::array<double, 3>& one : values)
    for (std::size_t axis = 0; axis < 3; ++axis)
      least[axis] = std::min(least[axis], one[axis]), most[axis] = std::max(most[axis], one[axis]);
  return {{"least", least}, {"median", median_by_axis(values)}, {"most", most}};
}

}  // namespace

Json fingerprint_summary(const nlohmann::json& fingerprint, const std::vector<std::string>& class_names) {
  const nlohmann::json& cases = fingerprint.at("per_case");
  Json summary = {{"cases", cases.size()},
                  {"size", range_of(cases, "size")},
                  {"spacing_mm", range_of(cases, "spacing_mm")},
                  {"orientations", Json::object()},
                  {"classes", Json::array()}};
  std::map<std::string, std::int64_t> orientations;
  double all = 0;
  for (const nlohmann::json& one : cases) {
    ++orientations[one.at("orientation").get<std::string>()];
    for (const auto& [name, voxels] : one.at("voxels").items()) all += voxels.get<double>();
  }
  for (const auto& [code, count] : orientations) summary["orientations"][code] = count;
  for (const std::string& name : class_names) {
    double voxels = 0;
    std::int64_t having = 0;
    for (const nlohmann::json& one : cases) {
      const double count = one.at("voxels").at(name).get<double>();
      voxels += count, having += count > 0;
    }
    summary["classes"].push_back({{"name", name}, {"cases", having}, {"share_of_voxels", all > 0 ? voxels / all : 0}});
  }
  for (const char* key : {"foreground_hu", "foreground_by_channel"})
    if (fingerprint.contains(key)) summary[key] = fingerprint.at(key);
  return summary;
}

void write_fingerprint_summary(const fs::path& work, const std::vector<std::string>& class_names, const fs::path& run) {
  Json summary;
  try {
    summary = fingerprint_summary(read_json(work / kFingerprintFile), class_names);
  } catch (const nlohmann::json::exception&) {  // a file that prepare did not write
    return;
  } catch (const Error&) {
    return;
  }
  write_json(run / kFingerprintFile, summary);
}

}  // namespace voxshard
