// Bytes a pixel: 6 as decoded with 16 bits, 12 as RGB in f32, 12 once more while it is scaled. Bytes a voxel: 8 while
// the file is read, 4 while it is reoriented or resampled, 4 as a sample.
#include "pipelines/tasks/classification/samples/sample_memory.h"

#include <algorithm>

#include "pipelines/tasks/video_info.h"

namespace voxshard {
namespace {

constexpr double kPixelBytes = 30, kVoxelBytes = 16, kSampleBytes = 4;
constexpr double kOpenVideoBytes = 2 << 20;  // bytes of a decoder, however small its frames are

constexpr double kConfusionBytes = 32;  // per pair of classes: two counts, and one JSON value

}  // namespace

ProcessPlan reading_items_plan(std::int64_t points, std::int64_t in_flight, const ClassPreparation& p) {
  const double all = static_cast<double>(points) * static_cast<double>(in_flight);
  if (p.items == ItemKind::kClip)
    return {
        {MemoryPart::kReading, planned_bytes((kDecoderBytes + kPixelBytes) * all / static_cast<double>(p.clip_length) +
                                             kOpenVideoBytes * static_cast<double>(in_flight))}};
  return {{MemoryPart::kReading, planned_bytes((p.items == ItemKind::kVolume ? kVoxelBytes : kPixelBytes) * all)}};
}

ProcessPlan reading_whole_plan(std::int64_t points, std::int64_t in_flight, const ClassPreparation& p) {
  ProcessPlan plan = reading_items_plan(points, in_flight, p);
  if (p.items == ItemKind::kClip)
    plan += samples_plan({in_flight, p.size.empty() ? points : std::max(points, element_count(p.size))}, p.channels);
  return plan;
}

ProcessPlan samples_plan(const Shape& extents, std::int64_t channels) {
  return {{MemoryPart::kFeeding,
           planned_bytes(kSampleBytes * static_cast<double>(element_count(extents)) * static_cast<double>(channels))}};
}

ProcessPlan confusion_plan(std::int64_t classes) {
  return {{MemoryPart::kMetrics,
           planned_bytes(kConfusionBytes * static_cast<double>(classes) * static_cast<double>(classes))}};
}

ProcessPlan evaluating_classes_plan(const std::filesystem::path& predictions, const std::filesystem::path& references,
                                    const ClassKinds& kinds) {
  double held = 0;
  for (const ClassKind& kind : kinds) {
    if (kind.held_bytes == nullptr) continue;
    try {
      const ClassParts parts = kind.find(references);
      for (const auto* part : {&parts.whole, &parts.train, &parts.val, &parts.test})
        if (*part) held = std::max(held, kind.held_bytes(**part));
    } catch (const Error&) {  // reading reports it
    }
  }
  return {{MemoryPart::kReading, planned_bytes(json_bytes(predictions) + held)}};
}

}  // namespace voxshard
