// The report of a dry run: the inputs or cases that a command would work on, those that it would keep, their memory and
// time. The same for predict, prepare and evaluate.
//
//   rehearsal_text(planned, 2, "predicted")    // "dry run: 12 would be predicted, 3 kept, 2 left out; at most 1.20 GiB
//                                              //  of memory"
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "pipelines/engine/requests.h"

namespace voxshard {

/// The memory is that of the largest case; of several cases at once it is more.
std::string rehearsal_text(const std::vector<PlannedInput>& planned, std::size_t left_out, const std::string& done);

/// [{"id", "extents", "bytes", "kept", "seconds"}]; seconds are null where there is no estimate.
nlohmann::ordered_json to_json(const std::vector<PlannedInput>& planned);

}  // namespace voxshard
