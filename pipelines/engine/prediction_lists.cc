// The lists of a batch of `predict`: what ended, how, what earlier calls found, and what was left out.
#include <algorithm>

#include "io/files/content_hash.h"
#include "io/files/file_name.h"
#include "libcore/base/plain_text.h"
#include "libcore/base/text.h"
#include "pipelines/engine/prediction.h"

namespace voxshard {
namespace {

/// Erases the elements at these indices; the others keep their order.
template <class Item>
void erase_at(std::vector<Item>& items, const std::set<std::size_t>& indices) {
  for (auto at = indices.rbegin(); at != indices.rend(); ++at)
    items.erase(items.begin() + static_cast<std::ptrdiff_t>(*at));
}

}  // namespace

void PredictionBatch::leave(ForeignFiles foreign, bool shows_names) {
  foreign.shows_names = shows_names, hides_paths_ = options.recursive && !shows_names;
  report.foreign = std::move(foreign);
  if (report.foreign.any()) progress.warn("left out: " + text_of(report.foreign));
}

void PredictionBatch::list(const std::vector<CaseFailure>& unusable) {
  for (const CaseFailure& failure : unusable) {
    outdate(failure.id);  // a case of its name that was predicted still is
    report.failures.push_back({failure.id, failure.code, shown(failure.message)});
    progress.warn(shown_name(failure.id) + ": " + report.failures.back().message + " [quarantined]");
  }
}

void PredictionBatch::done(std::size_t i, const std::filesystem::path& file, double seconds, bool kept) {
  settle();
  ended_.insert(i);
  outdate(names_[i]);
  report.cases.push_back({names_[i], file, seconds});
  audited_.done.push_back(i), audited_.kept.push_back(kept);
  report.kept += kept;
  if (at_once_ <= 1)
    progress.log(words_.one + shown_name(names_[i]) + ": " +
                 (kept          ? "kept, predicted by an earlier call"
                  : seconds > 0 ? "predicted in " + fixed_text(seconds, 2) + " s"
                                : "predicted"));
}

void PredictionBatch::keep(std::size_t i, const nlohmann::json& found) {
  if (!parts_ || part_of_[i].empty() || times_of(audited_.files[i]) != audited_.files[i].times) return;
  parts_->add(part_of_[i], found);
}

std::string PredictionBatch::version_and_cut(const PredictionTurn& turn) const {
  const bool budgeted = context.resources().host_budget_bytes > 0;
  std::string text = VOXSHARD_VERSION;
  for (std::size_t model = 0; model < models(); ++model) {
    const auto& fits = planned(model).fits;
    const auto found = fits.find(turn.extents_of(model));
    text += " " + to_string(budgeted && found != fits.end() ? found->second.partition
                                                            : run_of(model).spec.cut.mesh.partition);
  }
  return text;
}

void PredictionBatch::read_parts(Prediction& task, const std::vector<PredictionTurn>& turns) {
  const std::optional<std::string> how = task.kept_with();
  if (!how || names_.size() < 2) return;
  parts_.emplace(parts_file_of(options.output), prediction_hash(options, run, *how));
  part_of_.resize(names_.size()), restored_.resize(names_.size());
  std::multimap<std::string, std::size_t> inputs;  // by part: two may have the same content
  const auto content = [&](std::size_t i) { return i < audited_.files.size() ? audited_.files[i].content : ""; };
  for (const PredictionTurn& turn : turns) {
    std::string batch = version_and_cut(turn);  // all that bits may depend on beside the input and its place
    for (std::size_t model = 0; model < models(); ++model) batch += " " + to_string(turn.extents_of(model));
    if (turn.inputs.size() > 1)
      for (const std::size_t i : turn.inputs) batch += " " + content(i);
    for (std::size_t at = 0; at < turn.inputs.size(); ++at)
      if (const std::size_t i = turn.inputs[at]; !content(i).empty())
        inputs.emplace(part_of_[i] = content_hash(batch + " " + std::to_string(at) + " " + content(i)), i);
  }
  parts_->read([&](const std::string& part, const nlohmann::json& found) {
    bool taken = false;
    const auto [first, last] = inputs.equal_range(part);
    for (auto at = first; at != last; ++at)
      if (task.restore(at->second, found)) restored_[at->second] = taken = true;
    return taken;
  });
}

bool PredictionBatch::is_kept(const PredictionTurn& turn) const {
  return parts_ && std::ranges::all_of(turn.inputs, [this](std::size_t i) { return restored_[i] != 0; });
}

void PredictionBatch::end_kept(const PredictionTurn& turn, Prediction& task) {
  for (const std::size_t i : turn.inputs) task.add_beside(i), done(i, options.output, 0, true);
}

void PredictionBatch::fail(std::size_t i, const std::string& code, const std::string& message) {
  settle();
  ended_.insert(i), ++failed_;
  outdate_all(names_[i]);
  audited_.failed[report.failures.size()] = i;
  report.failures.push_back({plain_text(names_[i]), code, shown(message)});
  if (!told_at_end_)
    progress.warn(words_.one + shown_name(names_[i]) + ": " + report.failures.back().message + " [quarantined]");
}

void PredictionBatch::outdate(const std::string& name) {
  const std::string id = plain_text(name);
  for (std::size_t at = 0; at < earlier_failures_; ++at)
    if (plain_text(report.failures[at].id) == id) old_failures_.insert(at);
}

void PredictionBatch::outdate_all(const std::string& name) {
  outdate(name);
  const std::string id = plain_text(name);
  for (std::size_t at = 0; at < earlier_cases_; ++at)
    if (plain_text(report.cases[at].id) == id) old_cases_.insert(at);
}

void PredictionBatch::drop_outdated(AuditTrail* trail) {
  const std::size_t cases = old_cases_.size(), failures = old_failures_.size();
  for (const std::size_t at : old_cases_) report.kept -= audited_.kept[at];
  erase_at(report.cases, old_cases_), erase_at(audited_.done, old_cases_), erase_at(audited_.kept, old_cases_);
  erase_at(report.failures, old_failures_);
  if (failures > 0) audited_.failed.clear();  // all of them have their lines
  old_cases_.clear(), old_failures_.clear();
  earlier_cases_ -= cases, outdated_cases_ += cases;
  earlier_failures_ -= failures, outdated_failures_ += failures;
  if (trail != nullptr) trail->dropped(cases, failures);
}

}  // namespace voxshard
