#include "pipelines/tasks/segmentation/checks/header_failures.h"

#include <algorithm>

#include "pipelines/tasks/segmentation/checks/case_facts.h"
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

}  // namespace voxshard
