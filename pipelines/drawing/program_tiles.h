// The tiles of a partitioned program for a drawing: what its plan says that each core owns and holds, nothing
// recomputed.
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
  ValueId value = kNoValue;  // of those of this size that of the widest halo, the first of several
  Dims extents;              // spatial
};

/// Of the forward pass, finest first.
std::vector<DrawnLevel> drawn_levels(const Program& program);

/// The value that `level` means: the number of a level; the name of any value that is cut along space; or the name of a
/// layer or a part of the network ("encoder1"), whose forward value with the widest halo is meant. Empty: level 0.
/// Errors: kConfig names levels and layers.
ValueId drawn_value(const Program& program, const std::string& level);

/// The first sample of the batch: of a volume the planes in its middle, an image whole. A core's tile is drawn where
/// its own box meets the plane; cores with equal boxes share one. `sample` is spread over the network's input, padded
/// where that is larger by less than a pooling step of the network (`padded`), which is (D, H, W) or (H, W).
TileSheet tile_sheet(const Program& program, ValueId value, const DrawnSample& sample, const Dims& padded);

/// {"value", "size", "grid", "tiles": [{"cores", "own", "held"}], "levels": [...]}; boxes as in `explain`.
nlohmann::ordered_json tiles_json(const Program& program, ValueId value);

}  // namespace voxshard
