#include "pipelines/emulation/explain_passes.h"

#include "libcore/base/text.h"

namespace voxshard {
namespace {

constexpr double kMegabyte = 1e6, kMicrosecond = 1e-6;

}  // namespace

std::array<PassSum, std::size(kPassNames)> pass_sums(const StepPrice& price) {
  std::array<PassSum, std::size(kPassNames)> sums;
  for (const InstructionPrice& instruction : price.instructions)
    for (const Pass& pass : instruction.passes) {
      PassSum& sum = sums[static_cast<std::size_t>(pass.kind)];
      ++sum.count, sum.bytes += pass.bytes, sum.seconds += pass.seconds;
    }
  return sums;
}

std::string passes_text(const Program& program, const StepPrice& price, const std::string& device) {
  std::vector<std::vector<std::string>> lines = {{"instruction", "op", "pass", "operand", "axis", "MB", "us"}};
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    const Node& node = program.graph.node(program.instructions[i].value);
    for (const Pass& pass : price.instructions[i].passes)
      lines.push_back({node.name, node.op, kPassNames[static_cast<std::size_t>(pass.kind)],
                       program.graph.node(pass.operand).name, std::to_string(pass.axis),
                       fixed_text(pass.bytes / kMegabyte, 3), fixed_text(pass.seconds / kMicrosecond, 1)});
  }
  if (lines.size() == 1) return "no passes: no sample is cut, no core needs what another holds\n";
  std::vector<std::vector<std::string>> kinds = {{"pass", "count", "MB", "us"}};
  const auto sums = pass_sums(price);
  for (std::size_t kind = 0; kind < sums.size(); ++kind)
    kinds.push_back({kPassNames[kind], std::to_string(sums[kind].count), fixed_text(sums[kind].bytes / kMegabyte, 3),
                     fixed_text(sums[kind].seconds / kMicrosecond, 1)});
  return text_table(lines) + "\n" + text_table(kinds) + "\n" + fixed_text(price.busy.pass_s / kMicrosecond, 1) +
         " us of passes and " + fixed_text(price.busy.link_s / kMicrosecond, 1) + " us of links in a step of " +
         fixed_text(price.device_s / kMicrosecond, 1) + " us of the cores of " + device + "\n";
}

}  // namespace voxshard
