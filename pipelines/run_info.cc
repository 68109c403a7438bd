#include "pipelines/run_info.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <system_error>

#include "pipelines/label_files.h"
#include "pipelines/source_case.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Json file_json(const FileInfo& file) {
  const VolumeInfo& h = file.header;
  return {{"path", file.path.string()},
          {"size", h.geometry.size},
          {"spacing_mm", h.geometry.spacing},
          {"origin_mm", h.geometry.origin},
          {"direction", h.geometry.direction},
          {"orientation", h.orientation},
          {"dimensions", h.dimensions},
          {"scalar_type", h.scalar_type},
          {"components", h.components},
          {"slope", h.slope},
          {"intercept", h.intercept},
          {"qform_code", h.qform_code},
          {"sform_code", h.sform_code},
          {"form_used", h.form_used},
          {"forms_agree", h.forms_agree},
          {"forms_gap_mm", h.forms_gap_mm},
          {"shear_degrees", h.shear_degrees},
          {"nifti_version", h.nifti_version},
          {"big_endian", h.big_endian},
          {"voxel_bytes", h.voxel_bytes},
          {"file_bytes", h.file_bytes},
          {"readable", h.readable},
          {"problem", h.problem}};
}

template <class T>
void widen(std::array<T, 3>& low, std::array<T, 3>& high, const std::array<T, 3>& value, bool first) {
  for (int a = 0; a < 3; ++a) {
    low[a] = first ? value[a] : std::min(low[a], value[a]);
    high[a] = first ? value[a] : std::max(high[a], value[a]);
  }
}

Json folder_json(const FolderInfo& folder) {
  Json json = {{"path", folder.path.string()}, {"images", folder.images.size()}};
  if (folder.dataset) {
    const Dataset& d = *folder.dataset;
    json["dataset"] = {{"name", d.name},
                       {"kind", d.kind},
                       {"channels", d.channels},
                       {"labels", d.label_names},
                       {"training", d.training.size()},
                       {"test", d.test.size()}};
    json["dataset"]["problems"] = Json::array();
    for (const auto& p : d.problems) json["dataset"]["problems"].push_back({{"case", p.id}, {"reason", p.reason}});
  }
  std::array<std::int64_t, 3> size_low{}, size_high{};
  std::array<double, 3> spacing_low{}, spacing_high{};
  std::map<std::string, int> orientations;
  std::int64_t bytes = 0, unreadable = 0;
  bool first = true;
  for (const auto& image : folder.images) {
    const auto& h = image.header;
    widen(size_low, size_high, h.geometry.size, first);
    widen(spacing_low, spacing_high, h.geometry.spacing, first);
    ++orientations[h.orientation];
    bytes += h.voxel_bytes;
    unreadable += !h.readable;
    first = false;
  }
  json["size"] = {{"min", size_low}, {"max", size_high}};
  json["spacing_mm"] = {{"min", spacing_low}, {"max", spacing_high}};
  json["orientations"] = orientations;
  json["voxel_bytes"] = bytes;
  json["unreadable"] = unreadable;
  json["files"] = Json::array();
  for (const auto& image : folder.images) json["files"].push_back(file_json(image));
  return json;
}

FolderInfo read_folder(const fs::path& path, std::vector<CaseFailure>& failures) {
  FolderInfo folder{.path = path, .dataset = std::nullopt, .images = {}};
  std::vector<fs::path> images;
  std::error_code error;
  if (fs::exists(path / "dataset.json") || fs::is_empty(path, error)) {
    folder.dataset = read_any_dataset(path);
    for (const auto* cases : {&folder.dataset->training, &folder.dataset->test})
      for (const auto& c : *cases) images.insert(images.end(), c.images.begin(), c.images.end());
    for (const auto& p : folder.dataset->problems) failures.push_back({p.id, "E_MISSING", p.reason});
  } else {
    for (const auto& [id, file] : volume_files(path)) images.push_back(file);
  }
  for (const auto& image : images) {
    const std::string id = volume_id(image).value_or(image.filename().string());
    in_case_boundary(id, failures, [&] { folder.images.push_back({image, read_volume_info(image)}); });
  }
  return folder;
}

}  // namespace

InfoReport run_info(const std::vector<fs::path>& paths) {
  InfoReport report;
  for (const auto& path : paths) {
    std::error_code error;
    if (fs::is_directory(path, error))
      report.folders.push_back(read_folder(path, report.failures));
    else
      report.files.push_back({path, read_volume_info(path)});
  }
  return report;
}

Json to_json(const InfoReport& report) {
  Json json = {{"files", Json::array()}, {"folders", Json::array()}};
  for (const auto& f : report.files) json["files"].push_back(file_json(f));
  for (const auto& f : report.folders) json["folders"].push_back(folder_json(f));
  json["failed"] = report.failures.size();
  json["failures"] = to_json(report.failures);
  return json;
}

}  // namespace voxshard
