#include "pipelines/engine/requests.h"

#include <algorithm>
#include <atomic>

#include "io/files/content_hash.h"
#include "libcore/base/parallel.h"
#include "libcore/base/text.h"

namespace voxshard {

InfoSection& InfoReport::set(const std::string& name) {
  const auto it = std::find_if(sets.begin(), sets.end(), [&](const auto& set) { return set.first == name; });
  if (it != sets.end()) return it->second;
  return sets.emplace_back(name, InfoSection()).second;
}

std::string demo_hash(const DemoOptions& o, int cases, int test_cases) {
  return content_hash("demo 1 " + o.task + " " + o.size + " " + std::to_string(o.seed) + " " + std::to_string(cases) +
                      " " + std::to_string(test_cases) + (o.kind.empty() ? "" : " " + o.kind));
}

void make_demo_cases(const DemoOptions& options, int total, const std::string& what, Progress& progress,
                     const std::function<std::string(int)>& make) {
  std::atomic<int> done{0};
  WorkerPool pool(options.threads);
  progress.update(what, 0, total, "");
  pool.run(total, [&](std::int64_t i, int) {
    throw_if_stopped(progress);
    const std::string name = make(static_cast<int>(i));
    progress.update(what, ++done, total, name);
  });
}

std::vector<CaseFailure> gone_from(const KeptSplit& kept, const std::vector<std::string>& names) {
  const std::set<std::string> there(names.begin(), names.end());
  std::vector<CaseFailure> gone;
  for (const auto* part : {&kept.train, &kept.val})
    for (const std::string& name : *part)
      if (!there.contains(name))
        gone.push_back({name, "E_MISSING", "was there when the run began; it goes on without"});
  return gone;
}

std::vector<std::filesystem::path> PredictOptions::read_paths() const {
  std::vector<std::filesystem::path> paths = {input, run};
  paths.insert(paths.end(), further_runs.begin(), further_runs.end());
  return paths;
}

std::string prediction_hash(const PredictOptions& o, const TrainedRun& run, const std::string& how) {
  std::string runs = file_hash(run.file);
  for (const AveragedRun& one : averaged_runs_of(run))  // none of a run alone
    runs += " " + one.hash + " " + one.weights + " " + std::to_string(one.times);
  return content_hash("predict 1 " + runs + " " + (o.weights != "auto" ? o.weights + " " : "") +
                      (o.precision ? dtype_name(*o.precision) : "") + " " + how);
}

std::vector<CaseFailure> left_out(const PredictReport& report) {
  std::vector<CaseFailure> all = report.failures;
  for (const std::string& id : report.not_reached)
    all.push_back({id, "E_STOPPED", "[predict] not reached before the run was stopped; predict again"});
  return all;
}

std::string prediction_text(const PredictReport& report, const std::filesystem::path& quarantine,
                            const std::string& what) {
  double seconds = 0;
  for (const PredictedCase& c : report.cases) seconds += c.seconds;
  std::string text = std::to_string(report.cases.size()) + " predicted" +
                     (report.kept > 0 ? " (" + std::to_string(report.kept) + " by an earlier call, kept), " : ", ") +
                     std::to_string(report.failures.size()) + " quarantined";
  if (!report.failures.empty()) text += " (see " + quarantine.string() + ")";
  if (report.interrupted)
    text += "; INCOMPLETE: interrupted, " + std::to_string(report.not_reached.size()) + " of " +
            std::to_string(report.cases.size() + report.failures.size() + report.not_reached.size()) +
            " not reached (see " + quarantine.string() + "); the same command goes on";
  const std::int64_t now = static_cast<std::int64_t>(report.cases.size()) - report.kept;
  const double each = now > 0 ? seconds / static_cast<double>(now) : 0.0;
  return text + what + ", " + fixed_text(each, 2) + " s each; at most " + bytes_text(report.bytes_per_core) +
         " per core\n";
}

}  // namespace voxshard
