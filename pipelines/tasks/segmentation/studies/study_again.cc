#include "pipelines/tasks/segmentation/studies/study_again.h"

#include <algorithm>
#include <set>
#include <system_error>

#include "io/dicom/dicom_series.h"
#include "io/inbox/inbox.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

bool is_real_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(fs::symlink_status(path, error));
}

/// True for entries of the same study, or where one has no image that says which it is of, such as a report that came
/// late.
bool are_one_study(const fs::path& a, const fs::path& b) {
  const auto studies_of = [](const fs::path& folder) {
    std::set<std::string> studies;
    for (const DicomSeries& series : find_dicom_series(folder)->series) studies.insert(series.common.study);
    return studies;
  };
  const std::set<std::string> one = studies_of(a), other = studies_of(b);
  return one.empty() || other.empty() || (one == other && !one.contains(""));
}

}  // namespace

std::string StudyAgain::text() const {
  if (!is_known()) return {};
  if (is_unchanged()) return "a study was sent again unchanged: nothing is predicted";
  if (failed) return "a study that failed was sent again: predicted again";
  return "a study came again with " + std::to_string(changed) +
         (changed == 1 ? " new or changed file" : " new or changed files") + ": predicted again as a new result";
}

StudyAgain find_study_again(const fs::path& entry, const fs::path& done) {
  StudyAgain again;
  std::error_code error;
  if (!is_real_folder(entry) || !(holds_dicom(entry) || fs::is_empty(entry, error))) return again;
  const std::string name = finished_name(entry);
  for (const bool failed : {false, true}) {
    const fs::path earlier = failed ? done / "failed" / name : done / name;
    if (!is_real_folder(earlier)) continue;
    const Repetition found = compare_entries(entry, earlier);
    if (!found.is_plain) continue;
    if (found.changed == 0 && failed && found.files > 0)
      return {.failed = true, .earlier = {earlier}, .waits = found.missing > 0};
    if (found.changed == 0) return {.earlier = {earlier}};
    if (!are_one_study(entry, earlier)) continue;
    again.changed = again.is_known() ? std::min(again.changed, found.changed) : found.changed;
    again.earlier.push_back(earlier);
    again.waits = again.waits || found.missing > 0;
  }
  return again;
}

StudyAgain take_study_again(const fs::path& entry, const fs::path& done) {
  StudyAgain again = find_study_again(entry, done);
  if (again.is_unchanged()) {
    remove_repeated(entry, again.earlier.front());
    return again;
  }
  for (const fs::path& earlier : again.earlier) join_entries(entry, earlier);
  return again;
}

}  // namespace voxshard
