// Folders to TFRecord files with the names of the reference models' features: of volumes (an nnU-Net or Decathlon
// folder, or one that `prepare` made) a gzip file per case, of images with boxes (io/boxes/box_format.h) files in
// turn.
//
//   TaskReport r = convert_to_records({.input = "data", .output = "records"}, progress);
//
//   OUTPUT/instance-CASE-0.tfrecords            of volumes; tensorflow/tpu, models/official/unet3d
//   OUTPUT/NAME-00000-of-00002.tfrecord         of images; models/official/retinanet
#pragma once

#include "pipelines/engine/requests.h"
#include "pipelines/records/convert_request.h"

namespace voxshard {

/// A case or image that cannot be used costs itself. Errors: kInput for what is no data set; kNoCase when nothing can
/// be used; kOutput; Stopped.
TaskReport convert_to_records(const ConvertRequest& request, Progress& progress);

TaskReport volumes_to_records(const ConvertRequest& request, Progress& progress);
TaskReport images_to_records(const ConvertRequest& request, Progress& progress);

}  // namespace voxshard
