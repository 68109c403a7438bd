// The kinds of items that a classifier takes: images, CT volumes, or clips of videos.
//
//   item_kind_name(ItemKind::kClip);          // "clips"
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace voxshard {

enum class ItemKind : std::uint8_t { kImage, kVolume, kClip };

/// Returns "images", "volumes" or "clips", for files and messages.
const char* item_kind_name(ItemKind kind);
/// Returns "image", "volume" or "clip".
std::string one_item_name(ItemKind kind);
/// Returns the kind with that name; none for any other name.
std::optional<ItemKind> item_kind_from_name(const std::string& name);

/// Upper limits of the length of a clip, in frames, and of its stride.
inline constexpr std::int64_t kMostClipLength = 4096, kMostClipStride = 65536;
/// Upper limit of the frames from one window of a video to the next.
inline constexpr std::int64_t kMostHop = std::int64_t{1} << 31;

}  // namespace voxshard
