// Converts folders to TFRecord files with the feature names of the reference models: volumes (an nnU-Net or Decathlon
// folder, or one that `prepare` made) to one gzip file per case, images with boxes (io/boxes/box_format.h) to several
// files in round robin order.
//
//   TaskReport r = convert_to_records({.input = "data", .output = "records"}, progress);
//
//   OUTPUT/instance-CASE-0.tfrecords            volumes; tensorflow/tpu, models/official/unet3d
//   OUTPUT/NAME-00000-of-00002.tfrecord         images; models/official/retinanet
#pragma once

#include "pipelines/engine/requests.h"
#include "pipelines/records/convert_request.h"

namespace voxshard {

/// Converts a folder. A case or image that cannot be used is left out and reported. Errors: kInput for an input that is
/// no data set; kNoCase when nothing can be used; kOutput; Stopped.
TaskReport convert_to_records(const ConvertRequest& request, Progress& progress);

TaskReport volumes_to_records(const ConvertRequest& request, Progress& progress);
TaskReport images_to_records(const ConvertRequest& request, Progress& progress);

}  // namespace voxshard
