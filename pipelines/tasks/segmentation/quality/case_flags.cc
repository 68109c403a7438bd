#include "pipelines/tasks/segmentation/quality/case_flags.h"

#include <nlohmann/json.hpp>

#include "io/files/atomic_file.h"
#include "io/files/csv.h"
#include "io/files/file_name.h"
#include "io/files/open_file.h"
#include "libcore/base/flag_text.h"
#include "libcore/base/plain_text.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

const std::vector<std::string> kColumns = {"case", "code", "class", "what"};

}  // namespace

CaseFlags::CaseFlags(std::optional<QualityRanges> ranges, std::vector<std::string> class_names, FlagOutput output,
                     Progress& progress)
    : ranges_(std::move(ranges)),
      class_names_(std::move(class_names)),
      output_(std::move(output)),
      progress_(progress) {
  say_what_is_not_judged(progress);
  if (output_.keeps && judges()) read();
}

void CaseFlags::say_what_is_not_judged(Progress& progress) const {
  if (!ranges_)
    return progress.log(
        "quality: no flags are given: the run does not say what is usual of its training cases; a "
        "training with this version does");
  if (!judges())
    return progress.log("quality: no flags are given: the run was trained on " + counted(ranges_->cases, "case") +
                        ", and fewer than " + std::to_string(kFewestOthers) + " do not tell what is usual");
  std::vector<std::string> rare;
  for (std::size_t c = 1; c < ranges_->classes.size(); ++c)
    if (!ranges_->classes[c].enough()) rare.push_back(shown_name(class_names_.at(c)));
  if (!rare.empty())
    progress.log("quality: no flags are given of " + joined(rare, ", ") + ", which fewer than " +
                 std::to_string(kFewestOthers) + " training cases have");
}

/// Takes the rows of an earlier call; what cannot be read of them is not known. Somebody may have changed the file: its
/// texts must not steer a terminal.
void CaseFlags::read() {
  const fs::path file = output_.folder / kQualityFile;
  std::error_code error;
  if (!fs::exists(file, error)) return;
  try {
    const auto columns = read_csv(file, [&](const std::vector<std::string>& row) {
      auto& rows = rows_[row.at(0)];
      if (row.size() == kColumns.size() && !row[1].empty())
        rows.push_back({plain_text(row[1]), plain_text(row[2]), plain_text(row[3])});
    });
    if (columns != kColumns) rows_.clear();
  } catch (const Error& failure) {
    rows_.clear();
    progress_.warn(std::string("quality: flags of an earlier call are not known: ") + failure.what());
  }
}

std::string CaseFlags::text_of(const std::string& id, const std::vector<Row>& rows) {
  std::string text;
  const auto add = [&](const Row& row) {
    text += csv_text(id) + "," + csv_text(row.code) + "," + csv_text(row.label_class) + "," + csv_text(row.what) + "\n";
  };
  if (rows.empty()) add({});
  for (const Row& row : rows) add(row);
  return text;
}

void CaseFlags::write() {
  std::string text = joined(kColumns, ",") + "\n";
  for (const auto& [id, rows] : rows_) text += text_of(id, rows);
  write_text_atomically(output_.folder / kQualityFile, text);
  is_listed_ = true;
}

/// Adds the rows of a case that the file does not have, behind the others until add_to() sorts them: a watch has cases
/// without end, and does not write all of them again for each. Returns false where the file cannot be added to.
bool CaseFlags::append(const std::string& id) const {
  return append_to_file(output_.folder / kQualityFile, text_of(id, rows_.at(id)), true) == 0;
}

void CaseFlags::judge(const std::string& id, const Volume& labels, const std::vector<Quantiles>& channels,
                      std::int64_t left_bytes) {
  if (!judges()) return;
  std::vector<double> least_part_ml;
  for (const ClassRange& range : ranges_->classes) least_part_ml.push_back(range.least_part_ml);
  const QualityFacts facts{
      .labels = label_facts(LabelSlabs::of(labels.voxels), labels.geometry, least_part_ml, left_bytes),
      .channels = channels};
  const bool is_new = !rows_.contains(id);
  std::vector<Row>& rows = rows_[id];
  rows.clear();
  last_ = quality_flags(facts, *ranges_, class_names_);
  for (const QualityFlag& flag : last_) {
    const auto label_class = static_cast<std::size_t>(flag.label_class);
    rows.push_back({flag.code, label_class > 0 ? class_names_.at(label_class) : "", plain_text(flag.what)});
    progress_.warn("case " + shown_name(id) + ": " + flag.code + " " + flag.what);
  }
  if (!is_listed_ || !is_new || !append(id)) write();
}

void CaseFlags::add_to(PredictReport& report) {
  if (!judges()) {
    std::error_code none;  // a list of a run that is not this one
    fs::remove(output_.folder / kQualityFile, none);
    return;
  }
  write();
  Json cases = Json::array();
  std::string refer;
  std::size_t flagged = 0;
  for (const PredictedCase& item : report.cases) {
    const auto found = rows_.find(item.id);
    if (found == rows_.end()) continue;
    Json flags = Json::array();
    for (const Row& row : found->second)
      flags.push_back({{"code", row.code},
                       {"class", row.label_class.empty() ? Json() : Json(row.label_class)},
                       {"what", row.what}});
    flagged += !found->second.empty();
    if (!found->second.empty())
      refer += "  " + shown_name(item.id) + ": " +
               joined(found->second, "; ", [](const Row& row) { return row.code + " " + row.what; }) + "\n";
    cases.push_back({{"id", item.id}, {"flags", std::move(flags)}});
  }
  for (const CaseFailure& failure : report.failures)
    refer += "  " + shown_name(failure.id) + ": " + failure.code + " " + plain_text(with_flags(failure.message)) + "\n";
  const std::size_t judged = cases.size();
  report.found["quality"] = std::move(cases);
  if (judged > 0)
    report.text += "quality: " + std::to_string(flagged) + " of " + counted(static_cast<std::int64_t>(judged), "case") +
                   " have flags (see " + (output_.folder / kQualityFile).string() + ")\n";
  if (output_.refers)
    report.text += refer.empty() ? "refer: nothing to look at\n" : "refer: a person should look at\n" + refer;
}

}  // namespace voxshard
