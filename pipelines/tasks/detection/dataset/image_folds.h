// The folds of a data set of images with boxes: frames of one video and crops of one image stand in one fold.
//
//   DetectionSets sets = split_by_fold(std::move(dataset), "0");      // sets.val: the images of that fold
#pragma once

#include <string>
#include <vector>

#include "pipelines/tasks/detection/dataset/detection_dataset.h"

namespace voxshard {

/// Moves the images of a fold to validation, whatever the seed. Notes stay with `train`.
///   kept  of a run that started before: one for each fold, whose images stay where they were; empty: none
/// Errors: kConfig for a fold that is not there, and for images that are all of one video or image.
DetectionSets split_by_fold(DetectionDataset dataset, const std::string& fold, const std::vector<KeptSplit>& kept = {});

/// Divides as a run did at its start. A new image trains, but where its video or image validates and does not train.
DetectionSets split_as_kept(DetectionDataset dataset, const KeptSplit& kept);

}  // namespace voxshard
