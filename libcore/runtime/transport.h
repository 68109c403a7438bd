// The seam between the processes of a run: a rank hosts a contiguous block of the cores, with arenas, results and parameters
// of its own, and sees nothing of the others but their messages. In one process there is one rank, and what passes between
// two cores is a copy.
//
//   transport.send(1, packed);  transport.receive(1, arrived);      // by both ranks of a pair, the lower one sends first
//
// A fake in a test may lose or change some; a transport over sockets or MPI is a file with send and receive.
#pragma once

#include <functional>
#include <span>

#include "libcore/schedule/ranks.h"
#include "libcore/tensor/tensor.h"

namespace voxshard {

/// A sum over the addends of all ranks, in the tree of its addends (schedule/ranks.h).
struct Reduction {
  const SumTree& tree;
  std::int64_t element_bytes = 0;  // of a subtotal
  std::int64_t elements = 0;
  /// Writes the subtotal of this rank's addends [node.begin, node.end) to `out`.
  std::function<void(const SumTree::Node& node, std::byte* out)> subtotal;
  /// a += b, element by element.
  std::function<void(std::byte* a, const std::byte* b)> add;
  std::span<std::byte> buffer;  // planned: half of the message buffers
};

class Transport {
 public:
  virtual ~Transport() = default;
  virtual int rank() const { return 0; }
  virtual int ranks() const { return 1; }

  /// Between two cores of this rank, the matched send and receive in one: copies `src` of core `from` to `dst` of core `to`
  /// (equal boxes). Threads: from several workers at once.
  virtual void copy(std::int64_t from, std::int64_t to, const TensorView& src, const TensorView& dst);
  /// To another rank; returns when `bytes` may be overwritten, which may be as late as the other one has received. Messages
  /// between two ranks arrive in the order in which they were sent.
  virtual void send(int to, std::span<const std::byte> bytes);
  virtual void receive(int from, std::span<std::byte> bytes);
  /// The total of a sum, at the start of the buffer of every rank: the same bytes as if one rank had added all.
  virtual void all_reduce(const Reduction& reduction);

  Ranks place() const { return {rank(), ranks()}; }
};

/// All cores in this process.
class InProcessTransport : public Transport {};

}  // namespace voxshard
