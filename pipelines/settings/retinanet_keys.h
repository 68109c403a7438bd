// The keys of the reference RetinaNet (tensorflow/tpu, models/official/retinanet: default_hparams and the flags of
// retinanet_main.py) as options of voxshard. What is fixed here is accepted with the reference's value only; what has
// no counterpart is refused by name, with what to use instead, or noted where it decides nothing.
//
//   {"image_size": 1024, "use_spatial_partition": true, "train_batch_size": 64, "num_epochs": 15}
//   -> {"model": "retinanet", "variant": "legacy", "output-size": "1024x1024", "steps": 28125,
//   "input_partition_dims": "[1, 4, 2, 1]", ...}
#pragma once

#include "pipelines/settings/key_values.h"

namespace voxshard {

/// Every key that take_retinanet_keys() knows.
std::vector<OriginalKey> retinanet_keys();

/// Puts options in place of these keys; other keys stay. `notes`: a line per key without effect.
/// Errors: kConfig naming the key, its value and what to use instead.
void take_retinanet_keys(KeyValues& keys, std::vector<std::string>& notes);

}  // namespace voxshard
