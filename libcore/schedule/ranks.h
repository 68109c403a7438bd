// The distribution of cores over processes, and the messages between two processes with their sizes: decided by shapes
// alone, so that buffers are planned and both sides of a message agree without negotiation.
//
//   Ranks{.rank = 1, .ranks = 2}.first(16)     // 8: rank 1 of 2 hosts cores 8 to 15
#pragma once

#include <vector>

#include "libcore/schedule/schedule.h"

namespace voxshard {

struct Ranks {
  int rank = 0, ranks = 1;

  /// Rank `r` hosts cores first_of(r) .. first_of(r + 1) - 1, divided as evenly as possible.
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
  std::vector<std::size_t> begins_;  // the first addend of each rank, then the number of addends
};

/// Bytes of an element of a subtotal in the tree: f32 sums are added in f32, all others in f64.
std::int64_t subtotal_bytes(DType type);

/// Sums of fewer elements are added on rank 0: they cost the time of two messages, whichever rank adds them.
inline constexpr std::int64_t kElementsWorthParts = 1 << 12;

/// The elements that each rank adds of a sum, above the complete subtrees. A large sum is split so that ranks send and
/// receive alike.
///   example: 10000 elements over 3 ranks are 0..3332, 3333..6665, 6666..9999; of 16 elements rank 0 adds all
struct SumParts {
  std::int64_t elements = 0;
  int ranks = 1;
  std::pair<std::int64_t, std::int64_t> of(int rank) const;  // [begin, end)
};

/// Buffer bytes that `ranks.rank` needs to send and to receive messages of a sum.
struct MessageBytes {
  std::int64_t outgoing = 0, incoming = 0;
};
MessageBytes reduction_bytes(const SumTree& tree, std::int64_t elements, std::int64_t element_bytes,
                             const Ranks& ranks);

/// Bytes of messages that `ranks.rank` has in flight at once, in the widest exchange or join; the larger of both
/// directions.
std::int64_t message_bytes(const Program& program, const Schedule& schedule, const Ranks& ranks);

/// The messages that one rank sends to others.
struct Traffic {
  std::int64_t messages = 0, bytes = 0;
  friend bool operator==(const Traffic&, const Traffic&) = default;
};

/// Returns the messages that `ranks.rank` sends for instruction `index`.
Traffic traffic_of(const Program& program, const Schedule& schedule, std::size_t index, const Ranks& ranks);

/// The copies of an exchange from one rank to another, in the order in which their message holds them; and their bytes.
std::vector<const Copy*> crossing(const Instruction& exchange, const Ranks& ranks, int from, int to,
                                  std::int64_t cores);
std::int64_t bytes_of(const std::vector<const Copy*>& copies, DType type);

}  // namespace voxshard
