// The dry run of `prepare`: what would become of the cases, from their headers alone.
//
//   rehearse_cases(options, plan, dataset.training, progress, report, is_kept);
//   report.planned[0].bytes
#pragma once

#include "pipelines/engine/requests.h"
#include "pipelines/tasks/segmentation/dataset/prepare_dataset.h"

namespace voxshard {

/// Sets the spacing of a plan that leaves it to the data, from the headers of the cases whose image can be used. With
/// nnU-Net's convention images count without their crop.
void plan_spacing_by_headers(PreparePlan& plan, const PrepareOptions& options, const std::vector<Case>& cases);

/// Adds the cases to a report: their prepared size and memory, or among those that are left out why, as far as headers
/// tell.
///   kept  true for a case, by its number, that an earlier call prepared
/// Errors: kNoCase, or kBudget, when all are left out.
void rehearse_cases(const PrepareOptions& options, const PreparePlan& plan, const std::vector<Case>& cases,
                    Progress& progress, PrepareReport& report, const std::function<bool(std::size_t)>& kept);

/// The report of the dry run, for people.
std::string rehearsal_text(const PrepareReport& report);

}  // namespace voxshard
