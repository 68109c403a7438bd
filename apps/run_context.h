// The context that a command runs in.
//
//   const RunContext run = run_context(context, options->resources);
#pragma once

#include "apps/command.h"
#include "pipelines/engine/run_context.h"

namespace voxshard {

/// With the threads and processes of the program, and what --memory and --host-memory grant.
inline RunContext run_context(const Context& context, RunResources resources) {
  resources.threads = context.threads, resources.transport = context.transport;
  return RunContext(*context.progress, resources);
}

}  // namespace voxshard
