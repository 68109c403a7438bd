// Memory that is reserved at once and given back at once; pages are touched as they are used.
//
//   Arena arena(bytes, ArenaMode::kChecked);
//   arena.poison(64, 128);                // nobody may read or write these bytes
//   arena.first_written(64, 128);         // 70: somebody wrote there
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace voxshard {

/// kPlain: memory alone. kChecked: pages that end the process when touched at both ends, and poison where nothing
/// lives.
enum class ArenaMode : std::uint8_t { kPlain, kChecked };

/// What poison is: a NaN of every float type, -1 of a signed integer.
inline constexpr std::byte kPoison{0xFF};

class Arena {
 public:
  /// A checked one is filled with poison and its last byte stands before a page that cannot be touched (up to 64-byte
  /// alignment). Errors: kBudget when the system refuses.
  explicit Arena(std::int64_t bytes, ArenaMode mode = ArenaMode::kPlain);
  ~Arena();
  Arena(Arena&& other) noexcept;
  Arena& operator=(Arena&&) = delete;
  /// The bytes at `offset`; notes how far the arena was used.
  std::byte* at(std::int64_t offset, std::int64_t bytes) const;
  std::int64_t bytes() const { return bytes_; }
  std::int64_t high_water_bytes() const { return high_water_.load(); }

  /// Fills with poison; in a build with the address sanitizer a touch is then reported where it happens.
  void poison(std::int64_t offset, std::int64_t bytes) const;
  /// Lets the bytes be used again; they stay as they are.
  void revive(std::int64_t offset, std::int64_t bytes) const;
  /// Offsets of the first and the last of these bytes that are not poison.
  std::optional<std::int64_t> first_written(std::int64_t offset, std::int64_t bytes) const;
  std::optional<std::int64_t> last_written(std::int64_t offset, std::int64_t bytes) const;

 private:
  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
  std::byte* mapped_ = nullptr;
  std::size_t mapped_bytes_ = 0;
  mutable std::atomic<std::int64_t> high_water_{0};
};

}  // namespace voxshard
