// The objects of an image as PartsFile keeps them (pipelines/engine/predicted_file.h).
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "libcore/detection/nms.h"

namespace voxshard {

/// The class ids of a detector: `first` and those behind it.
struct ClassIds {
  std::int64_t first = 0, count = 0;
};

/// Returns a row for each object: class id, score, and the corners y0, x0, y1, x1 in pixels.
nlohmann::json object_rows(const std::vector<Detection>& found);

/// Returns the objects of such rows, whose bytes are not trusted: none where they have another form, a number that is
/// not finite, or a class that is not among `ids`.
std::optional<std::vector<Detection>> objects_from_rows(const nlohmann::json& rows, const ClassIds& ids);

}  // namespace voxshard
