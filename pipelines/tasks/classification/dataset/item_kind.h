// What a classifier tells the classes of: images, CT volumes, or clips out of videos.
//
//   item_kind_name(ItemKind::kClip);          // "clips"
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace voxshard {

enum class ItemKind : std::uint8_t { kImage, kVolume, kClip };

/// "images", "volumes", "clips": for files and for people.
const char* item_kind_name(ItemKind kind);
/// "image", "volume", "clip".
std::string one_item_name(ItemKind kind);
/// Absent for what is no such name.
std::optional<ItemKind> item_kind_from_name(const std::string& name);

/// What the length of a clip, in frames, and its stride may be.
inline constexpr std::int64_t kMostClipLength = 4096, kMostClipStride = 65536;
/// Frames from one window of a video to the next.
inline constexpr std::int64_t kMostHop = std::int64_t{1} << 31;

}  // namespace voxshard
