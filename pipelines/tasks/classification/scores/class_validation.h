// Accuracy of a classifier on held-out items, for validation while it trains.
#pragma once

#include "pipelines/engine/validation.h"
#include "pipelines/tasks/classification/samples/class_preparation.h"

namespace voxshard {

/// Makes a validation whose score is the accuracy, and by class the recall. All arguments must outlive it.
std::unique_ptr<ValidationPass> validate_items(const ClassDataset& set, const ClassPreparation& preparation,
                                               const ItemReader& reader);

}  // namespace voxshard
