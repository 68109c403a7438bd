// Sends samples from rank 0 to the cores of all ranks, and the results of the cores back to rank 0. Both travel box by
// box: the other ranks hold only their own boxes, and rank 0 holds nothing of what other ranks compute.
//
//   feed_from_first(session, cores, image, [&](const TensorView& box) { ... });   // `fill` is called on rank 0 only
//   gather_from_cores(session, cores, pack, take);                                // so is `take`
//
// All ranks know all boxes from the program, so samples are sent without their sizes. Called by
// pipelines/engine/core_runs.h.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "libcore/runtime/session.h"

namespace voxshard {

/// Writes a box, or a part of one, of an input. Threads: several at once.
using FillBox = std::function<void(const TensorView& box)>;
/// Serialises the result of a core of this rank after a run. Threads: several cores at once.
using PackCore = std::function<std::vector<std::byte>(std::size_t core)>;
/// Takes, on rank 0, the result of one of its own cores where it lies. Threads: several cores at once.
using LookAtCore = std::function<void(std::size_t core)>;
/// Takes, on rank 0, the bytes that PackCore returned for a core of any rank. Threads: several cores at once.
using TakeCore = std::function<void(std::size_t core, std::span<const std::byte> bytes)>;

/// The largest piece of a box in one message, bytes; a single row may be larger.
inline constexpr std::int64_t kPieceBytes = 1 << 22;
/// Splits a box into such pieces, in the order in which they are sent.
std::vector<Box> pieces_of(const Box& box, std::int64_t element_bytes, std::int64_t most_bytes = kPieceBytes);
/// The bytes of boxes on their way to other ranks that rank 0 holds.
inline std::int64_t feeding_bytes(int workers) { return workers * kPieceBytes; }

/// Returns the range of samples of a batch of which a rank's cores hold more than labels.
Interval samples_of(const Program& program, const Ranks& place);

/// Feeds input `id` on all ranks; all ranks call it. `fill` is called on rank 0 only, for the boxes of its own cores
/// and for pieces of the boxes of other ranks. Errors: RankFailed; those of `fill`.
void feed_from_first(Session& session, CoreSet& cores, ValueId id, const FillBox& fill);

/// Packs the result of each core of this rank and gathers the results on rank 0, where `take` gets those of its own
/// cores and then, one after another, those of the other ranks. All ranks call it. Returns the most bytes that this
/// rank held packed for rank 0 at a time: those of all its cores, or where cores take turns those of as many as it has
/// workers; 0 on rank 0. Errors: RankFailed; those of the functions.
///   look  where rank 0 gives it, it takes the results of rank 0's own cores in place of `pack` and `take`
std::int64_t gather_from_cores(Session& session, const CoreSet& cores, const PackCore& pack, const TakeCore& take,
                               const LookAtCore& look = {});

}  // namespace voxshard
