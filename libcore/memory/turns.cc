#include "libcore/memory/turns.h"

#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <utility>

namespace voxshard {
namespace {

constexpr std::int64_t kStep = 1 << 16;
constexpr std::int64_t kPage = 4096;  // what a buffer touches beyond itself at both of its ends

std::int64_t rounded_up(std::int64_t bytes, std::int64_t step) { return (bytes + step - 1) / step * step; }

/// The arenas of some cores.
using Arenas = std::span<const Pool>;

/// The bytes of the `count` largest arenas.
std::int64_t largest_arenas(Arenas arenas, int count) {
  std::vector<std::int64_t> bytes;
  for (const Pool& arena : arenas) bytes.push_back(arena.bytes);
  std::sort(bytes.begin(), bytes.end(), std::greater());
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < bytes.size() && std::cmp_less(i, count); ++i) sum += bytes[i];
  return sum;
}

/// The largest buffer of a value in any of the arenas.
std::int64_t widest_buffer(Arenas arenas, ValueId value) {
  std::int64_t widest = 0;
  for (const Pool& arena : arenas)
    if (const Buffer* buffer = arena.find(value)) widest = std::max(widest, buffer->bytes);
  return widest;
}

/// The most bytes of partial results of one value in all of the arenas together.
std::int64_t widest_partials(Arenas arenas) {
  std::map<ValueId, std::int64_t> bytes;
  for (const Pool& arena : arenas)
    for (const Buffer& buffer : arena.buffers)
      if (buffer.partial >= 0) bytes[buffer.value] += rounded_up(buffer.bytes, kPage) + kPage;
  std::int64_t widest = 0;
  for (const auto& [value, sum] : bytes) widest = std::max(widest, sum);
  return widest;
}

}  // namespace

std::int64_t bytes_in_file(std::int64_t arena_bytes) { return rounded_up(arena_bytes, kStep); }

Turns turns_of(const Program& program, const MemoryPlan& memory, int workers, const Interval& hosted) {
  const Arenas arenas =
      Arenas(memory.arenas)
          .subspan(static_cast<std::size_t>(hosted.first), static_cast<std::size_t>(hosted.second - hosted.first));
  Turns turns{.resident_bytes = std::max(largest_arenas(arenas, workers), widest_partials(arenas))};
  for (const Pool& arena : arenas) turns.file_bytes += bytes_in_file(arena.bytes);
  for (const Instruction& instruction : program.instructions)
    if (instruction.kind == InstructionKind::kExchange)
      turns.resident_bytes =
          std::max(turns.resident_bytes, 2 * workers * (widest_buffer(arenas, instruction.value) + 2 * kPage));
  return turns;
}

}  // namespace voxshard
