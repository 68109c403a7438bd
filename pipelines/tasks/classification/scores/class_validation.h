// Accuracy of a classifier on the items that are held out, for validation while it trains.
#pragma once

#include "pipelines/engine/validation.h"
#include "pipelines/tasks/classification/samples/class_preparation.h"

namespace voxshard {

/// The score is the accuracy, by class the recall. What is given must outlive it.
std::unique_ptr<ValidationPass> validate_items(const ClassDataset& set, const ClassPreparation& preparation,
                                               const ItemReader& reader);

}  // namespace voxshard
