// The context in which a command runs.
//
//   const RunContext run = run_context(context, options->resources);
#pragma once

#include "apps/command.h"
#include "pipelines/engine/run_context.h"

namespace voxshard {

/// Returns the context with the program's threads and processes, and the limits of --memory and --host-memory.
inline RunContext run_context(const Context& context, RunResources resources) {
  resources.threads = context.threads, resources.transport = context.transport;
  return RunContext(*context.progress, resources);
}

}  // namespace voxshard
