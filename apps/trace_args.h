// The options of a profile, shared by train and bench.
//
//   --trace step.json --trace-steps 2 [--device tpu-v3-8]
#pragma once

#include <string>

#include "pipelines/profile/trace_json.h"

namespace CLI {
class App;
}

namespace voxshard {

struct TraceArgs {
  std::string file;
  std::int64_t steps = 2;
};

void add_trace_options(CLI::App& app, TraceArgs& args);
/// `device`: the name given to --device; none and "host" add no emulated clock. Errors: kConfig for an unknown device.
TraceOptions trace_options(const TraceArgs& args, const std::string& device);

}  // namespace voxshard
