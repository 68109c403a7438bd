// Which process hosts which cores, what crosses between two processes, and how large its messages are: decided by shapes
// alone, so that buffers are planned and both sides of a message agree without asking.
//
//   Ranks{.rank = 1, .ranks = 2}.first(16)     // 8: rank 1 of 2 hosts cores 8 to 15
#pragma once

#include <vector>

#include "libcore/schedule/schedule.h"

namespace voxshard {

struct Ranks {
  int rank = 0, ranks = 1;

  /// The cores of rank `r` are first_of(r) .. first_of(r + 1) - 1: as equal as can be.
  std::int64_t first_of(int r, std::int64_t cores) const { return cores * r / ranks; }
  std::int64_t first(std::int64_t cores) const { return first_of(rank, cores); }
  std::int64_t end(std::int64_t cores) const { return first_of(rank + 1, cores); }
  bool hosts(std::int64_t core, std::int64_t cores) const { return core >= first(cores) && core < end(cores); }
};

/// The binary tree in which the addends 0 .. n - 1 of a sum are added, and which of them each rank holds.
///   example: 5 addends are ((0 + 1) + 2) + (3 + 4); a rank with 0 to 2 adds these three, one with 3 and 4 the others
class SumTree {
 public:
  struct Node {
    std::size_t begin = 0, end = 0;
    std::pair<Node, Node> halves() const;
    friend bool operator==(const Node&, const Node&) = default;
  };

  SumTree(const Sum& sum, const Ranks& ranks, std::int64_t cores);

  Node root() const { return {0, begins_.back()}; }
  /// The largest nodes whose addends all lie on `rank`, from left to right.
  std::vector<Node> complete_subtrees(int rank) const;

 private:
  std::vector<std::size_t> begins_;  // per rank its first addend; at the end their number
};

/// What one addition along the tree gives: f32 sums are added in f32, all others in f64.
std::int64_t subtotal_bytes(DType type);

/// Bytes of messages that `ranks.rank` sends and receives at once in the widest exchange or join.
std::int64_t message_bytes(const Program& program, const Schedule& schedule, const Ranks& ranks);

/// Copies of an exchange between two ranks, in the order in which one message holds them; their bytes.
std::vector<const Copy*> crossing(const Instruction& exchange, const Ranks& ranks, int from, int to, std::int64_t cores);
std::int64_t bytes_of(const std::vector<const Copy*>& copies, DType type);

}  // namespace voxshard
