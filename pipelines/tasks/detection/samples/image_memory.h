// What images take on their way to the cores, from their sizes alone.
//
//   const ProcessPlan plan = held + cores + reading_image_plan(pixels, 0);
#pragma once

#include "pipelines/model_runs/process_plan.h"
#include "pipelines/tasks/detection/samples/detection_source.h"

namespace voxshard {

/// One image as it is decoded and made f32.
///   frames  of videos that are read in all: their decoder and the frames that a ImageReader keeps; 0 for files
ProcessPlan reading_image_plan(std::int64_t pixels, std::int64_t frames);

/// The samples of a step with their targets, and those that are made at once.
struct SampleImages {
  std::int64_t batch = 1, in_flight = 1;
  std::int64_t image_pixels = 0, sample_pixels = 0;  // the largest
  double targets_per_pixel = 0;                      // of the detector
  double scale = 1;                                  // of a side, at most
  std::int64_t output_pixels = 0;                    // that every image is scaled to at scale 1; 0: it keeps its own
  std::int64_t frames = 0;                           // as above
};
ProcessPlan sample_images_plan(const SampleImages& samples);

/// Results and annotations as JSON, and what becomes of them. Folders and what is not there count nothing: reading says
/// why.
ProcessPlan evaluating_detections_plan(const std::filesystem::path& results, const std::filesystem::path& references);

}  // namespace voxshard
