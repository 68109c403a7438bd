// Bytes a pixel of three channels: 3 or 6 as decoded, the same again while channels are reordered, 12 as f32.
// RetinaNet has 9 anchors per cell and 1/64 + 1/256 + ... cells per pixel, 0.19 anchors per pixel in all; each target
// has a class (4 bytes) and a box (16), and during matching its object, its best and its overlap (16).
#include "pipelines/tasks/detection/samples/image_memory.h"

#include <algorithm>

#include "pipelines/tasks/video_info.h"

namespace voxshard {
namespace {

using enum MemoryPart;

constexpr double kReadingBytes = 6 + 12, kFloatBytes = 12;    // a pixel
constexpr double kTargetBytes = 4 + 16, kMatchingBytes = 16;  // a target

}  // namespace

ProcessPlan evaluating_detections_plan(const std::filesystem::path& results, const std::filesystem::path& references) {
  return {{kReading, planned_bytes(json_bytes(results))}, {kMetrics, planned_bytes(json_bytes(references))}};
}

ProcessPlan reading_image_plan(std::int64_t pixels, std::int64_t frames) {
  const auto p = static_cast<double>(pixels);
  const double kept =
      std::min(static_cast<double>(ImageReaderOptions().cache_bytes), static_cast<double>(frames) * 3 * p);
  return {{kReading, planned_bytes((kReadingBytes + (frames > 0 ? kDecoderBytes : 0)) * p + kept)}};
}

ProcessPlan sample_images_plan(const SampleImages& s) {
  const auto p = static_cast<double>(s.image_pixels), c = static_cast<double>(s.sample_pixels);
  const bool scales = s.scales || s.output_pixels > 0;
  const double scaled =
      scales ? s.scale * s.scale * (s.output_pixels > 0 ? static_cast<double>(s.output_pixels) : p) : p;
  const double kept = std::min(scaled, static_cast<double>(s.rotated_pixels));  // of an image
  const double making = std::max(
      {kReadingBytes * p, scales ? kFloatBytes * (p + scaled) : 0, kFloatBytes * (scaled + std::max(c, kept))});
  const double held = std::max(c, static_cast<double>(s.pieces) * kept);  // by a sample
  const double interpolating = static_cast<double>(s.rotating_threads * moved_bytes(1));
  const auto flights = static_cast<double>(s.in_flight), batch = static_cast<double>(s.batch);
  const ProcessPlan video = s.frames > 0 ? reading_image_plan(s.image_pixels, s.frames) : ProcessPlan();
  return video +
         ProcessPlan{
             {kReading, planned_bytes(flights * making)},
             {kFeeding, planned_bytes(batch * kFloatBytes * held + interpolating)},
             {kTargets, planned_bytes((batch * kTargetBytes + flights * kMatchingBytes) * s.targets_per_pixel * c)}};
}

}  // namespace voxshard
