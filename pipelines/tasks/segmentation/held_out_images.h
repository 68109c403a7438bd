// The images of the cases that validate a run, for the prediction at its end: those that `prepare` read, since label
// maps are predicted on the grids of the files.
//
//   HeldOut held = held_out_images("work");            // {.data = "data/imagesTr"}
#pragma once

#include <filesystem>

#include "pipelines/tasks/training_task.h"

namespace voxshard {

/// Returns where the images of a work folder lie, as its run.json has it, and how `prepare` read them. There are none
/// where the data set was moved away, and where label maps that are named after the images would give away names that
/// `prepare` left out of its ids.
HeldOut held_out_images(const std::filesystem::path& work);

}  // namespace voxshard
