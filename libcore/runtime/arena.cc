#include "libcore/runtime/arena.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "libcore/base/error.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(begin, bytes) ((void)(begin), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(begin, bytes) ((void)(begin), (void)(bytes))
#endif

namespace voxshard {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kHugePage = std::size_t{2} << 20;  // of x86-64

std::size_t rounded_up(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

/// Maps memory, or throws.
std::byte* mapped(std::size_t bytes, int flags, FileRange range) {
  void* p = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, range.descriptor, range.begin);
  if (p == MAP_FAILED)
    throw Error(ErrorKind::kBudget, "[memory] the system refused " + std::to_string(bytes) +
                                        " bytes; free memory or use a finer partition");
  return static_cast<std::byte*>(p);
}

/// True when all bytes are poison: each equals the next.
bool all_poison(const std::byte* begin, std::size_t bytes) {
  return bytes == 0 || (*begin == kPoison && std::memcmp(begin, begin + 1, bytes - 1) == 0);
}

}  // namespace

Arena::Arena(std::int64_t bytes, ArenaMode mode) : bytes_(bytes), checked_(mode == ArenaMode::kChecked) {
  if (bytes == 0) return;
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t aligned = rounded_up(static_cast<std::size_t>(bytes), kAlignment);
  map_anew(checked_ ? rounded_up(aligned, page) + 2 * page : static_cast<std::size_t>(bytes));
  if (!checked_) return;
  std::byte* const end = mapped_ + mapped_bytes_ - page;
  const bool guarded = ::mprotect(mapped_, page, PROT_NONE) == 0 && ::mprotect(end, page, PROT_NONE) == 0;
  ensure(guarded, "the pages around a checked arena are protected");
  data_ = end - aligned;
  poison(0, bytes);
}

Arena::Arena(std::int64_t bytes, FileRange range) : bytes_(bytes), in_file_(true) {
  if (bytes == 0) return;
  mapped_bytes_ = static_cast<std::size_t>(bytes);
  mapped_ = data_ = mapped(mapped_bytes_, MAP_SHARED, range);
}

Arena::Arena(Arena&& warm, std::int64_t bytes) : Arena(std::move(warm)) {
  ensure(!in_file_ && !checked_, "only arenas in plain memory are taken over");
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t there = rounded_up(mapped_bytes_, page), needed = rounded_up(static_cast<std::size_t>(bytes), page);
  bytes_ = bytes, high_water_ = 0;
  if (needed == there || (needed > there && moved(needed))) return;
  // With their addresses: a limit of those (ulimit -v) is a limit of the plan too.
  const std::size_t kept = needed < there ? needed : 0;
  if (there > kept) ::munmap(mapped_ + kept, there - kept);
  if (kept == 0) mapped_ = data_ = nullptr;
  mapped_bytes_ = kept;
  if (needed > kept) map_anew(needed);
}

void Arena::map_anew(std::size_t bytes) {
  mapped_ = data_ = mapped(bytes, MAP_PRIVATE | MAP_ANONYMOUS, {}), mapped_bytes_ = bytes;
  ::madvise(mapped_, mapped_bytes_, MADV_HUGEPAGE);  // a fault for 2 MiB, not for each 4 KiB; a kernel may refuse
}

/// Moves the pages to a larger range of addresses, at the same place within a huge page: elsewhere the kernel would
/// have to split the huge pages, and the network would run slower. False: there are no addresses for both ranges.
bool Arena::moved(std::size_t bytes) {
  if (mapped_ == nullptr) return false;
  const std::size_t range = bytes + kHugePage;
  void* const reserved = ::mmap(nullptr, range, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (reserved == MAP_FAILED) return false;
  std::byte* const begin = static_cast<std::byte*>(reserved);
  const auto place = [](const std::byte* at) { return reinterpret_cast<std::uintptr_t>(at) % kHugePage; };
  const std::size_t before = (place(mapped_) + kHugePage - place(begin)) % kHugePage;
  std::byte* const at = begin + before;
  if (before > 0) ::munmap(begin, before);
  ::munmap(at + bytes, kHugePage - before);
  // Where this fails, the kernel may have unmapped the range already, and another thread have mapped it: it is left.
  if (::mremap(mapped_, mapped_bytes_, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, at) == MAP_FAILED) return false;
  mapped_ = data_ = at, mapped_bytes_ = bytes;
  return true;
}

void Arena::evict() const {
  if (in_file_ && mapped_ != nullptr) ::madvise(mapped_, mapped_bytes_, MADV_DONTNEED);
}

void Arena::bring_in(const std::byte* begin, std::int64_t bytes, bool written) const {
  if (!in_file_ || mapped_ == nullptr || begin < mapped_ || begin + bytes > mapped_ + mapped_bytes_) return;
  const auto page = static_cast<std::int64_t>(::sysconf(_SC_PAGESIZE));
  const std::int64_t first = (begin - mapped_ + page - 1) / page * page, past = (begin - mapped_ + bytes) / page * page;
  if (past <= first) return;
  ::madvise(mapped_ + first, static_cast<std::size_t>(past - first),
            written ? MADV_POPULATE_WRITE : MADV_POPULATE_READ);
}

Arena::~Arena() {
  if (mapped_ == nullptr) return;
  revive(0, bytes_);
  ::munmap(mapped_, mapped_bytes_);
}

Arena::Arena(Arena&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      bytes_(other.bytes_),
      mapped_(std::exchange(other.mapped_, nullptr)),
      mapped_bytes_(other.mapped_bytes_),
      in_file_(other.in_file_),
      checked_(other.checked_),
      high_water_(other.high_water_.load()) {}

std::byte* Arena::at(std::int64_t offset, std::int64_t bytes) const {
  ensure(offset >= 0 && offset + bytes <= bytes_, "a buffer lies inside its arena");
  std::int64_t seen = high_water_.load();
  while (seen < offset + bytes && !high_water_.compare_exchange_weak(seen, offset + bytes)) {
  }
  return data_ + offset;
}

void Arena::poison(std::int64_t offset, std::int64_t bytes) const {
  if (bytes == 0) return;
  revive(offset, bytes);
  std::memset(data_ + offset, static_cast<int>(kPoison), static_cast<std::size_t>(bytes));
  ASAN_POISON_MEMORY_REGION(data_ + offset, static_cast<std::size_t>(bytes));
}

void Arena::revive(std::int64_t offset, std::int64_t bytes) const {
  ASAN_UNPOISON_MEMORY_REGION(data_ + offset, static_cast<std::size_t>(bytes));
}

std::optional<std::int64_t> Arena::first_written(std::int64_t offset, std::int64_t bytes) const {
  revive(offset, bytes);
  const std::byte *begin = data_ + offset, *end = begin + bytes;
  if (all_poison(begin, static_cast<std::size_t>(bytes))) {
    ASAN_POISON_MEMORY_REGION(begin, static_cast<std::size_t>(bytes));
    return std::nullopt;
  }
  return std::find_if(begin, end, [](std::byte b) { return b != kPoison; }) - data_;
}

std::optional<std::int64_t> Arena::last_written(std::int64_t offset, std::int64_t bytes) const {
  for (std::int64_t at = offset + bytes; at > offset; --at)
    if (data_[at - 1] != kPoison) return at - 1;
  return std::nullopt;
}

}  // namespace voxshard
