// For `explain --stage config`: lists for each key of a config file the settings that follow from it, as recorded while
// the file is translated, and its description in the table of keys.
//
//   for (const KeyUse& use : key_uses(read_config("retinanet.yaml"))) use.effect;   // "steps = 28125"
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace voxshard {

struct KeyUse {
  std::string key;         // keys in a section as "tpu_config.num_shards"
  nlohmann::json value;    // as written
  nlohmann::json options;  // settings that follow from the key, by name
  std::string effect;      // "steps = 28125"; else the reason why there is none
  std::string does;        // a sentence that describes a key of the original
};

/// In the file's order of names, sections last. Errors: those of with_option_names.
std::vector<KeyUse> key_uses(const nlohmann::json& config);

nlohmann::ordered_json to_json(const std::vector<KeyUse>& uses);
std::string to_text(const std::vector<KeyUse>& uses);

}  // namespace voxshard
