#include "pipelines/commands/run_explain.h"

#include "libcore/graph/text.h"
#include "libcore/ops/op_table.h"
#include "libcore/partition/text.h"
#include "pipelines/commands/explain_passes.h"
#include "pipelines/profile/device_files.h"

namespace voxshard {

std::string run_explain(const ModelSpec& spec, const Shape& extents, const std::string& stage) {
  if (stage == "graph") return to_text(build_graph(spec, extents, Phase::kPredict, spec.precision));
  Graph step = step_graph(build_graph(spec, extents, Phase::kTrain, spec.precision), op_table(), spec.cut.recompute);
  if (stage == "grad") return to_text(step);
  if (stage == "passes") {
    const Lowered lowered = lower_to_memory(std::move(step), op_table(), spec.cut, {.tiled = true});
    const auto device = device_from_name("tpu-v3").device;
    return passes_text(lowered.program, device->price(lowered.program, op_table(), {}), device->name());
  }
  Lowered lowered = lower_to_memory(std::move(step), op_table(), spec.cut, {});
  if (stage == "program") return to_text(lowered.program);
  if (stage == "memory") {
    const Executable executable = make_verified(std::move(lowered), op_table(), {});
    return to_text(executable.program, executable.memory);
  }
  throw Error(ErrorKind::kConfig, "[explain] the stage \"" + stage + "\" is not known; expected graph, grad, program, memory, passes");
}

}  // namespace voxshard
