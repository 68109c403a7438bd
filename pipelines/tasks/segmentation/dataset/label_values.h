// The classes of label maps that nobody named: one pass over the label maps finds the values that are there.
//
//   class_names_from_values(cases, formats, context, gate)      // {"background", "class_1", "class_2"}
#pragma once

#include <string>
#include <vector>

#include "io/datasets/dataset.h"
#include "io/volume/volume.h"
#include "pipelines/engine/flow/memory_gate.h"
#include "pipelines/engine/run_context.h"

namespace voxshard {

/// The highest label that is taken for a class: a larger value is rather that of an image.
inline constexpr int kMostLabelValue = 1023;

/// Returns the names of the classes 0 to the highest label of all cases, and says which values are in how many cases.
/// The processes of a run share out the cases. A label map that cannot be read, or holds values that are no labels, is
/// left out here and reported when its case is read. Errors: kNoCase when no label map holds a label; Stopped.
std::vector<std::string> class_names_from_values(const std::vector<Case>& cases, const VolumeFormats& formats,
                                                 const RunContext& context, MemoryGate& gate);

}  // namespace voxshard
