#include "libcore/runtime/arena.h"

#include <sys/mman.h>

#include <string>
#include <utility>

#include "libcore/base/error.h"

namespace voxshard {

Arena::Arena(std::int64_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  void* p = ::mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED)
    throw Error(ErrorKind::kBudget, "[memory] the system refused " + std::to_string(bytes) + " bytes; free memory or use a finer partition");
  ::madvise(p, static_cast<std::size_t>(bytes), MADV_HUGEPAGE);
  data_ = static_cast<std::byte*>(p);
}

Arena::~Arena() {
  if (data_ != nullptr) ::munmap(data_, static_cast<std::size_t>(bytes_));
}

Arena::Arena(Arena&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_), high_water_(other.high_water_.load()) {}

std::byte* Arena::at(std::int64_t offset, std::int64_t bytes) const {
  ensure(offset >= 0 && offset + bytes <= bytes_, "a buffer lies inside its arena");
  std::int64_t seen = high_water_.load();
  while (seen < offset + bytes && !high_water_.compare_exchange_weak(seen, offset + bytes)) {
  }
  return data_ + offset;
}

}  // namespace voxshard
