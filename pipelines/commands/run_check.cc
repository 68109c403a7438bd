#include "pipelines/commands/run_check.h"

#include "io/audit/audit_chain.h"
#include "io/audit/sha256.h"
#include "pipelines/commands/memory_report.h"

namespace voxshard {

TaskReport run_check(const CheckRequest& request, const RunContext& context, const TaskTable& tasks) {
  for (const auto& task : tasks)
    if (task->checks()) {
      CheckRequest asked = request;
      require_in_range(task->settings(TaskCommand::kCheck, asked.task));
      TaskReport report = task->check(asked, context);
      add_memory(report, context);
      return report;
    }
  return tasks.front()->check(request, context);
}

TaskReport run_check_audit(const std::filesystem::path& file, const std::string& end) {
  if (!end.empty() && !is_sha256(end))
    throw Error(ErrorKind::kUsage, "[check] {audit-end} is a hash of 64 hexadecimal digits; got \"" + end + "\"");
  const AuditChain chain = check_audit_chain(file, {.hash = end});
  nlohmann::ordered_json broken;
  if (chain.broken)
    broken = {
        {"line", chain.broken->line}, {"what", audit_break_name(chain.broken->what)}, {"text", chain.broken->text}};
  TaskReport report;
  report.json = {{"audit",
                  {{"file", file.string()},
                   {"lines", chain.lines},
                   {"last_hash", chain.last_hash},
                   {"torn", chain.torn},
                   {"clock_back", chain.clock_back},
                   {"behind_end", chain.behind_end},
                   {"broken", broken}}}};
  const std::string lines = std::to_string(chain.lines) + " lines";
  report.text = file.string() + ": ";
  if (chain.broken)
    report.text += "BROKEN, line " + std::to_string(chain.broken->line) + " is " +
                   audit_break_name(chain.broken->what) + ": " + chain.broken->text + "; the " + lines +
                   " in order before it are as they were written\n";
  else
    report.text += lines + " are as they were written" + (chain.lines > 0 ? ", last " + chain.last_hash : "") + "\n";
  if (chain.behind_end > 0)
    report.text += std::to_string(chain.behind_end) + " lines were added behind the one of {audit-end}\n";
  if (chain.torn > 0)
    report.text += std::to_string(chain.torn) + " lines were cut by a crash, of which the lines behind them tell\n";
  if (chain.clock_back > 0)
    report.text += "the clock went back " + std::to_string(chain.clock_back) + " times, first in line " +
                   std::to_string(chain.first_back) + "\n";
  return report;
}

}  // namespace voxshard
