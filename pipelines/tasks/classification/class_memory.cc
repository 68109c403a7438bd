// Bytes a pixel: 6 as decoded with 16 bits, 12 as RGB in f32, 12 once more while it is scaled. A voxel: 8 while the
// file is read, 4 as it is turned or resampled, 4 as a sample.
#include "pipelines/tasks/classification/class_memory.h"

#include <algorithm>

namespace voxshard {
namespace {

constexpr double kPixelBytes = 30, kVoxelBytes = 16, kSampleBytes = 4;

}  // namespace

ProcessPlan reading_items_plan(std::int64_t points, std::int64_t in_flight, bool volumes) {
  return {{MemoryPart::kReading, planned_bytes((volumes ? kVoxelBytes : kPixelBytes) * static_cast<double>(points) *
                                               static_cast<double>(in_flight))}};
}

ProcessPlan samples_plan(const Shape& extents, std::int64_t channels) {
  return {{MemoryPart::kFeeding,
           planned_bytes(kSampleBytes * static_cast<double>(element_count(extents)) * static_cast<double>(channels))}};
}

ProcessPlan held_plan(const ClassDataset& set) {
  return {{MemoryPart::kReading, set.pixels == nullptr ? 0 : set.pixels->bytes()}};
}

std::int64_t most_points(const ClassDataset& set) {
  std::int64_t most = 0;
  for (const ClassItem& item : set.items) most = std::max(most, element_count(item.size));
  return most;
}

}  // namespace voxshard
