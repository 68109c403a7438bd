#include "pipelines/tasks/segmentation/scores/evaluation_rehearsal.h"

#include "pipelines/engine/none_left.h"
#include "pipelines/engine/rehearsal.h"
#include "pipelines/tasks/segmentation/dataset/source_case.h"
#include "pipelines/tasks/segmentation/scores/evaluated_set.h"

namespace voxshard {
namespace {

/// Returns the header of a label map; none for one that cannot be used, and why among the failures.
std::optional<VolumeInfo> usable_header(const LabelPair& pair, const std::filesystem::path& file,
                                        const VolumeFormats& formats, std::vector<CaseFailure>& failures) {
  VolumeInfo info = read_volume_info(file, formats);
  if (info.readable) return info;
  failures.push_back({pair.id, info.problem_code, info.problem});
  return std::nullopt;
}

/// Adds the size and the memory of a case. Errors: kInput, where it would be left out.
void rehearse_pair(const LabelPair& pair, const EvaluateLabelsOptions& options, bool surfaces,
                   std::vector<PlannedInput>& planned, std::vector<CaseFailure>& failures) {
  require_both(pair);
  const auto prediction = usable_header(pair, pair.prediction, options.formats, failures);
  if (!prediction) return;
  if (!pair.drawn) {
    const auto reference = usable_header(pair, pair.reference, options.formats, failures);
    if (!reference) return;
    require_same_grid(reference->geometry, prediction->geometry, pair.prediction.filename().string());
  }
  const ProcessPlan plan = evaluating_case_plan(pair.files(options.threshold_baseline, surfaces), options.formats);
  planned.push_back({.id = pair.id, .extents = prediction->geometry.shape(), .bytes = plan.total()});
}

}  // namespace

TaskReport rehearse_evaluation(const EvaluateLabelsOptions& options, const RunContext& context) {
  const EvaluatedSet set = read_evaluated(options, context);
  const bool surfaces = any_of_surfaces(chosen_metrics(options.metric_keys, options.metrics));
  std::vector<PlannedInput> planned;
  std::vector<CaseFailure> failures;
  for (const LabelPair& pair : set.pairs) {
    throw_if_stopped(context.progress());
    const std::size_t before = failures.size();
    in_case_boundary(pair.id, failures, [&] { rehearse_pair(pair, options, surfaces, planned, failures); });
    for (std::size_t i = before; i < failures.size(); ++i)
      context.progress().warn("case " + pair.id + ": " + failures[i].code + " " + failures[i].message +
                              " [would be left out]");
  }
  if (planned.empty())
    throw Error(kind_of_none(failures), "[evaluate] none of the " + std::to_string(set.pairs.size()) +
                                            " references could be scored; the first: case " + failures.front().id +
                                            ": " + failures.front().message);
  return {.json = {{"planned", to_json(planned)}, {"failed", failures.size()}, {"failures", to_json(failures)}},
          .text = rehearsal_text(planned, failures.size(), "scored") +
                  " for one case; labels were not looked at; nothing was written\n",
          .partial = !failures.empty()};
}

}  // namespace voxshard
