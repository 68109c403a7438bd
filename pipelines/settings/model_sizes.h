// The sizes of a model from which {time} chooses: of each kind of model the fields that make it larger or smaller, and
// the steps that a training of each should have.
//
//   sizes_of(*usual_spec(model_named(model_table(), "unet3d")).model).sizes.front().text;   // "32 filters"
#pragma once

#include "pipelines/model_runs/model_spec.h"

namespace voxshard {

struct ModelSize {
  std::string text;                                         // for people: "32 filters"
  std::vector<std::pair<std::string, FieldValue>> options;  // and their values, as `train` takes them
  std::int64_t wanted_steps = 1;                            // where fewer fit into the time, the next size is tried
};

struct ModelSizes {
  std::vector<ModelSize> sizes;  // the largest first; empty: {time} leaves the model as it is

  /// True when the sizes differ in this option.
  bool sets(const std::string& option) const;
};

/// Returns the sizes of this kind of model.
const ModelSizes& sizes_of(const Model& model);

/// Returns a rough estimate of the seconds of a step, by its products.
///   extents  N and the spatial axes
///   threads  of all processes
double step_seconds(ModelSpec spec, const ModelSize& size, const Shape& extents, int threads);

}  // namespace voxshard
