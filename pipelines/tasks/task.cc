#include "pipelines/tasks/task.h"

#include <algorithm>
#include <cstdio>

#include "libcore/base/text.h"

namespace voxshard {

TaskReport Task::prepare(const PrepareRequest& request, Progress&) const {
  throw Error(ErrorKind::kUsage, "[prepare] the data of " + std::string(name()) + " are trained on as they are; give " +
                                     request.dataset.string() + " to `voxshard train`");
}

InfoSection& InfoReport::set(const std::string& name) {
  const auto it = std::find_if(sets.begin(), sets.end(), [&](const auto& set) { return set.first == name; });
  if (it != sets.end()) return it->second;
  return sets.emplace_back(name, InfoSection()).second;
}

std::vector<CaseFailure> left_out(const PredictReport& report) {
  std::vector<CaseFailure> all = report.failures;
  for (const std::string& id : report.not_reached)
    all.push_back({id, "E_STOPPED", "[predict] not reached before the run was stopped; predict again"});
  return all;
}

std::string prediction_text(const PredictReport& report, const std::filesystem::path& folder, const std::string& what) {
  double seconds = 0;
  for (const PredictedCase& c : report.cases) seconds += c.seconds;
  std::string text =
      std::to_string(report.cases.size()) + " predicted, " + std::to_string(report.failures.size()) + " quarantined";
  if (!report.failures.empty()) text += " (see " + (folder / "quarantine.csv").string() + ")";
  if (report.interrupted)
    text += "; INCOMPLETE: " + std::to_string(report.not_reached.size()) + " of " +
            std::to_string(report.cases.size() + report.failures.size() + report.not_reached.size()) + " not reached (see " +
            (folder / "quarantine.csv").string() + ")";
  char rate[64];
  std::snprintf(rate, sizeof rate, ", %.2f s per image",
                report.cases.empty() ? 0.0 : seconds / static_cast<double>(report.cases.size()));
  return text + what + rate + "; at most " + bytes_text(report.bytes_per_core) + " per core\n";
}

}  // namespace voxshard
