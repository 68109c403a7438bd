#include "pipelines/tasks/structure_info.h"

#include "libcore/base/plain_text.h"
#include "libcore/base/text.h"

namespace voxshard {

using Json = nlohmann::ordered_json;

Json to_json(const StructureSetInfo& info) {
  Json structures = Json::array();
  for (const NamedStructure& one : info.file.structures)
    structures.push_back({{"number", one.number},
                          {"name", one.name},
                          {"type", one.type},
                          {"contours", one.drawn},
                          {"left_out", one.left_out}});
  return {{"path", info.path.string()}, {"structures", structures}};
}

std::string to_text(const StructureSetInfo& info) {
  constexpr std::size_t kMostRows = 200;
  std::vector<std::vector<std::string>> rows{{"structure", "number", "type", "contours", "points and open contours"}};
  for (const NamedStructure& one : info.file.structures)
    if (rows.size() <= kMostRows)
      rows.push_back({plain_text(one.name), std::to_string(one.number), plain_text(one.type), std::to_string(one.drawn),
                      std::to_string(one.left_out)});
  const std::size_t count = info.file.structures.size();
  return plain_text(info.path.string()) + "\n  RT structure set: " + std::to_string(count) +
         (count == 1 ? " structure" : " structures") + " as contours, without voxels of its own\n" + text_table(rows) +
         (count > kMostRows ? "... and " + std::to_string(count - kMostRows) + " more; all of them with {json}\n" : "");
}

}  // namespace voxshard
