// The dry run of `prepare`: what would become of the cases, from their headers alone.
//
//   for (const Case& item : dataset.training)
//     if (auto planned = rehearsed_case(item, plan, options)) planned_cases.push_back(*planned);
#pragma once

#include "pipelines/engine/requests.h"
#include "pipelines/tasks/segmentation/dataset/prepare_dataset.h"

namespace voxshard {

/// Sets the spacing of a plan that leaves it to the data, from the headers of the cases whose image can be used. With
/// nnU-Net's convention images count without their crop.
void plan_spacing_by_headers(PreparePlan& plan, const PrepareOptions& options, const std::vector<Case>& cases);

/// Returns the prepared size and the memory of a case. Errors: kInput with the code and text with which it would be
/// left out, as far as headers tell.
PlannedInput rehearsed_case(const Case& item, const PreparePlan& plan, const PrepareOptions& options);

/// Adds the cases to a report: as rehearsed_case() has them, or among those that are left out.
///   kept  true for a case, by its number, that an earlier call prepared
/// Errors: kNoCase, or kBudget, when all are left out.
void rehearse_cases(const PrepareOptions& options, const PreparePlan& plan, const std::vector<Case>& cases,
                    Progress& progress, PrepareReport& report, const std::function<bool(std::size_t)>& kept);

/// The report of the dry run, for people.
std::string rehearsal_text(const PrepareReport& report);

}  // namespace voxshard
