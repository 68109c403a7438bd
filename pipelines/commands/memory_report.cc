#include "pipelines/commands/memory_report.h"

namespace voxshard {

ProcessReport add_memory(TaskReport& report, const RunContext& context) {
  report.memory += base_plan(context.base_bytes());
  const ProcessReport all = context.memory().report(report.memory, context.progress());
  report.json["memory"] = to_json(all);
  report.text += to_text(all);
  return all;
}

}  // namespace voxshard
