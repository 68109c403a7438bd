// The report of `voxshard info` about an RT structure set: its structures, by their numbers and names.
//
//   report.set("structure_sets").add(StructureSetInfo{path, read_structure_file(path)});
#pragma once

#include <nlohmann/json.hpp>

#include "io/dicom/structures.h"

namespace voxshard {

struct StructureSetInfo {
  std::filesystem::path path;
  StructureFile file;
};

nlohmann::ordered_json to_json(const StructureSetInfo& info);
std::string to_text(const StructureSetInfo& info);

}  // namespace voxshard
