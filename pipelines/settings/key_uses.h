// `explain --stage config` tells of each key of a config file which settings follow from it, as noted while the file is
// translated, and what the table of keys says that it does.
//
//   for (const KeyUse& use : key_uses(read_config("retinanet.yaml"))) use.effect;   // "steps = 28125"
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace voxshard {

struct KeyUse {
  std::string key;         // "tpu_config.num_shards" of one in a section
  nlohmann::json value;    // as written
  nlohmann::json options;  // by name: those that follow from the key
  std::string effect;      // "steps = 28125"; else why there is none
  std::string does;        // of a key of the original, in a sentence
};

/// In the file's order of names, sections last. Errors: those of with_option_names.
std::vector<KeyUse> key_uses(const nlohmann::json& config);

nlohmann::ordered_json to_json(const std::vector<KeyUse>& uses);
std::string to_text(const std::vector<KeyUse>& uses);

}  // namespace voxshard
