// The lists of a batch of `predict`: what ended, how, and what was left out.
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
    outdate_all(failure.id);
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
