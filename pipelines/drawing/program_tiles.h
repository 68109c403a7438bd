// The tiles of a partitioned program for a drawing: the boxes that each core owns and holds, read from the program's
// plan, not recomputed.
//
//   const ValueId value = drawn_value(program, "encoder1");     // a layer; "2": a level; "": the first
//   TileSheet sheet = tile_sheet(program, value, sample);
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "io/image/tile_sheet.h"
#include "libcore/partition/program.h"
#include "pipelines/drawing/drawn_sample.h"

namespace voxshard {

/// A resolution of the network.
struct DrawnLevel {
  ValueId value = kNoValue;  // the value of this size with the widest halo; the first of several
  Dims extents;              // spatial
};

/// Returns the levels of the forward pass, finest first.
std::vector<DrawnLevel> drawn_levels(const Program& program);

/// Returns the value to draw for `level`: the number of a level; the name of any value that is cut along space; or the
/// name of a layer or a part of the network ("encoder1"), for its forward value with the widest halo. Empty: level 0.
/// Errors: kConfig names levels and layers.
ValueId drawn_value(const Program& program, const std::string& level);

/// Returns the sheet for the first sample of the batch: a whole image, or the middle planes of a volume and further
/// ones, nine in all, until every halo of every tile is seen in one. A core's tile is drawn where its own box meets the
/// plane; cores with equal boxes share one. `sample` is stretched over the network's input; where the input is larger
/// by less than a pooling step, the sample is padded. `padded`, (D, H, W) or (H, W): its extents after padding.
TileSheet tile_sheet(const Program& program, ValueId value, const DrawnSample& sample, const Dims& padded);

/// {"value", "size", "grid", "tiles": [{"cores", "own", "held"}], "levels": [...]}; boxes as in `explain`.
nlohmann::ordered_json tiles_json(const Program& program, ValueId value);

}  // namespace voxshard
