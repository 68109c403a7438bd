// Translates the keys of the reference models' config files (tensorflow/tpu models/official/unet3d: unet_config.py,
// configs/cloud; of RetinaNet in retinanet_keys.h), and the section tpu_config, to options of voxshard. Keys without
// effect here are accepted with a note that gives the reason.
//
//   {"num_base_filters": 16, "use_batch_norm": false, "tpu_config": {"iterations_per_loop": 8}}
//   -> {"base-filters": 16, "norm": "none", "iterations_per_loop": 8}
#pragma once

#include "pipelines/settings/key_values.h"

namespace voxshard {

/// Returns every key that with_option_names() knows in addition to tpu_config_keys().
const std::vector<OriginalKey>& original_keys();
std::vector<std::string> reference_model_keys();  // their names

struct OptionValues {
  nlohmann::json values;           // by option name; sections named after subcommands stay sections
  std::vector<std::string> notes;  // one line per key without effect
  bool of_reference = false;       // true: the file has a key or section that only the original knows
  std::map<std::string, std::set<std::string>> followed = {};  // for each option the keys that it follows from
  std::map<std::string, std::set<std::string>> dropped = {};   // for each key the options that it removed
};

/// Returns a config file's content with the original's keys renamed; other keys stay. An option that the file also
/// gives under voxshard's own name keeps that value. Lists for input_partition_dims become text in Python syntax.
/// Errors: kConfig for an unknown key in tpu_config (names the nearest one) and for values that are not supported here.
OptionValues with_option_names(const nlohmann::json& config);

}  // namespace voxshard
