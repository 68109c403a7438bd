// The memory of images on their way to the cores, from their sizes alone.
//
//   const ProcessPlan plan = held + cores + reading_image_plan(pixels, 0);
#pragma once

#include "pipelines/model_runs/process_plan.h"
#include "pipelines/tasks/detection/samples/detection_source.h"

namespace voxshard {

/// Returns the memory of one image while it is decoded and converted to f32.
///   frames  number of video frames read in all, for the decoder and the frames that an ImageReader keeps; 0 for image
///   files
ProcessPlan reading_image_plan(std::int64_t pixels, std::int64_t frames);

/// The sizes of a step's samples with their targets, and of the samples that are prepared at once.
struct SampleImages {
  std::int64_t batch = 1, in_flight = 1;
  std::int64_t image_pixels = 0, sample_pixels = 0;  // the largest
  double targets_per_pixel = 0;                      // of the detector
  bool scales = false;                               // images are enlarged or shrunk, which holds both sizes
  double scale = 1;                                  // largest scale of a side
  std::int64_t output_pixels = 0;                    // pixels of the size that images are scaled to at scale 1; 0: none
  std::int64_t frames = 0;                           // as above
  // of rotated samples: the most pixels of an image that a piece keeps, pieces of a sample, threads that fill; 0: none
  std::int64_t rotated_pixels = 0, pieces = 1, rotating_threads = 0;
};
ProcessPlan sample_images_plan(const SampleImages& samples);

/// Returns the memory of results and annotations as JSON and as parsed boxes. Folders and missing files count 0;
/// reading reports them.
ProcessPlan evaluating_detections_plan(const std::filesystem::path& results, const std::filesystem::path& references);

}  // namespace voxshard
