#include "pipelines/commands/run_info.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <system_error>

#include "pipelines/tasks/detection/detection_dataset.h"
#include "pipelines/tasks/segmentation/label_files.h"
#include "pipelines/tasks/segmentation/source_case.h"

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

Json videos_json(const std::vector<VideoInfo>& videos) {
  Json json = Json::array();
  for (const auto& video : videos) json.push_back(to_json(video));
  return json;
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
  json["videos"] = videos_json(folder.videos);
  return json;
}

bool holds_volumes(const fs::path& folder, const VolumeFormats& formats) {
  std::error_code error;
  return std::any_of(fs::directory_iterator(folder, error), {}, 
                     [&](const auto& entry) { return volume_id(entry.path(), formats).has_value(); });
}

/// `failures` gets the files that cannot be used.
FolderInfo read_folder(const fs::path& path, const VideoInfoOptions& options, const VolumeFormats& formats,
                       std::vector<CaseFailure>& failures) {
  FolderInfo folder{.path = path, .dataset = std::nullopt, .images = {}, .videos = {}};
  std::vector<fs::path> images;
  std::error_code error;
  if (fs::exists(path / "dataset.json") || fs::is_empty(path, error)) {
    folder.dataset = read_any_dataset(path);
    for (const auto* cases : {&folder.dataset->training, &folder.dataset->test})
      for (const auto& c : *cases) images.insert(images.end(), c.images.begin(), c.images.end());
    for (const auto& p : folder.dataset->problems) failures.push_back({p.id, "E_MISSING", p.reason});
  } else {
    const auto videos = video_files(path);
    if (videos.empty() || holds_volumes(path, formats))
      for (const auto& [id, file] : volume_files(path, formats)) images.push_back(file);
    for (const auto& video : videos)
      in_case_boundary(video.filename().string(), failures,
                       [&] { folder.videos.push_back(read_video_info(video, options)); });
  }
  for (const auto& image : images) {
    const std::string id = volume_id(image, formats).value_or(image.filename().string());
    in_case_boundary(id, failures, [&] { folder.images.push_back({image, read_volume_info(image, formats)}); });
  }
  return folder;
}

/// Describes the annotations of pictures at a path; false when there are none.
bool add_detection_sets(const fs::path& path, InfoReport& report) {
  std::error_code error;
  if (fs::exists(path / "dataset.json", error)) return false;
  const auto annotations = detection_annotations(path);
  for (const auto& file : annotations) {
    report.detection_sets.push_back(read_detection_info(file));
    const auto& left_out = report.detection_sets.back().failures;
    report.failures.insert(report.failures.end(), left_out.begin(), left_out.end());
  }
  return !annotations.empty();
}

}  // namespace

InfoReport run_info(const std::vector<fs::path>& paths, const VideoInfoOptions& options, const VolumeFormats& formats) {
  InfoReport report;
  for (const auto& path : paths) {
    std::error_code error;
    if (add_detection_sets(path, report) && (!fs::is_directory(path, error) || video_files(path).empty())) continue;
    if (fs::is_directory(path, error))
      report.folders.push_back(read_folder(path, options, formats, report.failures));
    else if (is_image_name(path))
      report.pictures.push_back({path, read_image_header(path)});
    else if (is_video_name(path))
      report.videos.push_back(read_video_info(path, options));
    else
      report.files.push_back({path, read_volume_info(path, formats)});
  }
  return report;
}

Json to_json(const InfoReport& report) {
  Json json = {{"files", Json::array()}, {"videos", videos_json(report.videos)}, {"folders", Json::array()}};
  for (const auto& f : report.files) json["files"].push_back(file_json(f));
  for (const auto& f : report.folders) json["folders"].push_back(folder_json(f));
  json["pictures"] = json["detection_sets"] = Json::array();
  for (const auto& picture : report.pictures) json["pictures"].push_back(to_json(picture));
  for (const auto& set : report.detection_sets) json["detection_sets"].push_back(to_json(set));
  json["failed"] = report.failures.size();
  json["failures"] = to_json(report.failures);
  return json;
}

}  // namespace voxshard
