// Fields of models that a description of an earlier program lacks, because they did not exist: their usual values are
// what that program did.
//
//   with_newer_fields({{"model", "unet3d"}, ...}).at("members");        // 1
#pragma once

#include <nlohmann/json.hpp>

#include "libcore/models/model.h"

namespace voxshard {

/// Returns the JSON of a ModelSpec with the fields that were added since (ConfigField::newer); one of another form, or
/// of a model that the table does not have, as it is.
nlohmann::json with_newer_fields(nlohmann::json model, const ModelTable& models = model_table());

}  // namespace voxshard
