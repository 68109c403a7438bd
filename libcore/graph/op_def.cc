#include "libcore/graph/op_def.h"

#include <algorithm>

namespace voxshard {

const OpDef& OpTable::at(const std::string& name) const {
  const auto it = ops_.find(name);
  ensure(it != ops_.end(), ("no op is named " + name).c_str());
  return it->second;
}

Dims grain_of(const OpDef& def, const OpContext& op) {
  const Shape& over = def.driver < 0 ? op.result.shape : op.inputs[def.driver].shape;
  Dims grain;
  if (def.grain != nullptr) grain = def.grain(op);
  if (grain.empty()) return Dims::filled(over.axes(), 1);
  ensure(grain.axes() == over.axes(), "a grain has an entry per axis of what blocks are boxes of");
  return grain;
}

std::int64_t slices_of(const OpDef& def, const OpContext& op) { return def.slices == nullptr ? 1 : def.slices(op); }

Box rounded_out(const Box& box, const Dims& grain, const Shape& shape) {
  Box out = box;
  for (int a = 0; a < box.axes(); ++a)
    if (grain[a] > 1)
      out.set(a, box.begin[a] / grain[a] * grain[a], std::min(shape[a], ceil_div(box.end(a), grain[a]) * grain[a]));
  return out;
}

Box needed_box(const OpDef& def, const OpContext& op, int input, const Box& block) {
  const Shape& shape = op.inputs[input].shape;
  if (block.empty()) return Box::none(shape.axes());
  const Box iteration =
      def.grain == nullptr || def.driver >= 0 ? block : rounded_out(block, grain_of(def, op), op.result.shape);
  if (def.needed != nullptr) return def.needed(op, input, iteration);
  if (shape.axes() != iteration.axes()) return Box::whole(shape);
  Box box = iteration;
  box.set(box.axes() - 1, 0, shape.back());
  return box;
}

Box result_box(const OpDef& def, const OpContext& op, const Box& iteration) {
  return def.adds_to != nullptr ? def.adds_to(op, iteration) : Box::whole(op.result.shape);
}

Work work_of(const OpDef& def, const OpContext& op, const Box& iteration) {
  if (iteration.empty()) return {};
  if (def.work != nullptr) return def.work(op, iteration);
  Work work;
  work.flops = static_cast<double>(iteration.count());
  for (int i = 0; i < static_cast<int>(op.inputs.size()); ++i)
    if (i != def.scalar)
      work.bytes += static_cast<double>(needed_box(def, op, i, iteration).count() * dtype_bytes(op.inputs[i].dtype));
  if (def.driver < 0) work.bytes += static_cast<double>(iteration.count() * dtype_bytes(op.result.dtype));
  return work;
}

}  // namespace voxshard
