// Recomputation (gradient checkpointing): the backward pass computes some results of the forward pass again instead of
// keeping them. The result is an ordinary graph; everything after it (partition, memory plan, runtime, verify) stays as
// it is.
//
//   Graph small = with_recomputation(graph, ops, Recompute::kUpsampling);
//   // %81 recompute/encoder0/conv0/norm = norm_apply %12 ...   right before its first reader in the backward pass
//
// Only results no smaller than their inputs are recomputed; sums over the sample (statistics, losses) are always kept,
// and running statistics are never updated twice.
#pragma once

#include <string_view>
#include <vector>

#include "libcore/graph/op_def.h"

namespace voxshard {

/// The results that are recomputed; each level includes all those before it.
enum class Recompute : std::uint8_t {
  kNone,
  kNorms,       // ops without a matrix product: norms, activations, nearest up-sampling
  kUpsampling,  // also products of one tap per voxel: transposed convolutions of kernel = stride, 1 x 1 x 1
                // convolutions
  kLevels,      // all convolutions; skips (read twice in the forward pass) are kept
};

inline constexpr Recompute kRecomputeChoices[] = {Recompute::kNone, Recompute::kNorms, Recompute::kUpsampling,
                                                  Recompute::kLevels};

/// "none", "norms", "upsampling", "levels".
const char* recompute_name(Recompute recompute);
/// Errors: kConfig lists the names.
Recompute recompute_from_name(std::string_view name);

/// Returns `graph` with a backward pass that recomputes the marked forward results right before it reads them: those
/// that a device recomputes inside the operations that read them. `again` has one entry per value; sums over the sample
/// and ops with effects must not be marked. Marks on the backward pass, and on results that only it reads, are ignored:
/// the original would be left unread. A graph without a backward pass comes back as it is.
Graph with_made_again(const Graph& graph, const std::vector<bool>& again);

/// Returns a graph with the same results under the same names; values have other ids. A graph without a backward pass
/// comes back as it is.
Graph with_recomputation(const Graph& graph, const OpTable& ops, Recompute recompute);

}  // namespace voxshard
