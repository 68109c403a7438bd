#include "apps/trace_args.h"

#include <CLI/CLI.hpp>

#include "pipelines/profile/device_files.h"

namespace voxshard {

void add_trace_options(CLI::App& app, TraceArgs& args) {
  const std::string group = "Profile";
  app.add_option("--trace", args.file,
                 "Write a profile for Perfetto or chrome://tracing: what each worker did when, and with --device of a TPU its "
                 "emulated clock")
      ->group(group);
  app.add_option("--trace-steps", args.steps, "Steps in the profile, from the first on")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str()
      ->group(group);
}

TraceOptions trace_options(const TraceArgs& args, const std::string& device) {
  TraceOptions options{.file = args.file, .steps = args.steps};
  if (!args.file.empty() && !device.empty() && device != "host") options.device = device_from_name(device).device;
  return options;
}

}  // namespace voxshard
