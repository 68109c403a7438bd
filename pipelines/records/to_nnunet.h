// Converts a data set (Medical Segmentation Decathlon, nnU-Net v1 or v2), or a folder of volumes such as a tree of
// DICOM series, to a folder of nnU-Net v2 with the same voxels in the same places:
//
//   OUTPUT/dataset.json  imagesTr/CASE_0000.nii.gz (one per channel)  labelsTr/CASE.nii.gz  imagesTs  labelsTs
//
//   TaskReport r = convert_to_nnunet({.input = "Task09_Spleen", .output = "Dataset009_Spleen"}, progress);
#pragma once

#include "pipelines/engine/requests.h"
#include "pipelines/records/convert_request.h"

namespace voxshard {

/// Volumes without a label become test images; a tree of studies with request.classes gives training images and label
/// maps. A case that cannot be used is left out and reported; dataset.json, which
/// makes the folder a data set, is written last. Images are int16 when their values are whole numbers that fit, else
/// float32; labels uint8 or int32. Errors: kInput for an input that holds neither a data set nor volumes, or series of
/// several modalities; kNoCase when nothing can be used; kOutput; Stopped.
TaskReport convert_to_nnunet(const ConvertRequest& request, Progress& progress);

}  // namespace voxshard
