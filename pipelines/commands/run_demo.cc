#include "pipelines/commands/run_demo.h"

#include <algorithm>

#include "libcore/base/stopwatch.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

int subdivision(const std::string& size) {
  if (size == "small") return 1;
  if (size == "medium") return 2;
  if (size == "large") return 3;
  throw Error(ErrorKind::kUsage, "[demo] {size} is \"" + size + "\"; expected small, medium or large");
}

}  // namespace

DemoReport run_demo(const DemoOptions& options, Progress& progress, const TaskTable& tasks) {
  const Task& task = options.task.empty() ? *tasks.front() : task_named(tasks, options.task);
  const int cases = options.cases.value_or(1), test_cases = options.test_cases.value_or(0);
  if (cases < 1 || cases > 10000 || test_cases < 0 || test_cases > 10000)
    throw Error(ErrorKind::kUsage, "[demo] {cases} must be 1 to 10000 and {test} 0 to 10000");
  const std::vector<std::string> kinds = task.demo_kinds();
  if (!options.kind.empty() && std::ranges::find(kinds, options.kind) == kinds.end())
    throw Error(ErrorKind::kUsage,
                "[demo] {kind} is \"" + options.kind + "\"; " + task.name() +
                    (kinds.empty() ? " has no kinds to choose from" : " has " + joined(kinds, ", ")));
  const int times = subdivision(options.size);
  const Stopwatch watch;
  DemoReport report = task.demo(options, times, progress);
  report.folder = options.folder;
  report.task = task.name();
  report.seconds = watch.seconds();
  return report;
}

nlohmann::ordered_json to_json(const DemoReport& report) {
  return {{"folder", report.folder.string()}, {"task", report.task},         {"cases", report.cases},
          {"test_cases", report.test_cases},  {report.point, report.points}, {"seconds", report.seconds}};
}

}  // namespace voxshard
