// Which process hosts which cores, what crosses between two processes, and how large its messages are: decided by
// shapes alone, so that buffers are planned and both sides of a message agree without asking.
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

/// Sums of fewer elements are added on rank 0: they cost the time of two messages, whoever adds them.
inline constexpr std::int64_t kElementsWorthParts = 1 << 12;

/// Which rank adds which elements of a sum above the complete subtrees: so that of a large one each sends and receives
/// alike.
///   example: 10000 elements over 3 ranks are 0..3332, 3333..6665, 6666..9999; of 16 elements rank 0 adds all
struct SumParts {
  std::int64_t elements = 0;
  int ranks = 1;
  std::pair<std::int64_t, std::int64_t> of(int rank) const;  // [begin, end)
};

/// Bytes that `ranks.rank` needs for what it sends and for what it receives of a sum.
struct MessageBytes {
  std::int64_t outgoing = 0, incoming = 0;
};
MessageBytes reduction_bytes(const SumTree& tree, std::int64_t elements, std::int64_t element_bytes,
                             const Ranks& ranks);

/// Bytes of messages that `ranks.rank` has under way at once, in the widest exchange or join; the larger of both
/// directions.
std::int64_t message_bytes(const Program& program, const Schedule& schedule, const Ranks& ranks);

/// What one rank sends to others.
struct Traffic {
  std::int64_t messages = 0, bytes = 0;
  friend bool operator==(const Traffic&, const Traffic&) = default;
};

/// What `ranks.rank` sends for instruction `index`.
Traffic traffic_of(const Program& program, const Schedule& schedule, std::size_t index, const Ranks& ranks);

/// Copies of an exchange between two ranks, in the order in which one message holds them; their bytes.
std::vector<const Copy*> crossing(const Instruction& exchange, const Ranks& ranks, int from, int to,
                                  std::int64_t cores);
std::int64_t bytes_of(const std::vector<const Copy*>& copies, DType type);

}  // namespace voxshard
