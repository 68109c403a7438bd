#include "pipelines/tasks/segmentation/checks/prepare_checks.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "pipelines/tasks/segmentation/checks/case_facts.h"
#include "pipelines/tasks/segmentation/checks/check_rules.h"
#include "pipelines/tasks/segmentation/dataset/source_case.h"

namespace voxshard {

std::vector<CaseFailure> header_failures(const Case& item, const VolumeFormats& formats, bool resamples_channels) {
  CaseFacts facts =
      read_case_facts(item, {.resamples_channels = resamples_channels, .headers_alone = true, .formats = formats});
  std::erase_if(facts.problems, [](const CaseFailure& problem) { return !problem.code.starts_with("E_"); });
  if (!facts.problems.empty()) return facts.problems;
  in_case_boundary(item.id, facts.problems, [&] {
    for (const GridFacts& image : facts.images)
      require_same_channels(facts.images.front().geometry, image.geometry, image.file);
    if (facts.label && !facts.images.empty())
      require_same_grid(facts.images.front().geometry, facts.label->geometry, facts.label->file);
  });
  return facts.problems;
}

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
