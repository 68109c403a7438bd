#include "pipelines/tasks/segmentation/dataset/prepare_rehearsal.h"

#include "libcore/base/text.h"
#include "pipelines/engine/none_left.h"
#include "pipelines/engine/rehearsal.h"
#include "pipelines/tasks/segmentation/dataset/case_memory.h"
#include "pipelines/tasks/segmentation/dataset/hiding_paths.h"
#include "pipelines/tasks/segmentation/dataset/memory_moments.h"
#include "pipelines/tasks/segmentation/dataset/prepare_choices.h"
#include "pipelines/tasks/segmentation/dataset/prepare_image.h"
#include "pipelines/tasks/segmentation/dataset/prepare_report.h"

namespace voxshard {

void plan_spacing_by_headers(PreparePlan& plan, const PrepareOptions& options, const std::vector<Case>& cases) {
  if (options.spacing != "median") return;
  std::vector<Geometry> geometries;
  for (const Case& item : cases) {
    if (item.images.empty()) continue;
    const auto info = hiding_paths(item, [&] { return usable_info(item.images.front(), options.formats); });
    if (info) geometries.push_back(info->geometry);
  }
  if (!geometries.empty()) plan.spacing_mm = spacing_of_geometries(plan, geometries);
}

namespace {

/// Returns the prepared size and the memory of a case. Errors: kInput, where it would be left out.
PlannedInput rehearsed_case(const Case& item, const PreparePlan& plan, const PrepareOptions& options) {
  return hiding_paths(item, [&] {
    PlannedInput planned{.id = item.id, .extents = {}};
    planned.bytes =
        widest(fingerprint_case_plan(item, plan, options.formats), preparing_case_plan(item, plan, options.formats))
            .total();
    planned.extents = prepared_geometry(read_volume_info(item.images.front(), options.formats).geometry, plan).shape();
    return planned;
  });
}

}  // namespace

void rehearse_cases(const PrepareOptions& options, const PreparePlan& plan, const std::vector<Case>& cases,
                    Progress& progress, PrepareReport& report, const std::function<bool(std::size_t)>& kept) {
  report.plan = plan;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    throw_if_stopped(progress);
    std::vector<CaseFailure> failures;
    if (options.headers) failures = options.headers(cases[i], options.formats);
    if (failures.empty())
      in_case_boundary(cases[i].id, failures, [&] {
        report.planned.push_back(rehearsed_case(cases[i], plan, options));
        report.planned.back().kept = kept(i);
        report.skipped += report.planned.back().kept;
      });
    for (CaseFailure& failure : failures) {
      progress.warn("case " + failure.id + ": " + failure.code + " " + failure.message + " [would be left out]");
      report.failures.push_back(std::move(failure));
    }
  }
  if (report.planned.empty()) throw Error(kind_of_none(report.failures), no_case_text(options, report.failures));
}

std::string rehearsal_text(const PrepareReport& report) {
  std::string text = rehearsal_text(report.planned, report.failures.size(), "prepared") + " for one case";
  if (report.plan.spacing_mm) text += "; spacing " + joined_text(report.plan.spacing_mm->data(), 3, 3) + " mm";
  return text + "; labels and intensities were not looked at, which voxshard check does; nothing was written\n";
}

}  // namespace voxshard
