// Memory that is reserved in one piece and freed in one piece; pages are touched only when used.
//
//   Arena arena(bytes, ArenaMode::kChecked);
//   arena.poison(64, 128);                // nobody may read or write these bytes
//   arena.first_written(64, 128);         // 70: somebody wrote there
//
//   Arena on_disk(bytes, FileRange{.descriptor = file, .begin = 1 << 20});
//   on_disk.evict();                      // its pages leave memory, their contents stay
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace voxshard {

/// kPlain: memory alone. kChecked: guard pages at both ends, which end the process when touched, and poison wherever no
/// buffer is alive.
enum class ArenaMode : std::uint8_t { kPlain, kChecked };

/// The poison byte: it makes a NaN of every float type and -1 of every signed integer type.
inline constexpr std::byte kPoison{0xFF};

/// A part of an open file that memory is mapped from. `begin` is a multiple of the page size (bytes_in_file()).
struct FileRange {
  int descriptor = -1;  // -1: none
  std::int64_t begin = 0;
};

class Arena {
 public:
  /// Reserves the memory. A checked arena is filled with poison, and its last byte lies directly before a guard page
  /// (up to 64-byte alignment). Errors: kBudget when the system refuses.
  explicit Arena(std::int64_t bytes, ArenaMode mode = ArenaMode::kPlain);
  /// Maps the memory from a file, which must hold that range and lets it leave memory with evict(). Errors: kBudget
  /// when the system refuses.
  Arena(std::int64_t bytes, FileRange range);
  /// Takes the memory of another arena (kPlain, not of a file) for another size. Pages that are needed stay, with what
  /// was written into them, so that the system need not clear them anew; those behind are given back. Where there are
  /// no addresses for both sizes at once, it is made anew. Errors: kBudget when the system refuses.
  Arena(Arena&& warm, std::int64_t bytes);
  ~Arena();
  Arena(Arena&& other) noexcept;
  Arena& operator=(Arena&&) = delete;
  /// Returns the address of the bytes at `offset`; updates high_water_bytes().
  std::byte* at(std::int64_t offset, std::int64_t bytes) const;
  std::int64_t bytes() const { return bytes_; }
  std::int64_t high_water_bytes() const { return high_water_.load(); }
  /// Takes the pages of an arena that is mapped from a file out of this process; they come back from the file when they
  /// are touched. Does nothing to other arenas. Threads: any, also while others use the arena.
  void evict() const;
  /// Brings the whole pages of these bytes of an arena that is mapped from a file into this process in one call, which
  /// costs less than a fault for each. Does nothing to other arenas, and nothing where the system cannot.
  ///   written  true: they are about to be written, else read
  void bring_in(const std::byte* begin, std::int64_t bytes, bool written) const;

  /// Fills with poison; a build with the address sanitizer then reports any access where it happens.
  void poison(std::int64_t offset, std::int64_t bytes) const;
  /// Allows the bytes to be used again; their contents stay.
  void revive(std::int64_t offset, std::int64_t bytes) const;
  /// Return the offset of the first and the last of these bytes that is not poison.
  std::optional<std::int64_t> first_written(std::int64_t offset, std::int64_t bytes) const;
  std::optional<std::int64_t> last_written(std::int64_t offset, std::int64_t bytes) const;

 private:
  void map_anew(std::size_t bytes);
  bool moved(std::size_t bytes);
  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
  std::byte* mapped_ = nullptr;
  std::size_t mapped_bytes_ = 0;
  bool in_file_ = false;
  bool checked_ = false;
  mutable std::atomic<std::int64_t> high_water_{0};
};

}  // namespace voxshard
