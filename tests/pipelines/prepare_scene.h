// The options of a preparation of a Scene's data set, for the tests of `prepare`.
//
//   prepare_dataset(preparation(scene), scene.progress);
#pragma once

#include "pipelines/tasks/segmentation/dataset/prepare_dataset.h"
#include "tests/pipelines/pipeline_scene.h"

namespace voxshard {

inline PrepareOptions preparation(const Scene& scene, const std::string& spacing = "median", bool resume = false) {
  PrepareOptions options;
  options.dataset = scene.data(), options.work = scene.work(), options.spacing = spacing, options.resume = resume;
  return options;
}

}  // namespace voxshard
