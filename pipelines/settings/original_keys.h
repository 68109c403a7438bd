// The keys of the reference models' config files (tensorflow/tpu models/official/unet3d: unet_config.py, configs/cloud;
// of RetinaNet in retinanet_keys.h) as options of voxshard, and the section tpu_config. Keys that decide nothing here
// are accepted with a note that says why.
//
//   {"num_base_filters": 16, "use_batch_norm": false, "tpu_config": {"iterations_per_loop": 8}}
//   -> {"base-filters": 16, "norm": "none", "iterations_per_loop": 8}
#pragma once

#include "pipelines/settings/key_values.h"

namespace voxshard {

/// Every key that with_option_names() knows beyond tpu_config_keys().
const std::vector<OriginalKey>& original_keys();
std::vector<std::string> reference_model_keys();  // their names

struct OptionValues {
  nlohmann::json values;           // by option name; sections named after subcommands stay sections
  std::vector<std::string> notes;  // one line per key without effect
  bool of_reference = false;       // a key or section is the original's alone
  std::map<std::string, std::set<std::string>> followed = {};  // by option the keys of the file that it follows from
  std::map<std::string, std::set<std::string>> dropped = {};   // by key the options that it took away
};

/// A config file's content with the original's keys renamed; other keys are left alone. An option that the file also
/// gives under voxshard's own name keeps that value. Lists for input_partition_dims become text in the manner of
/// Python. Errors: kConfig for an unknown key in tpu_config (names the nearest one) and for values that mean nothing
/// here.
OptionValues with_option_names(const nlohmann::json& config);

}  // namespace voxshard
