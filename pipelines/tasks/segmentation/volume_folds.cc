#include "pipelines/tasks/segmentation/volume_folds.h"

#include <algorithm>
#include <set>

namespace voxshard {
namespace {

/// Returns the lists of cases of one patient, of those that are still there; a list of fewer than two keeps nothing.
std::vector<std::vector<std::string>> kept_together(const PreparedDataset& dataset) {
  std::vector<std::vector<std::string>> together;
  std::set<std::string> left;  // no case twice, whatever the file says
  for (const PreparedCase& item : dataset.cases) left.insert(item.id);
  for (std::vector<std::string> ids : dataset.same_patient) {
    std::erase_if(ids, [&](const std::string& id) { return left.erase(id) == 0; });
    if (ids.size() > 1) together.push_back(std::move(ids));
  }
  return together;
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

std::vector<Split> folds_of(const PreparedDataset& dataset, const std::string& fold) {
  if (fold == "all" || dataset.cases.size() < 2) return {};
  std::vector<std::string> ids;
  for (const PreparedCase& item : dataset.cases) ids.push_back(item.id);
  const std::vector<std::vector<std::string>> together = kept_together(dataset);
  std::size_t apart = ids.size();  // cases, and patients with several of them
  for (const std::vector<std::string>& patient : together) apart -= patient.size() - 1;
  if (apart < 2) return make_splits(ids, static_cast<int>(std::min<std::size_t>(5, ids.size())));
  return make_splits_together(ids, together, static_cast<int>(std::min<std::size_t>(5, apart)));
}

std::vector<Split> folds_as_kept(const PreparedDataset& dataset, const std::vector<KeptSplit>& kept) {
  std::vector<Split> folds;
  for (const KeptSplit& one : kept) {
    Split& fold = folds.emplace_back();
    for (const PreparedCase& item : dataset.cases)
      (one.val.contains(item.id) ? fold.val : fold.train).push_back(item.id);
  }
  return folds;
}

Split choose_split(const PreparedDataset& dataset, const std::vector<Split>& folds, const std::string& fold) {
  for (std::size_t f = 0; f < folds.size(); ++f)
    if (fold == std::to_string(f)) return folds[f];
  if (!folds.empty())
    throw Error(ErrorKind::kConfig,
                "[train] {fold} is \"" + fold + "\"; expected 0 to " + std::to_string(folds.size() - 1) + " or all");
  Split all;
  for (const PreparedCase& item : dataset.cases) all.train.push_back(item.id);
  return all;
}

}  // namespace voxshard
