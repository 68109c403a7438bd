#include "libcore/runtime/transport.h"

#include <cstring>

namespace voxshard {
namespace {

/// Adds the subtotals up along the tree; the total of `node` ends in the first of its subtotals.
class Adder {
 public:
  Adder(const Reduction& r, const std::vector<SumTree::Node>& known) : r_(r), known_(known) {}

  std::byte* total(const SumTree::Node& node) {
    for (std::size_t k = 0; k < known_.size(); ++k)
      if (known_[k] == node) return r_.buffer.data() + static_cast<std::int64_t>(k) * r_.elements * r_.element_bytes;
    const auto [left, right] = node.halves();
    std::byte* sum = total(left);
    r_.add(sum, total(right));
    return sum;
  }

 private:
  const Reduction& r_;
  const std::vector<SumTree::Node>& known_;
};

}  // namespace

void Transport::copy(std::int64_t, std::int64_t, const TensorView& src, const TensorView& dst) { voxshard::copy(src, dst); }

void Transport::send(int, std::span<const std::byte>) { ensure(false, "a transport of one rank sends no messages"); }

void Transport::receive(int, std::span<std::byte>) { ensure(false, "a transport of one rank receives no messages"); }

void Transport::all_reduce(const Reduction& r) {
  const auto bytes = static_cast<std::size_t>(r.elements * r.element_bytes);
  const auto own = r.tree.complete_subtrees(rank());
  for (std::size_t k = 0; k < own.size(); ++k) r.subtotal(own[k], r.buffer.data() + k * bytes);
  const auto total = r.buffer.first(bytes);
  if (rank() > 0) {
    if (!own.empty()) send(0, r.buffer.first(own.size() * bytes));
    return receive(0, total);
  }
  std::vector<SumTree::Node> known = own;
  for (int from = 1; from < ranks(); ++from) {
    const auto theirs = r.tree.complete_subtrees(from);
    if (!theirs.empty()) receive(from, r.buffer.subspan(known.size() * bytes, theirs.size() * bytes));
    known.insert(known.end(), theirs.begin(), theirs.end());
  }
  const std::byte* sum = Adder(r, known).total(r.tree.root());
  if (sum != total.data()) std::memcpy(total.data(), sum, bytes);
  for (int to = 1; to < ranks(); ++to) send(to, total);
}

}  // namespace voxshard
