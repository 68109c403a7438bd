// What a classifier is trained on: the items that train and validate, and how they are read and prepared, as the
// settings and the model want them.
//
//   const ClassTaskData data = class_task_data({.data = "cells"}, spec);
//   data.preparation.channels;                                            // 3 where a training image is in colour
#pragma once

#include <string>
#include <vector>

#include "pipelines/tasks/classification/class_task.h"
#include "pipelines/tasks/classification/samples/class_preparation.h"

namespace voxshard {

struct ClassTaskData {
  ClassReading reading;
  ClassSets sets;
  ClassPreparation preparation;
  std::vector<std::string> notes;
};

/// Reads the data; decodes every training item that is a file once, and leaves out those that cannot be decoded or that
/// are larger than the model. Errors: those of class_task().
ClassTaskData class_task_data(const ClassTaskOptions& options, const ModelSpec& spec);

}  // namespace voxshard
