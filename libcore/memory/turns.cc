#include "libcore/memory/turns.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

namespace voxshard {
namespace {

constexpr std::int64_t kStep = 1 << 16;
constexpr std::int64_t kPage = 4096;  // what a buffer touches beyond itself at both of its ends

std::int64_t rounded_up(std::int64_t bytes, std::int64_t step) { return (bytes + step - 1) / step * step; }

/// The bytes of the `count` largest arenas.
std::int64_t largest_arenas(const MemoryPlan& memory, int count) {
  std::vector<std::int64_t> bytes;
  for (const Pool& arena : memory.arenas) bytes.push_back(arena.bytes);
  std::sort(bytes.begin(), bytes.end(), std::greater());
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < bytes.size() && std::cmp_less(i, count); ++i) sum += bytes[i];
  return sum;
}

/// The largest buffer of a value on any core.
std::int64_t widest_buffer(const MemoryPlan& memory, ValueId value) {
  std::int64_t widest = 0;
  for (const Pool& arena : memory.arenas)
    if (const Buffer* buffer = arena.find(value)) widest = std::max(widest, buffer->bytes);
  return widest;
}

/// The most bytes of partial results of one value on all cores together.
std::int64_t widest_partials(const MemoryPlan& memory) {
  std::map<ValueId, std::int64_t> bytes;
  for (const Pool& arena : memory.arenas)
    for (const Buffer& buffer : arena.buffers)
      if (buffer.partial >= 0) bytes[buffer.value] += rounded_up(buffer.bytes, kPage) + kPage;
  std::int64_t widest = 0;
  for (const auto& [value, sum] : bytes) widest = std::max(widest, sum);
  return widest;
}

}  // namespace

std::int64_t bytes_in_file(std::int64_t arena_bytes) { return rounded_up(arena_bytes, kStep); }

Turns turns_of(const Program& program, const MemoryPlan& memory, int workers) {
  Turns turns{.resident_bytes = std::max(largest_arenas(memory, workers), widest_partials(memory))};
  for (const Pool& arena : memory.arenas) turns.file_bytes += bytes_in_file(arena.bytes);
  for (const Instruction& instruction : program.instructions)
    if (instruction.kind == InstructionKind::kExchange)
      turns.resident_bytes =
          std::max(turns.resident_bytes, 2 * workers * (widest_buffer(memory, instruction.value) + 2 * kPage));
  return turns;
}

}  // namespace voxshard
