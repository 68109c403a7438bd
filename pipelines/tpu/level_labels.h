// The labels of a detector as a TPUConfig names them: one entry per level of the pyramid and kind of target, as the
// original's RetinaNet writes them (models/official/retinanet/retinanet_main.py), beside tensors that are never cut.
//
//   [{...}, {"cls_targets_3": [1, 4, 2, 1], "box_targets_3": [1, 4, 2, 1], ..., "box_targets_7": None, "source_ids":
//   None}]
//
// The original's script writes the dims of the image where every entry divides image_size // 2^level, else None; one
// list for all, or an entry "labels", has that rule here (InputPlacement::Kind::kWhereDivisible).
#pragma once

#include "libcore/partition/cut.h"
#include "pipelines/tpu/tpu_config.h"

namespace voxshard {

/// Returns true when the config names the labels one by one, not as "labels".
bool names_levels(const TpuConfig& config);

/// Returns the placement of the targets of each level: cut as written, on every core for None, on the first core for a
/// product of 1. Names are cls_targets_3 or cls_targets/3 and so on; mean_num_positives, source_ids, groundtruth_data,
/// image_scales and image_info are also accepted, with None.
///   targets    the model's: "class_targets/3" and so on
///   partition  of the image, N H W C
/// Errors: kConfig for a level that is missing, a name that the model does not have (with those that it has), dims that
/// are not the image's, and dims for what is never cut.
std::vector<PlacedInput> level_placements(const TpuConfig& config, const std::vector<std::string>& targets,
                                          const Dims& partition);

}  // namespace voxshard
