#include "io/datasets/study_files.h"

#include <algorithm>
#include <set>

#include "io/datasets/hidden_paths.h"
#include "io/volume/archive.h"
#include "io/volume/dicom.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// Adds the series and labels of a folder. Functions give the addresses of series and of files.
///   ids  of the series so far
template <class SeriesAddress, class FileAddress>
void add_studies(const DicomFolder& found, SeriesAddress series_at, FileAddress file_at, std::set<std::string>& ids,
                 StudyFiles& all) {
  for (const DicomSeries& series : found.series) {
    if (ids.insert(series_id(series)).second)
      all.series.push_back({series, series_at(series)});
    else  // an archive often lies beside what was unpacked from it
      ++all.left_out["series that is there twice"];
  }
  for (const fs::path& path : found.structure_files) {
    const fs::path address = file_at(path);
    try {
      all.labels.push_back({address, read_structure_file(path)});
    } catch (const Error& e) {
      all.problems.push_back({address, e.code(), without_path(e.what(), path, "a file of labels")});
    }
  }
  for (const auto& [kind, count] : found.left_out)
    if (kind != "segmentation" && kind != "structure set") all.left_out[kind] += count;
  if (!found.unreadable.empty()) all.left_out["unreadable"] += std::ssize(found.unreadable);
}

void add_archive(const fs::path& archive, const VolumeLimits& limits, std::set<std::string>& ids, StudyFiles& all) {
  const ArchivedStudy study = read_archived_study(archive, limits);
  const auto series_at = [&](const DicomSeries& series) { return archive / series_address(series).filename(); };
  const auto file_at = [&](const fs::path& path) {
    const auto at = std::ranges::find(study.unpacked->files, path, &UnpackedFile::path);
    ensure(at != study.unpacked->files.end(), "a file of labels was unpacked");
    return archived_file_address(archive, at->hash);
  };
  add_studies(*study.found, series_at, file_at, ids, all);
  if (study.others > 0) all.left_out["volume that is no DICOM series"] += static_cast<std::int64_t>(study.others);
}

}  // namespace

StudyFiles find_studies(const fs::path& folder, const VolumeLimits& limits) {
  StudyFiles all;
  std::set<std::string> ids;
  add_studies(
      *find_dicom_series(folder), series_address, [](const fs::path& path) { return path; }, ids, all);
  for (const fs::path& archive : archives_below(folder)) try {
      add_archive(archive, limits, ids, all);
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::kInput) throw;
      all.problems.push_back({archive, e.code(), without_path(e.what(), archive, "an archive")});
    }
  return all;
}

bool may_hold_studies(const fs::path& folder) {
  if (holds_dicom(folder)) return true;
  try {
    return !archives_below(folder).empty();
  } catch (const Error&) {  // a folder that cannot be walked is reported by the command that reads it
    return false;
  }
}

}  // namespace voxshard
