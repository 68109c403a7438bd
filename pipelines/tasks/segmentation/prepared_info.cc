#include "pipelines/tasks/segmentation/prepared_info.h"

#include <algorithm>
#include <array>

#include "io/files/config_file.h"
#include "io/files/file_name.h"
#include "io/output/manifest.h"
#include "libcore/base/plain_text.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// The sizes of the cases, as x, y, z.
struct Sizes {
  std::array<std::int64_t, 3> least{}, most{};
  std::int64_t voxels = 0;
};

Sizes sizes_of(const std::vector<PreparedCase>& cases) {
  Sizes sizes;
  for (const PreparedCase& item : cases) {
    std::int64_t voxels = 1;
    for (int axis = 0; axis < 3; ++axis) {
      const std::int64_t extent = item.shape[2 - axis];
      voxels *= extent;
      auto &least = sizes.least[axis], &most = sizes.most[axis];
      least = sizes.voxels == 0 ? extent : std::min(least, extent), most = std::max(most, extent);
    }
    sizes.voxels += voxels;
  }
  return sizes;
}

/// The voxels of a class in all cases, and the number of cases that have it.
struct ClassCount {
  std::string name;
  std::int64_t voxels = 0, cases = 0;
};

std::vector<ClassCount> counts_of(const PreparedDataset& set) {
  std::vector<ClassCount> counts;
  for (const std::string& name : set.plan.class_names) counts.push_back({.name = name});
  for (const PreparedCase& item : set.cases)
    for (std::size_t c = 0; c < std::min(counts.size(), item.class_voxels.size()); ++c) {
      counts[c].voxels += item.class_voxels[c];
      counts[c].cases += item.class_voxels[c] > 0 ? 1 : 0;
    }
  return counts;
}

}  // namespace

bool add_prepared_info(const fs::path& folder, InfoReport& report) {
  if (!is_prepared(folder)) return false;
  report.set("prepared").add(read_prepared_info(folder, report.failures));
  if (report.next.empty()) report.next = {"train", folder.string(), "{output}", "run"};
  return true;
}

PreparedInfo read_prepared_info(const fs::path& folder, std::vector<CaseFailure>& failures) {
  PreparedInfo info{.dataset = read_prepared(folder, &failures), .regions = {}, .fingerprint_hash = {}};
  const auto manifest = read_manifest(folder);
  if (const auto part = manifest->parts.find(kFingerprintPart); part != manifest->parts.end())
    for (const auto& [path, file] : part->second.files) info.fingerprint_hash = file.hash;
  try {
    info.left_out = read_json(folder / "run.json").at("report").at("failed").get<std::int64_t>();
    if (const nlohmann::json listing = read_json(folder / "dataset.json"); listing.contains("regions"))
      info.regions = listing.at("regions");
  } catch (const nlohmann::json::exception& e) {
    throw Error(ErrorKind::kInput, "[" + folder.string() + "] run.json is not as prepare wrote it: " + e.what() +
                                       "; prepare the data again");
  }
  return info;
}

Json to_json(const PreparedInfo& info) {
  const PreparedDataset& set = info.dataset;
  const Sizes sizes = sizes_of(set.cases);
  Json json = {{"path", set.folder.string()},
               {"name", set.name},
               {"plan", to_json(set.plan)},
               {"cases", set.cases.size()},
               {"left_out", info.left_out},
               {"patients_of_several_cases", set.same_patient.size()},
               {"size", {{"min", sizes.least}, {"max", sizes.most}}},
               {"voxels", sizes.voxels},
               {"classes", Json::array()},
               {"regions", info.regions.is_null() ? Json::object() : info.regions},
               {"plan_hash", plan_hash(set.plan)},
               {"fingerprint_hash", info.fingerprint_hash}};
  for (const ClassCount& one : counts_of(set))
    json["classes"].push_back({{"name", one.name}, {"voxels", one.voxels}, {"cases", one.cases}});
  return json;
}

std::string to_text(const PreparedInfo& info) {
  const PreparedDataset& set = info.dataset;
  const Sizes sizes = sizes_of(set.cases);
  const std::size_t count = set.cases.size();
  std::string text = plain_text(set.folder.string()) + "\n  prepared from data set \"" + plain_text(set.name) +
                     "\": " + std::to_string(count) + (count == 1 ? " case" : " cases");
  if (info.left_out > 0) text += ", " + std::to_string(info.left_out) + " left out, listed in quarantine.csv";
  if (!set.same_patient.empty())
    text += ", of which " + std::to_string(set.same_patient.size()) + " patients have several";
  text += "\n  " + to_text(set.plan) + "\n  channels: " + channels_text(set.plan.channels) +
          "\n  size: " + joined_text(sizes.least.data(), 3) + " to " + joined_text(sizes.most.data(), 3) +
          " voxels (x, y, z)\n";
  std::vector<std::vector<std::string>> rows = {{"class", "voxels", "cases"}};
  const std::vector<ClassCount> counts = counts_of(set);
  for (std::size_t c = 0; c < counts.size(); ++c)
    rows.push_back({std::to_string(c) + " " + shown_name(counts[c].name), std::to_string(counts[c].voxels),
                    std::to_string(counts[c].cases)});
  text += text_table(rows);
  if (set.plan.ignore_label) text += "  label " + std::to_string(*set.plan.ignore_label) + " is ignored\n";
  for (const auto& [name, labels] : info.regions.items())
    text += "  region " + shown_name(name) + " = " +
            joined(labels.get<std::vector<int>>(), "+", [](int label) { return std::to_string(label); }) + "\n";
  return text + "  plan " + plan_hash(set.plan) + ", fingerprint " + info.fingerprint_hash + "\n";
}

}  // namespace voxshard
