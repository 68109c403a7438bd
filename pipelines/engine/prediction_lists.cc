// The lists of a batch of `predict`: what ended, how, and what was left out.
#include "io/files/file_name.h"
#include "libcore/base/plain_text.h"
#include "libcore/base/text.h"
#include "pipelines/engine/prediction.h"

namespace voxshard {

void PredictionBatch::leave(ForeignFiles foreign, bool shows_names) {
  foreign.shows_names = shows_names, hides_paths_ = options.recursive && !shows_names;
  report.foreign = std::move(foreign);
  if (report.foreign.any()) progress.warn("left out: " + text_of(report.foreign));
}

void PredictionBatch::list(const std::vector<CaseFailure>& unusable) {
  for (const CaseFailure& failure : unusable) {
    outdate(failure.id);
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

void PredictionBatch::fail(std::size_t i, const std::string& code, const std::string& message) {
  settle();
  ended_.insert(i), ++failed_;
  outdate(names_[i]);
  audited_.failed[report.failures.size()] = i;
  report.failures.push_back({plain_text(names_[i]), code, shown(message)});
  if (!told_at_end_)
    progress.warn(words_.one + shown_name(names_[i]) + ": " + report.failures.back().message + " [quarantined]");
}

void PredictionBatch::outdate(const std::string& name) {
  const std::string id = plain_text(name);
  for (std::size_t at = 0; at < earlier_failures_; ++at)
    if (plain_text(report.failures[at].id) == id) outdated_.insert(at);
}

std::size_t PredictionBatch::drop_outdated() {
  const std::size_t gone = outdated_.size();
  if (gone == 0) return 0;
  std::vector<CaseFailure> kept;
  for (std::size_t at = 0; at < report.failures.size(); ++at)
    if (!outdated_.contains(at)) kept.push_back(std::move(report.failures[at]));
  report.failures = std::move(kept);
  audited_.failed.clear();  // all of them have their lines
  outdated_.clear();
  earlier_failures_ -= gone, outdated_failures_ += gone;
  return gone;
}

}  // namespace voxshard
