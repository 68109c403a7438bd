// Translates the keys of the reference RetinaNet (tensorflow/tpu, models/official/retinanet: default_hparams and the
// flags of retinanet_main.py) to options of voxshard. Keys that are fixed here are accepted with the reference's value
// only; keys without a counterpart are refused by name, with what to use instead, or accepted with a note when they
// have no effect.
//
//   {"image_size": 1024, "use_spatial_partition": true, "train_batch_size": 64, "num_epochs": 15}
//   -> {"model": "retinanet", "variant": "legacy", "output-size": "1024x1024", "steps": 28125,
//   "input_partition_dims": "[1, 4, 2, 1]", ...}
#pragma once

#include "pipelines/settings/key_values.h"

namespace voxshard {

/// Returns every key that take_retinanet_keys() knows.
std::vector<OriginalKey> retinanet_keys();

/// Replaces these keys by options; other keys stay. `notes`: a line per key without effect.
/// Errors: kConfig naming the key, its value and what to use instead.
void take_retinanet_keys(KeyValues& keys, std::vector<std::string>& notes);

}  // namespace voxshard
