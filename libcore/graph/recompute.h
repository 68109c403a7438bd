// Recomputation: a graph whose backward pass makes some results of the forward pass again instead of keeping them. The
// result is an ordinary graph, so everything after it (partition, memory plan, runtime, verify) stays as it is.
//
//   Graph small = with_recomputation(graph, ops, Recompute::kUpsampling);
//   // %81 recompute/encoder0/conv0/norm = norm_apply %12 ...   right before its first reader in the backward pass
//
// What is made again is no smaller than what it is made from; sums over the sample (statistics, losses) are always
// kept, and running statistics are never updated twice.
#pragma once

#include <string_view>
#include <vector>

#include "libcore/graph/op_def.h"

namespace voxshard {

/// What is made again, each with all before it.
enum class Recompute : std::uint8_t {
  kNone,
  kNorms,       // what has no matrix product: norms, activations, nearest up-sampling
  kUpsampling,  // products of one tap per voxel: transposed convolutions of kernel = stride, 1 x 1 x 1 convolutions
  kLevels,      // all convolutions; skips (read twice in the forward pass) are kept
};

inline constexpr Recompute kRecomputeChoices[] = {Recompute::kNone, Recompute::kNorms, Recompute::kUpsampling,
                                                  Recompute::kLevels};

/// "none", "norms", "upsampling", "levels".
const char* recompute_name(Recompute recompute);
/// Errors: kConfig lists the names.
Recompute recompute_from_name(std::string_view name);

/// `graph` whose backward pass makes the marked results of the forward pass again, right before it reads them: what a
/// device makes again inside the operations that read it. `again` has one entry per value; sums over the sample and
/// what has effects must not be marked. Marks on the backward pass and on what only it reads change nothing: the value
/// itself would be left behind unread. A graph without a backward pass comes back.
Graph with_made_again(const Graph& graph, const std::vector<bool>& again);

/// The same results under the same names; values have other ids. A graph without a backward pass comes back as it is.
Graph with_recomputation(const Graph& graph, const OpTable& ops, Recompute recompute);

}  // namespace voxshard
