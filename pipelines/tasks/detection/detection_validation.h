// COCO's AP50 of a detector on whole images that are held out, for validation while it trains.
#pragma once

#include "pipelines/engine/validation.h"
#include "pipelines/tasks/detection/detection_dataset.h"
#include "pipelines/tasks/detection/image_preparation.h"
#include "pipelines/tasks/detection/predict_image.h"

namespace voxshard {

/// The score is AP50 over all classes. What is given must outlive it, but for `prediction`.
std::unique_ptr<ValidationPass> validate_images(const DetectionDataset& dataset, const ImagePreparation& preparation,
                                                const ImagePrediction& prediction, const PictureReader& reader);

}  // namespace voxshard
