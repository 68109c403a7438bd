// The end of a report: what the process planned and what it took.
//
//   add_memory(report, context);
#pragma once

#include "pipelines/engine/requests.h"
#include "pipelines/engine/run_context.h"

namespace voxshard {

/// Completes what a task reported: the plan gets its base, JSON and text get the plan and the measured peak.
ProcessReport add_memory(TaskReport& report, const RunContext& context);

}  // namespace voxshard
