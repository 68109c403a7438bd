// The report of `info` about a data set folder.
//
//   describe_dataset(read_any_dataset(path), folder);
#pragma once

#include "io/datasets/dataset.h"
#include "pipelines/tasks/header_info.h"

namespace voxshard {

/// Returns the images of all cases, in the order of the cases.
std::vector<std::filesystem::path> images_of(const Dataset& set);

/// Sets the description of a folder: kind, cases, classes, ignored label, regions, channels, and problems.
void describe_dataset(const Dataset& set, FolderInfo& folder);

}  // namespace voxshard
