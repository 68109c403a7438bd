// What `prepare` says and writes about all cases: the list of cases, where they come from, and what a dry run says of
// them, from their headers alone.
//
//   write_json(work / "dataset.json", prepared_listing(dataset, plan, records));
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "io/datasets/dataset.h"
#include "pipelines/tasks/segmentation/dataset/prepare_dataset.h"

namespace voxshard {

/// Returns the dataset.json of a work folder.
///   records  of the cases, as prepare_case() returned them
nlohmann::ordered_json prepared_listing(const Dataset& dataset, const PreparePlan& plan,
                                        const nlohmann::ordered_json& records);

/// Returns the ids of the prepared cases that have one patient, of patients with several alone.
///   records  as in prepared_listing()
std::vector<std::vector<std::string>> prepared_by_patient(const Dataset& dataset,
                                                          const nlohmann::ordered_json& records);

/// Sets what follows from all prepared cases together, and says what is odd about them.
///   records  as in prepared_listing(); get the classes that are unknown, by decide_missing()
void complete_report(const PrepareOptions& options, const PreparePlan& plan, const Dataset& dataset,
                     nlohmann::ordered_json& records, Progress& progress, PrepareReport& report);

/// Writes run.json.
void write_run_file(const PrepareOptions& options, const PrepareReport& report);

/// Returns the path of the data set for run.json, as the operator gave it: a text, or images and labels.
nlohmann::ordered_json source_of(const PrepareOptions& options);

/// Returns why no case could be prepared.
std::string no_case_text(const PrepareOptions& options, const std::vector<CaseFailure>& failures);

/// Sets the spacing of a plan that leaves it to the data, from the headers of the cases whose image can be used. With
/// nnU-Net's convention images count without their crop.
void plan_spacing_by_headers(PreparePlan& plan, const PrepareOptions& options, const std::vector<Case>& cases);

/// Adds the cases to a report: their prepared size and memory, or among those that are left out why, as far as headers
/// tell.
///   kept  true for a case, by its number, that an earlier call prepared
/// Errors: kNoCase, or kBudget, when all are left out.
void rehearse_cases(const PrepareOptions& options, const PreparePlan& plan, const std::vector<Case>& cases,
                    Progress& progress, PrepareReport& report, const std::function<bool(std::size_t)>& kept);

}  // namespace voxshard
