#include "libcore/partition/text.h"

#include <algorithm>
#include <sstream>

#include "libcore/graph/text.h"

namespace voxshard {
namespace {

/// Describes the layout of a cut value: the core that holds most, and the widest margins of any core (voxels below and
/// above what it owns, per axis): ", core 1 owns [0:1, 3:6, 0:4, 0:1] holds [0:1, 2:7, -1:5, 0:1], halo low 0x1x1x0
/// high 0x1x1x0; follows conv0/norm".
std::string boxes_text(const Program& program, ValueId id) {
  const ValuePlan& plan = program.plan(id);
  const std::string why = "; " + to_string(plan.reason, program.graph);
  std::size_t widest = 0;
  const int axes = plan.own[0].axes();
  Dims low = Dims::filled(axes, 0), high = low;
  for (std::size_t core = 0; core < plan.own.size(); ++core) {
    const Box &own = plan.own[core], &held = plan.held[core];
    if (held.count() > plan.held[widest].count()) widest = core;
    if (own.empty()) continue;
    for (int a = 0; a < axes; ++a) {
      low[a] = std::max(low[a], own.begin[a] - held.begin[a]);
      high[a] = std::max(high[a], held.end(a) - own.end(a));
    }
  }
  std::string text = ", core " + std::to_string(widest) + " owns " + to_string(plan.own[widest]);
  if (plan.own == plan.held) return text + ", no halo" + why;
  return text + " holds " + to_string(plan.held[widest]) + ", halo low " + to_string(low) + " high " + to_string(high) +
         why;
}

std::string instruction_text(const Program& program, const Instruction& instruction) {
  const Node& node = program.graph.node(instruction.value);
  const ValuePlan& plan = program.plan(instruction.value);
  const std::int64_t size = dtype_bytes(node.type.dtype);
  switch (instruction.kind) {
    case InstructionKind::kCompute: {
      std::size_t blocks = 0;
      for (const auto& list : instruction.blocks) blocks += list.size();
      const bool once = plan.layout.replicated && !instruction.partial;
      const ConvKernel by = kernel_of(node.attrs);
      return "compute      " + node.name + " = " + node.op +
             (by == ConvKernel::kAny ? "" : std::string(" by ") + kConvKernelNames[static_cast<std::size_t>(by)]) +
             " : " + to_string(node.type) + ", " + (once ? "replicated" : std::to_string(blocks) + " blocks") +
             (instruction.partial ? ", partial" : "") +
             (plan.layout.replicated ? "" : boxes_text(program, instruction.value));
    }
    case InstructionKind::kJoin:
      return "join         " + node.name + " : " + to_string(node.type) + ", " + std::to_string(node.type.bytes()) +
             " bytes";
    case InstructionKind::kFillMargin: {
      std::int64_t outside = 0;
      const Box whole = Box::whole(node.type.shape);
      for (const Box& held : plan.held) outside += held.count() - intersect(held, whole).count();
      return "fill_margin  " + node.name + ", " + std::to_string(outside * size) + " bytes";
    }
    case InstructionKind::kPack: {
      const auto types = program.graph.input_types(instruction.value);
      std::int64_t most = 0;  // the weights are the largest replicated input
      for (std::size_t i = 0; i < types.size(); ++i)
        if (program.replicated(node.inputs[i])) most = std::max(most, types[i].bytes());
      return "pack         weights of " + node.name + ", " + std::to_string(most) + " bytes";
    }
    case InstructionKind::kExchange: {
      std::int64_t all = 0, widest = 0;
      for (const Copy& copy : instruction.copies) {
        all += copy.box.count();
        widest = std::max(widest, copy.box.count());
      }
      return "exchange     " + node.name + ", " + std::to_string(instruction.copies.size()) + " copies, " +
             std::to_string(all * size) + " bytes, the widest " + std::to_string(widest * size);
    }
  }
  return "";
}

}  // namespace

std::string to_text(const Program& program) {
  std::ostringstream out;
  out << "mesh replicas=" << program.mesh().replicas << " partition=" << to_string(program.mesh().partition)
      << " cores=" << program.mesh().cores() << "\n";
  for (ValueId id = 0; id < program.graph.size(); ++id) {
    const Node& node = program.graph.node(id);
    if (node.role == Role::kInput)
      out << "input        " << node.name << " : " << to_string(node.type)
          << (program.replicated(id) ? std::string(", replicated") : boxes_text(program, id)) << "\n";
  }
  for (const Instruction& instruction : program.instructions) out << instruction_text(program, instruction) << "\n";
  return out.str();
}

namespace {

std::string boxes(const std::vector<Box>& boxes) {
  std::string text;
  for (const Box& box : boxes) text += " " + to_string(box);
  return text;
}

std::string cut_text(const Cut& cut) {
  std::string text =
      "cut replicas=" + std::to_string(cut.mesh.replicas) + " partition=" + to_string(cut.mesh.partition);
  if (cut.thinnest_slab != 0) text += " thinnest_slab=" + std::to_string(cut.thinnest_slab);
  if (cut.recompute != Recompute::kNone) text += std::string(" recompute=") + recompute_name(cut.recompute);
  if (cut.convolution != Convolution::kFast)
    text += std::string(" convolution=") + kConvolutionNames[static_cast<std::size_t>(cut.convolution)];
  for (const auto& [name, placement] : cut.inputs)
    text += "\nplaced " + name + " " + kPlacementWords[static_cast<std::size_t>(placement.kind)] +
            (placement.grid.empty() ? "" : " grid=" + to_string(placement.grid));
  return text + "\n";
}

std::string layout_text(const Layout& layout) {
  std::string text = " cut";
  for (std::size_t a = 0; a < layout.axes.size(); ++a) {
    if (a > 0) text += " |";
    for (const auto& [begin, end] : layout.axes[a]) text += " " + std::to_string(begin) + ":" + std::to_string(end);
  }
  return layout.grid.empty() ? text : text + " grid=" + to_string(layout.grid);
}

std::string parts_text(const Instruction& instruction) {
  std::string text = instruction.partial ? " partial" : "";
  for (const auto& blocks : instruction.blocks) text += " |" + boxes(blocks);
  for (std::size_t i = 0; i < instruction.copies.size(); ++i) {
    const Copy& copy = instruction.copies[i];
    text +=
        (i > 0 ? ", " : " ") + std::to_string(copy.from) + ">" + std::to_string(copy.to) + " " + to_string(copy.box);
  }
  return text;
}

}  // namespace

std::string whole_text(const Program& program) {
  std::ostringstream out;
  out << to_text(program.graph) << cut_text(program.cut);
  for (ValueId id = 0; id < program.graph.size(); ++id) {
    const ValuePlan& plan = program.plan(id);
    if (!plan.layout.replicated) out << "value %" << id << layout_text(plan.layout) << "\n";
    if (plan.own != plan.layout.boxes(program.mesh(), program.graph.node(id).type.shape))
      out << "own %" << id << boxes(plan.own) << "\n";
    if (plan.held != plan.own) out << "held %" << id << boxes(plan.held) << "\n";
  }
  for (const Instruction& instruction : program.instructions)
    out << kInstructionNames[static_cast<std::size_t>(instruction.kind)] << " %" << instruction.value
        << parts_text(instruction) << "\n";
  out << "prologue " << program.prologue << "\n";
  return out.str();
}

}  // namespace voxshard
