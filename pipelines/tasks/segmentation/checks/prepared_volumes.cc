#include "pipelines/tasks/segmentation/checks/prepared_volumes.h"

#include <nlohmann/json.hpp>

#include "pipelines/tasks/segmentation/checks/check_rules.h"

namespace voxshard {

std::vector<CaseFailure> odd_volumes(const nlohmann::ordered_json& records,
                                     const std::vector<std::string>& class_names) {
  CheckedSet set{.class_names = class_names};
  for (const auto& record : records) {
    CaseFacts facts{.id = record.at("case").get<std::string>()};
    double voxel_ml = 1e-3;
    for (const auto& spacing_mm : record.at("spacing_mm")) voxel_ml *= spacing_mm.get<double>();
    const auto voxels = record.at("class_voxels").get<std::vector<std::int64_t>>();
    for (std::size_t c = 1; c < voxels.size(); ++c)
      if (voxels[c] > 0)
        facts.classes[static_cast<int>(c)] = {.voxels = voxels[c],
                                              .volume_ml = static_cast<double>(voxels[c]) * voxel_ml};
    set.cases.push_back(std::move(facts));
  }
  std::vector<CaseFailure> odd;
  for (const Trouble& one : find_odd_volumes(set)) odd.push_back({one.id, "W_VOLUME", one.what});
  return odd;
}

}  // namespace voxshard
