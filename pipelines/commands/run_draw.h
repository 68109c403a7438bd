// `voxshard explain --draw`: draws the cut of a sample into the tiles of the cores, with their halos, as a PNG.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "pipelines/drawing/drawn_sample.h"
#include "pipelines/model_runs/model_spec.h"

namespace voxshard {

/// Returns the extents of a training step on `sample` at its own size, padded at the far ends as for a prediction.
Shape extents_of(const DrawnSample& sample, const ModelSpec& spec, std::int64_t batch);

struct DrawOptions {
  ModelSpec spec;
  Shape extents;                           // N and the spatial axes
  std::filesystem::path file;              // PNG to write, atomically
  std::filesystem::path source;            // file of the sample, never overwritten; may be empty
  std::optional<DrawnSample> sample = {};  // none: a phantom
  bool scaled = true;                      // the sample is scaled to the extents; false: padded to them
  std::string level;                       // a layer or the number of a level; empty: the input
};

struct DrawReport {
  nlohmann::ordered_json json;
  std::string text;
};

/// Cuts the training step as `explain` does and draws the boxes of its program.
/// Errors: kConfig for an unknown level (the choices are named) and as lower_verified(); kOutput, kUsage as
/// require_output_file() and where the file cannot be written.
DrawReport run_draw(const DrawOptions& options);

}  // namespace voxshard
