#include "pipelines/tasks/classification/dataset/class_memory.h"

#include <algorithm>
#include <set>

#include "io/video/scan.h"
#include "io/volume/archive.h"

namespace voxshard {
namespace {

constexpr double kPathPartBytes = 64;  // bytes that a path stores for each of its parts

}  // namespace

double item_bytes(const ClassItem& item) {
  return static_cast<double>(sizeof(ClassItem) + item.name.size() + item.file.native().size()) +
         kPathPartBytes * static_cast<double>(std::distance(item.file.begin(), item.file.end()));
}

ProcessPlan held_plan(const ClassDataset& set) {
  std::set<const VideoScan*> scans;
  double items = 0, indices = 0;
  for (const ClassItem& item : set.items) scans.insert(item.scan.get()), items += item_bytes(item);
  // One archive is unpacked at a time, perhaps again for each pass over the data.
  std::set<std::filesystem::path> archives;
  for (const ClassItem& item : set.items)
    if (const auto archive = archive_of_item(item)) archives.insert(*archive);
  std::int64_t unpacking = 0;
  for (const auto& archive : archives) unpacking = std::max(unpacking, unpacking_bytes(archive));
  for (const VideoScan* scan : scans)
    if (scan != nullptr) indices += static_cast<double>(scan->index.size() * sizeof(IndexedFrame));
  return {{MemoryPart::kReading, planned_bytes((set.pixels == nullptr ? 0 : static_cast<double>(set.pixels->bytes())) +
                                               items + indices + static_cast<double>(unpacking))}};
}

double idx_bytes(const Shape& extents, const std::filesystem::path& images) {
  return static_cast<double>(element_count(extents)) +
         static_cast<double>(extents[0]) * item_bytes({.name = "00000", .file = images});
}

std::int64_t most_points(const ClassDataset& set) {
  std::int64_t most = 0;
  for (const ClassItem& item : set.items) most = std::max(most, element_count(item.size));
  return most;
}

}  // namespace voxshard
