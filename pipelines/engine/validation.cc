#include "pipelines/engine/validation.h"

#include <algorithm>

#include "io/files/file_name.h"
#include "pipelines/model_runs/missed_classes.h"
#include "pipelines/model_runs/rank_json.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;

/// The loop over the validation cases, on rank 0.
void validate_cases(Session& session, ValidationPass& pass, const std::function<void(const CaseFailure&)>& leave_out,
                    Progress& progress) {
  const std::vector<PredictionTurn> turns = pass.turns();
  std::int64_t total = 0, done = 0, unread = 0;
  for (const PredictionTurn& turn : turns) total += std::ssize(turn.inputs);
  for (const PredictionTurn& turn : turns) {
    throw_if_stopped(progress);
    if (done == 0) progress.update("validate", 0, total, pass.name(turn.inputs.front()));
    for (const CaseFailure& failure : pass.validate(session, turn)) leave_out(failure), ++unread;
    progress.update("validate", done += std::ssize(turn.inputs), total, pass.name(turn.inputs.back()));
  }
  session.release();
  if (unread == total)
    progress.warn("none of the " + std::to_string(total) + " " + pass.nothing_read() + "; give {val} others");
}

}  // namespace

std::vector<std::string> missed_classes(const Validation& validation, const std::string& metric) {
  std::vector<ScoresOfClass> classes;
  for (std::size_t c = 0; c < std::min(validation.classes.size(), validation.by_class.size()); ++c) {
    classes.push_back({validation.classes[c], validation.by_class[c]});
    for (const ValidatedCase& one : validation.cases) classes.back().by_case.push_back(one.by_class[c]);
  }
  return missed_classes(classes, {.metric = metric});
}

Validation run_validation(Session& session, ValidationPass& pass,
                          const std::function<void(const CaseFailure&)>& leave_out, Progress& progress) {
  session.release();  // releases the core set of the training
  coordinate(session, pass.work(), {}, [&] { validate_cases(session, pass, leave_out, progress); });
  Validation result;
  const Json scores = broadcast_json(session.transport(), [&] {
    result = pass.result();
    return Json{{"score", result.score}, {"by_class", result.by_class}};
  });
  result.score = scores.at("score").get<double>(), result.by_class = scores.at("by_class").get<std::vector<double>>();
  return result;
}

void LeftOut::write_to(const std::filesystem::path& run) {
  run_ = run;
  write_quarantine(run_, failures_);
}

void LeftOut::add(const CaseFailure& failure, Progress& progress) {
  if (!unread_.insert(failure.id).second) return;
  failures_.push_back(failure);
  progress.warn(shown_name(failure.id) + ": " + failure.message + " [left out of validation]");
  if (!run_.empty()) write_quarantine(run_, failures_);
}

}  // namespace voxshard
