// What `evaluate` takes from a folder that `prepare` wrote, in place of the folder of the data set: the names of the
// classes, the regions, and which classes count as annotated in each case, by the data set or by {missing-classes}. It
// has no images on the grids of the label maps.
//
//   if (is_prepared(folder)) Dataset known = classes_of_prepared(folder);
//   known.training[0].annotated                                  // {1, 2}; none: all classes
#pragma once

#include <filesystem>

#include "io/datasets/dataset.h"

namespace voxshard {

/// Returns the classes and the cases of a prepared folder; the cases have neither images nor labels. Errors: as
/// read_prepared().
Dataset classes_of_prepared(const std::filesystem::path& folder);

/// Throws kUsage: {baseline} and {png} need images, which are in the folder of the data set. The text names that folder
/// where run.json does.
[[noreturn]] void refuse_images_of_prepared(const std::filesystem::path& folder);

}  // namespace voxshard
