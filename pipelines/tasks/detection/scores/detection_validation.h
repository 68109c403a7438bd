// COCO's AP50 of a detector on whole images that are held out, for validation while it trains.
#pragma once

#include "io/image/image_reader.h"
#include "pipelines/engine/validation.h"
#include "pipelines/tasks/detection/dataset/detection_dataset.h"
#include "pipelines/tasks/detection/samples/image_preparation.h"
#include "pipelines/tasks/detection/scores/predict_image.h"

namespace voxshard {

/// Makes a validation whose score is AP50 over all classes. All arguments but `prediction` must outlive it.
std::unique_ptr<ValidationPass> validate_images(const DetectionDataset& dataset, const ImagePreparation& preparation,
                                                const ImagePrediction& prediction, const ImageReader& reader);

}  // namespace voxshard
