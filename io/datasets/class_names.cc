#include "io/datasets/class_names.h"

#include <nlohmann/json.hpp>

#include "io/datasets/dataset_names.h"
#include "io/files/atomic_file.h"
#include "io/files/config_file.h"

namespace voxshard {

NamedClasses read_named_classes(const std::filesystem::path& file) {
  nlohmann::json root = read_json(file);
  if (!root.is_object() || !root.contains("labels")) refuse_dataset(file, "has no labels");
  Dataset named;
  try {
    read_label_names(root, file, named);
  } catch (const nlohmann::json::exception& e) {
    refuse_dataset(file, std::string("has a key of the wrong form (") + e.what() + ")");
  }
  return {
      .names = std::move(named.label_names), .ignore_label = named.ignore_label, .regions = std::move(named.regions)};
}

std::vector<std::string> read_class_names(const std::filesystem::path& file) { return read_named_classes(file).names; }

void write_class_names(const std::filesystem::path& file, const std::vector<std::string>& names) {
  nlohmann::ordered_json root = {{"channel_names", nlohmann::ordered_json::object()}};
  for (std::size_t k = 0; k < names.size(); ++k) root["labels"][names[k]] = k;
  write_text_atomically(file, root.dump(4) + "\n");
}

}  // namespace voxshard
