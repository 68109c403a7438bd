// Memory that is reserved at once and given back at once; pages are touched as they are used.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace voxshard {

class Arena {
 public:
  /// Errors: kBudget when the system refuses.
  explicit Arena(std::int64_t bytes);
  ~Arena();
  Arena(Arena&& other) noexcept;
  Arena& operator=(Arena&&) = delete;
  /// The bytes at `offset`; notes how far the arena was used.
  std::byte* at(std::int64_t offset, std::int64_t bytes) const;
  std::int64_t bytes() const { return bytes_; }
  std::int64_t high_water_bytes() const { return high_water_.load(); }

 private:
  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
  mutable std::atomic<std::int64_t> high_water_{0};
};

}  // namespace voxshard
