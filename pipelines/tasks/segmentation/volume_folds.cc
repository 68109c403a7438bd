#include "pipelines/tasks/segmentation/volume_folds.h"

#include <algorithm>
#include <map>
#include <set>

#include "pipelines/tasks/group_folds.h"
#include "pipelines/tasks/segmentation/checks/patients.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// Returns the lists of cases of one patient, of those that are still there: as headers say, where these tell nothing
/// as their ids do. A list of fewer than two keeps nothing.
std::vector<std::vector<std::string>> kept_together(const PreparedDataset& dataset) {
  std::vector<std::vector<std::string>> together;
  std::set<std::string> left;  // no case twice, whatever the file says
  for (const PreparedCase& item : dataset.cases) left.insert(item.id);
  for (std::vector<std::string> ids : dataset.same_patient) {
    std::erase_if(ids, [&](const std::string& id) { return left.erase(id) == 0; });
    if (ids.size() > 1) together.push_back(std::move(ids));
  }
  if (!dataset.same_patient.empty()) return together;
  std::map<std::string, std::vector<std::string>> named;
  for (const std::string& id : left) named[patient_of(id)].push_back(id);
  for (auto& [patient, ids] : named)
    if (ids.size() > 1) together.push_back(std::move(ids));
  return together;
}

std::vector<std::string> ids_of(const PreparedDataset& dataset) {
  std::vector<std::string> ids;
  for (const PreparedCase& item : dataset.cases) ids.push_back(item.id);
  return ids;
}

/// Returns for each case the first case of its patient, its own id where the patient has one case.
std::vector<std::string> patients_of(const PreparedDataset& dataset) {
  std::map<std::string, std::string> first;
  for (const std::vector<std::string>& ids : kept_together(dataset))
    for (const std::string& id : ids) first[id] = ids.front();
  std::vector<std::string> patients = ids_of(dataset);
  for (std::string& id : patients)
    if (const auto at = first.find(id); at != first.end()) id = at->second;
  return patients;
}

}  // namespace

std::string patients_text(const PreparedDataset& dataset, const std::vector<Split>& folds) {
  const auto patients = kept_together(dataset);
  if (patients.empty() || folds.empty()) return "";
  std::size_t cases = 0;
  for (const std::vector<std::string>& ids : patients) cases += ids.size();
  const std::string counts = std::to_string(cases) + " cases are of " + std::to_string(patients.size()) +
                             (patients.size() == 1 ? " patient" : " patients");
  const bool apart = std::ranges::any_of(folds, [&](const Split& fold) {
    return std::ranges::any_of(patients, [&](const std::vector<std::string>& ids) {
      const auto held =
          std::ranges::count_if(ids, [&](const std::string& id) { return std::ranges::count(fold.val, id) > 0; });
      return held > 0 && held < std::ssize(ids);
    });
  });
  return apart ? "W_PATIENT " + counts + ", and a fold trains on one case of a patient and validates on another"
               : counts + ": each fold keeps those of a patient together";
}

std::string folds_file_text(const PreparedDataset& dataset, const std::vector<Split>& folds) {
  const fs::path data = source_of_prepared(dataset.folder), file = data / "splits_final.json";
  std::error_code error;
  if (folds.empty() || data.empty() || !fs::is_regular_file(file, error)) return "";
  return file.string() + " is not read: the folds are those of splits_final.json in the run";
}

std::vector<Split> folds_of(const PreparedDataset& dataset, const std::string& fold) {
  if (fold == "all" || dataset.cases.size() < 2) return {};
  const std::vector<std::string> ids = ids_of(dataset);
  Folds folds = folds_by_group(patients_of(dataset));
  if (folds.count == 0) folds = folds_by_group(ids);
  return splits_of(folds, ids);
}

std::vector<Split> folds_as_kept(const PreparedDataset& dataset, const std::vector<KeptSplit>& kept) {
  const std::vector<std::string> ids = ids_of(dataset);
  return splits_of(folds_as_kept(ids, patients_of(dataset), kept), ids);
}

Split choose_split(const PreparedDataset& dataset, const std::vector<Split>& folds, const std::string& fold) {
  if (!folds.empty()) return folds[number_of_fold(fold, std::ssize(folds))];
  if (fold != "all") number_of_fold(fold, 1);  // one case alone, which trains
  return {.train = ids_of(dataset), .val = {}};
}

}  // namespace voxshard
