// Reads one training case with every check that it must pass before training: files, voxels, shape, geometry, labels.
//
//   SourceCase c = read_source_case(dataset.training[0], classes);   // throws an Error with a code for quarantine.csv
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/datasets/dataset.h"
#include "io/volume/volume.h"
#include "pipelines/model_runs/report.h"
#include "pipelines/tasks/channel_grids.h"

namespace voxshard {

struct SourceCase {
  Volume image;                         // f32 HU: of the first channel
  Volume label;                         // in [0, classes), or the ignored label: u8 where they fit, else i32
  std::vector<std::string> notes = {};  // about its labels; each begins with its code
};

///   ignored  the label of voxels whose class is unknown; it stays in the label map
/// Memory: a label map of a file is read first, and is u8 while the image is read.
/// Errors: kInput with a code as in CaseFailure.
SourceCase read_source_case(const Case& item, int classes, const VolumeFormats& formats = volume_formats(),
                            std::optional<int> ignored = std::nullopt);

/// Throws kInput, E_SHAPE or E_GEOMETRY, when an image and a label (or two labels) are not on the same grid.
void require_same_grid(const Geometry& image, const Geometry& label, const std::string& what);

/// Reads the data set of a folder. Errors: as read_dataset; kNoCase for an empty folder.
Dataset read_any_dataset(const std::filesystem::path& folder, IdsInErrors ids = IdsInErrors::kShown);

}  // namespace voxshard
