#include "pipelines/commands/run_explain.h"

#include "libcore/ops/op_table.h"

namespace voxshard {

std::string run_explain(const ModelSpec& spec, const Shape& extents, const std::string& stage) {
  if (stage == "graph") return to_text(build_graph(spec, extents, Phase::kPredict, spec.precision));
  Graph graph = with_recomputation(build_graph(spec, extents, Phase::kTrain, spec.precision), op_table(), spec.cut.recompute);
  if (stage == "grad") return to_text(graph);
  const Program program = partition(std::move(graph), op_table(), spec.cut);
  if (stage == "program") return to_text(program);
  if (stage == "memory") return to_text(program, plan_memory(program, op_table(), {}));
  throw Error(ErrorKind::kConfig, "[explain] the stage \"" + stage + "\" is not known; expected graph, grad, program, memory");
}

}  // namespace voxshard
