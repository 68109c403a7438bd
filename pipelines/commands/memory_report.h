// The end of a report: the planned and the measured memory of the process.
//
//   add_memory(report, context);
#pragma once

#include "pipelines/engine/requests.h"
#include "pipelines/engine/run_context.h"

namespace voxshard {

/// Completes the report of a task: the plan gets its base, JSON and text get the plan and the measured peak.
ProcessReport add_memory(TaskReport& report, const RunContext& context);

}  // namespace voxshard
