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
    const auto at =
        std::find_if(sum.addends.begin(), sum.addends.end(), [&](const BlockId& b) { return b.core >= first; });
    begins_.push_back(static_cast<std::size_t>(at - sum.addends.begin()));
  }
  begins_.push_back(sum.addends.size());
}

std::vector<SumTree::Node> SumTree::complete_subtrees(int rank) const {
  const std::size_t begin = begins_[rank], end = begins_[static_cast<std::size_t>(rank) + 1];
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

std::vector<const Copy*> crossing(const Instruction& exchange, const Ranks& ranks, int from, int to,
                                  std::int64_t cores) {
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

std::pair<std::int64_t, std::int64_t> SumParts::of(int rank) const {
  if (elements < kElementsWorthParts) return {0, rank == 0 ? elements : 0};
  return {elements * rank / ranks, elements * (rank + 1) / ranks};
}

MessageBytes reduction_bytes(const SumTree& tree, std::int64_t elements, std::int64_t element_bytes,
                             const Ranks& ranks) {
  const auto [begin, end] = SumParts{elements, ranks.ranks}.of(ranks.rank);
  std::int64_t own = 0, others = 0;
  for (int r = 0; r < ranks.ranks; ++r)
    (r == ranks.rank ? own : others) += static_cast<std::int64_t>(tree.complete_subtrees(r).size());
  return {std::max<std::int64_t>(1, own) * elements * element_bytes, others * (end - begin) * element_bytes};
}

std::int64_t message_bytes(const Program& program, const Schedule& schedule, const Ranks& ranks) {
  std::int64_t most = 0;
  const std::int64_t cores = program.mesh().cores();
  for (std::size_t i = 0; ranks.ranks > 1 && i < program.instructions.size(); ++i) {
    const Instruction& instruction = program.instructions[i];
    const DType type = program.graph.node(instruction.value).type.dtype;
    std::int64_t outgoing = 0, incoming = 0;
    for (int peer = 0; peer < ranks.ranks; ++peer) {
      if (peer == ranks.rank) continue;
      outgoing += bytes_of(crossing(instruction, ranks, ranks.rank, peer, cores), type);
      incoming += bytes_of(crossing(instruction, ranks, peer, ranks.rank, cores), type);
    }
    most = std::max({most, outgoing, incoming});
    for (const Sum& sum : schedule.sums[i]) {
      const MessageBytes bytes = reduction_bytes({sum, ranks, cores}, sum.box.count(), subtotal_bytes(type), ranks);
      most = std::max({most, bytes.outgoing, bytes.incoming});
    }
  }
  return most;
}

Traffic traffic_of(const Program& program, const Schedule& schedule, std::size_t index, const Ranks& ranks) {
  Traffic sent;
  const auto add = [&](std::int64_t bytes) {
    if (bytes == 0) return;
    ++sent.messages;
    sent.bytes += bytes;
  };
  const Instruction& instruction = program.instructions[index];
  const DType type = program.graph.node(instruction.value).type.dtype;
  const std::int64_t cores = program.mesh().cores();
  const bool adds = index > 0 && needs_join(program.instructions[index - 1]);
  for (int peer = 0; peer < ranks.ranks; ++peer) {
    if (peer == ranks.rank) continue;
    add(bytes_of(crossing(instruction, ranks, ranks.rank, peer, cores), type));
    for (const Sum& sum : schedule.sums[index]) {
      if (!adds) {  // the only partial result is sent
        if (ranks.hosts(static_cast<std::int64_t>(sum.addends.front().core), cores))
          add(sum.box.count() * dtype_bytes(type));
        continue;
      }
      const SumParts parts{sum.box.count(), ranks.ranks};
      const auto size = [&](int rank) { return (parts.of(rank).second - parts.of(rank).first) * subtotal_bytes(type); };
      const SumTree tree(sum, ranks, cores);
      add(static_cast<std::int64_t>(tree.complete_subtrees(ranks.rank).size()) *
          size(peer));        // subtotals, to the rank that adds them
      add(size(ranks.rank));  // the total that it added
    }
  }
  return sent;
}

}  // namespace voxshard
