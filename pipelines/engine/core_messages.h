// Samples on their way from rank 0 to the cores of all ranks, and what cores found on its way back: box by box, so that
// no rank but the first holds more than its own boxes, and the first nothing of what others compute.
//
//   feed_from_first(session, cores, image, [&](const TensorView& box) { ... });   // `fill` is called on rank 0 only
//   gather_from_cores(session, cores, pack, take);                                // `take` likewise
//
// All ranks know all boxes from the program: samples travel without their sizes. Called by
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
/// What is wanted of a core of this rank, after a run. Threads: several cores at once.
using PackCore = std::function<std::vector<std::byte>(std::size_t core)>;
/// On rank 0 what pack gave of a core of any rank. Threads: several cores at once.
using TakeCore = std::function<void(std::size_t core, std::span<const std::byte> bytes)>;

/// A box is sent in pieces of at most so many bytes, or of one row.
inline constexpr std::int64_t kPieceBytes = 1 << 22;
/// The box in such pieces, in the order in which they are sent.
std::vector<Box> pieces_of(const Box& box, std::int64_t element_bytes, std::int64_t most_bytes = kPieceBytes);
/// What rank 0 holds of boxes on their way to others.
inline std::int64_t feeding_bytes(int workers) { return workers * kPieceBytes; }

/// The samples of a batch of which a rank's cores hold more than labels.
Interval samples_of(const Program& program, const Ranks& place);

/// Feeds input `id` on all ranks, which all call it. `fill` is called on rank 0 alone, for the boxes of its cores and
/// for pieces of those of others. Errors: RankFailed; those of `fill`.
void feed_from_first(Session& session, CoreSet& cores, ValueId id, const FillBox& fill);

/// Packs what each core of this rank has found; on rank 0 `take` gets that of every core of all ranks, own ones and
/// those of other ranks one after another. All ranks call it. Returns the bytes that this rank packed. Errors:
/// RankFailed; those of `pack` and `take`.
std::int64_t gather_from_cores(Session& session, const CoreSet& cores, const PackCore& pack, const TakeCore& take);

}  // namespace voxshard
