#include "pipelines/commands/run_info.h"

#include <algorithm>
#include <map>

#include "io/output/output_file.h"
#include "libcore/base/plain_text.h"
#include "pipelines/commands/run_description.h"
#include "pipelines/tasks/header_info.h"
#include "pipelines/tasks/structure_info.h"
#include "pipelines/tasks/volume_files.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

FolderInfo read_folder(const fs::path& path, const InfoOptions& options, std::vector<CaseFailure>& failures) {
  FolderInfo folder{.path = path};
  std::error_code error;
  const bool is_folder = fs::is_directory(path, error);  // else an archive
  const auto videos = is_folder ? video_files(path) : std::vector<fs::path>{};
  for (const auto& video : videos)
    in_case_boundary(video.filename().string(), failures,
                     [&] { folder.videos.push_back(read_video_info(video, options)); });
  std::vector<fs::path> volumes;
  std::map<fs::path, std::string> better;
  if (!is_folder || videos.empty() || holds_volume_files(path, options.formats)) {
    VolumeList list = list_volumes(path, options.formats);
    folder.left_out = list.left_out;
    if (list.files)
      for (const std::string& more : {series_beside(path, options.formats), files_in_folders(path, options.formats)})
        if (!more.empty()) folder.left_out += (folder.left_out.empty() ? "" : ", ") + more;
    for (FoundVolume& volume : list.volumes) {
      better[volume.path] = std::move(volume.better);
      volumes.push_back(std::move(volume.path));
    }
  }
  add_volumes(folder, volumes, options, failures);
  for (VolumeFile& file : folder.images) file.better = better[file.path];
  return folder;
}

/// Returns what is wrong with a path that leads nowhere; empty: it leads somewhere.
std::string missing_text(const fs::path& path, const InfoOptions& options) {
  std::error_code unseen;
  if (fs::exists(fs::symlink_status(path, unseen)) || is_volume_address(path, options.formats)) return "";
  return path.string() +
         ": no such file or folder; give an image, a video, a data set, or a folder that prepare or train wrote";
}

}  // namespace

InfoReport run_info(const std::vector<fs::path>& paths, const InfoOptions& options, const TaskTable& tasks) {
  InfoReport report;
  for (const auto& path : paths) {
    if (const std::string missing = missing_text(path, options); !missing.empty()) {
      Error error(ErrorKind::kInput, "[info] " + missing);
      if (paths.size() == 1) throw error;
      report.failures.push_back({path.string(), error.code(), error.what()}), ++report.unusable;
      continue;
    }
    const std::size_t failed = report.failures.size();
    bool known = is_run_folder(path);
    if (known) report.set("runs").add(describe_run(path));
    for (const auto& task : tasks) known = task->info(path, options, report) || known;
    if (known) continue;
    if (is_volume_folder(path, options.formats))
      report.folders.add(read_folder(path, options, report.failures));
    else if (is_image_name(path))
      report.images.add(read_image_file(path, options));
    else if (is_video_name(path))
      report.videos.add(read_video_info(path, options));
    else if (is_structure_set_file(path))
      report.set("structure_sets").add(StructureSetInfo{path, read_structure_file(path)});
    else
      report.files.add(read_volume_file(path, options, report.failures));
    report.unusable += !is_volume_folder(path, options.formats) && report.failures.size() > failed;
  }
  return report;
}

Json to_json(const InfoReport& report) {
  Json json = {{"files", report.files.json}, {"videos", report.videos.json}, {"folders", report.folders.json}};
  for (const auto& [name, section] : report.sets) json[name] = section.json;
  json["pictures"] = report.images.json;
  json["failed"] = report.failures.size();
  json["failures"] = to_json(report.failures);
  return json;
}

std::string to_text(const InfoReport& report) {
  std::string text = report.files.text + report.videos.text + report.images.text;
  for (const auto& [name, section] : report.sets) text += section.text;
  text += report.folders.text;
  for (const CaseFailure& f : report.failures)
    text += plain_text(f.id) + ": " + f.code + " " + plain_text(f.message) + "\n";
  return text;
}

}  // namespace voxshard
