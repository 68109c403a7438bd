#include "libcore/schedule/ranks.h"

#include <algorithm>

namespace voxshard {

std::pair<SumTree::Node, SumTree::Node> SumTree::Node::halves() const {
  const std::size_t middle = begin + (end - begin + 1) / 2;
  return {{begin, middle}, {middle, end}};
}

SumTree::SumTree(const Sum& sum, const Ranks& ranks, std::int64_t cores) {
  for (int r = 0; r < ranks.ranks; ++r) {
    const auto first = static_cast<std::size_t>(ranks.first_of(r, cores));
    const auto at = std::find_if(sum.addends.begin(), sum.addends.end(), [&](const BlockId& b) { return b.core >= first; });
    begins_.push_back(static_cast<std::size_t>(at - sum.addends.begin()));
  }
  begins_.push_back(sum.addends.size());
}

std::vector<SumTree::Node> SumTree::complete_subtrees(int rank) const {
  const std::size_t begin = begins_[static_cast<std::size_t>(rank)], end = begins_[static_cast<std::size_t>(rank) + 1];
  std::vector<Node> found, open{root()};
  while (!open.empty()) {
    const Node node = open.back();
    open.pop_back();
    if (node.end <= begin || node.begin >= end) continue;
    if (begin <= node.begin && node.end <= end) {
      found.push_back(node);
      continue;
    }
    const auto [left, right] = node.halves();
    open.push_back(right);
    open.push_back(left);
  }
  return found;
}

std::int64_t subtotal_bytes(DType type) { return type == DType::kF32 ? 4 : 8; }

std::vector<const Copy*> crossing(const Instruction& exchange, const Ranks& ranks, int from, int to, std::int64_t cores) {
  const Ranks sender{from, ranks.ranks}, receiver{to, ranks.ranks};
  std::vector<const Copy*> copies;
  for (const Copy& copy : exchange.copies)
    if (sender.hosts(copy.from, cores) && receiver.hosts(copy.to, cores)) copies.push_back(&copy);
  return copies;
}

std::int64_t bytes_of(const std::vector<const Copy*>& copies, DType type) {
  std::int64_t bytes = 0;
  for (const Copy* copy : copies) bytes += copy->box.count() * dtype_bytes(type);
  return bytes;
}

std::int64_t message_bytes(const Program& program, const Schedule& schedule, const Ranks& ranks) {
  std::int64_t most = 0;
  const std::int64_t cores = program.mesh().cores();
  for (std::size_t i = 0; ranks.ranks > 1 && i < program.instructions.size(); ++i) {
    const Instruction& instruction = program.instructions[i];
    const DType type = program.graph.node(instruction.value).type.dtype;
    for (int peer = 0; peer < ranks.ranks; ++peer) {
      if (peer == ranks.rank) continue;
      most = std::max({most, bytes_of(crossing(instruction, ranks, ranks.rank, peer, cores), type),
                       bytes_of(crossing(instruction, ranks, peer, ranks.rank, cores), type)});
    }
    for (const Sum& sum : schedule.sums[i]) {
      const SumTree tree(sum, ranks, cores);
      std::size_t held = 0;
      for (int r = 0; r < ranks.ranks; ++r)
        if (ranks.rank == 0 || r == ranks.rank) held += tree.complete_subtrees(r).size();
      const auto subtotals = static_cast<std::int64_t>(std::max<std::size_t>(1, held));
      most = std::max(most, subtotals * sum.box.count() * subtotal_bytes(type));
    }
  }
  return most;
}

}  // namespace voxshard
