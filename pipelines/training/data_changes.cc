#include "pipelines/training/data_changes.h"

#include <algorithm>

#include "io/files/config_file.h"
#include "libcore/base/text.h"
#include "pipelines/model_runs/run_record.h"

namespace voxshard {
namespace {

constexpr std::size_t kMostNames = 10;

}  // namespace

std::string names_text(const std::vector<std::string>& names) {
  std::vector<std::string> shown(names.begin(),
                                 names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kMostNames)));
  return joined(shown, ", ", [](const std::string& name) { return name; }) + (names.size() > kMostNames ? ", ..." : "");
}

RunHistory history_of(const std::filesystem::path& run) {
  RunHistory history;
  const auto record = read_run_record(run);
  if (!record) return history;
  try {
    const nlohmann::json changes = record->value(kDataChanges, nlohmann::json::array());
    history.changed = !changes.empty();
    const nlohmann::json cases =
        history.changed ? changes.at(0).at("cases_before") : record->at("training").value("cases", nlohmann::json());
    if (const auto from = record->find(kFrom); from != record->end()) {
      history.from = from->at("run").get<std::string>();
      history.from_hash = from->at("hash").get<std::string>();
    }
    if (cases.is_array()) history.cases = std::ssize(cases);
    if (cases.is_number_integer()) history.cases = cases.get<std::int64_t>();
  } catch (const nlohmann::json::exception& e) {
    throw Error(ErrorKind::kCheckpoint, "[checkpoint] " + (run / "run.json").string() +
                                            " does not say what the run was trained on: " + e.what() + "; {restart}");
  }
  return history;
}

std::vector<KeptSplit> splits_of_run(const std::filesystem::path& run) {
  const std::filesystem::path file = run / "splits_final.json";
  std::error_code unseen;
  if (!std::filesystem::exists(file, unseen)) return {};
  std::vector<KeptSplit> splits;
  try {
    for (const nlohmann::json& one : read_json(file))
      splits.push_back(
          {.train = one.at("train").get<std::set<std::string>>(), .val = one.at("val").get<std::set<std::string>>()});
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorKind::kInput,
                "[input] " + file.string() + ": is no list of {\"train\": [...], \"val\": [...]}; put it back");
  }
  return splits;
}

DataChange data_change(const nlohmann::json& theirs, const nlohmann::json& mine) {
  DataChange change;
  for (const auto& [name, hash] : theirs.items())
    if (const auto now = mine.find(name); now == mine.end())
      change.gone.push_back(name);
    else if (*now != hash)
      change.changed.push_back(name);
  for (const auto& [name, hash] : mine.items())
    if (!theirs.contains(name)) change.added.push_back(name);
  return change;
}

std::string to_text(const DataChange& change) {
  std::string text;
  const auto add = [&](const std::vector<std::string>& names, const char* one, const char* many) {
    if (names.empty()) return;
    text += (text.empty() ? "" : ", ") + std::to_string(names.size()) + (names.size() == 1 ? one : many) + " (" +
            names_text(names) + ")";
  };
  add(change.gone, " is gone", " are gone");
  add(change.changed, " has changed", " have changed");
  add(change.added, " is new", " are new");
  return text;
}

nlohmann::ordered_json to_json(const DataChange& change) {
  return {{"gone", change.gone}, {"changed", change.changed}, {"new", change.added}};
}

bool may_change_with_data(const std::string& field) {
  constexpr const char* kFields[] = {"cases",          "boxes",     "names",   "class_weights",
                                     "annotated",  // the training data
                                     "mean",           "deviation", "mean_hu", "std_hu",
                                     "clip_hu",           // the meaning of its intensities
                                     "trained_classes"};  // with the rule that tells left from right
  return std::ranges::find(kFields, field) != std::end(kFields);
}

}  // namespace voxshard
