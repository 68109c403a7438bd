// The folds of a training on volumes: which cases train and which validate. They are nnU-Net's, where no patient has
// several cases; else the cases of a patient stand in one fold.
//
//   const std::vector<Split> folds = folds_of(dataset, "0");
//   const Split split = choose_split(dataset, folds, "0");
#pragma once

#include <string>
#include <vector>

#include "io/datasets/dataset.h"
#include "pipelines/tasks/segmentation/dataset/prepared_dataset.h"
#include "pipelines/tasks/training_task.h"

namespace voxshard {

/// Returns the folds of the data set; none when all cases are trained on. Cases of one patient, as far as `prepare` or
/// else their ids tell, stand in one fold, unless the set has one patient alone.
std::vector<Split> folds_of(const PreparedDataset& dataset, const std::string& fold);

/// Returns the folds that a run started with, restricted to the cases that still exist; new cases train, but for those
/// of a patient whose cases validate.
std::vector<Split> folds_as_kept(const PreparedDataset& dataset, const std::vector<KeptSplit>& kept);

/// Returns the fold of a name, "0", or all cases. Errors: kConfig for a fold that is not there.
Split choose_split(const PreparedDataset& dataset, const std::vector<Split>& folds, const std::string& fold);

/// Says that folds are not those of a file beside the data set; empty where there is none.
std::string folds_file_text(const PreparedDataset& dataset, const std::vector<Split>& folds);

/// Says that folds keep the cases of a patient together, or with W_PATIENT that they do not; empty where no patient has
/// several cases.
std::string patients_text(const PreparedDataset& dataset, const std::vector<Split>& folds);

}  // namespace voxshard
