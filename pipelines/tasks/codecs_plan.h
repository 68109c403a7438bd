// Memory of OpenCV's codecs, which are loaded with the first picture: a process that has none of them takes less.
#pragma once

#include "pipelines/model_runs/process_plan.h"

namespace voxshard {

/// Loads the codecs and returns what they take beside the base of a process, which is measured before: the same bytes
/// at every call. Errors: those of load_codecs().   Threads: one.
ProcessPlan codecs_plan();

}  // namespace voxshard
