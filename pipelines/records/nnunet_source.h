// The cases that `convert --to nnunet` reads: those of a data set, of a tree of DICOM studies with labels, or the
// volumes of a folder, which have none.
//
//   SourceDataset source = read_nnunet_source({.input = "studies", .output = "set", .classes = "map.toml"}, formats,
//   log);
#pragma once

#include "pipelines/engine/requests.h"
#include "pipelines/records/convert_request.h"
#include "pipelines/tasks/segmentation/dataset/dataset_source.h"

namespace voxshard {

/// Finds the cases and gives them ids, those of an earlier call where request.output has them. A tree with a class map
/// gives its labelled series as training cases; series without one, and other volumes, become test cases. Files keep
/// their names unless there is a secret. Errors: kInput for series of several modalities; kUsage for a class map
/// without a tree, and keep_names where nothing could be named otherwise; those of read_dataset, read_studies and
/// with_ids.
SourceDataset read_nnunet_source(const ConvertRequest& request, const VolumeFormats& formats, Progress& progress);

}  // namespace voxshard
