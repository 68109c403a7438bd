// The names of classes for an evaluation without a data set: from the dataset.json beside the references, as nnU-Net's
// folders have it, else from the file that `predict` left beside its label maps.
//
//   names_beside({"data/labelsTs"}, {"pred"}, progress)       // {"background", "liver"}; empty: nobody names them
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "pipelines/model_runs/report.h"

namespace voxshard {

/// Returns the names by class, [0] is the background. A file that cannot be used is told, and the next one counts.
///   references   a folder of label maps, or one
///   predictions  folders of label maps, or one
std::vector<std::string> names_beside(const std::filesystem::path& references,
                                      const std::vector<std::filesystem::path>& predictions, Progress& progress);

}  // namespace voxshard
