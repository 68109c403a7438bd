// How long what was received is kept: entries of the folder of finished inputs that are older are deleted.
//
//   delete_old_entries("done", 7, clock.wall_ns());      // of done and done/failed
//
// Called by inbox.h.
#pragma once

#include <cstdint>
#include <filesystem>

namespace voxshard {

/// Hidden names in the folder of finished inputs, ".NAME" and one of these: an entry that is copied there from another
/// file system, and one that is being deleted; in the inbox the latter is one that was copied.
inline constexpr const char* kArriving = ".arriving";
inline constexpr const char* kExpired = ".expired";
/// Behind the name of a failed entry: the file that says why.
inline constexpr const char* kReasonEnding = ".reason.json";

/// Deletes the entries of a folder of finished inputs, and of "failed" in it, that were moved there more than keep_days
/// before now_ns, with their reasons. The time of the move is that of the last
/// change of the entry itself, which the system sets and no program can set back. An entry from the future, after the
/// clock was set back, stays. Links are neither followed nor deleted.
///   now_ns   since 1970
///   returns  entries that were deleted; what cannot be deleted stays and is not counted
std::size_t delete_old_entries(const std::filesystem::path& done, double keep_days, std::int64_t now_ns);

/// Deletes what killed calls left half deleted in a folder (kExpired).
void remove_half_deleted(const std::filesystem::path& folder);

}  // namespace voxshard
