// Images of findings: three slices through the classes that a finding concerns, which are outlined, with all labels
// of the case filled; where the grids of image and label are apart, the outline is where the label map's header has it.
//
//   draw_findings(plan_pictures(findings), cases, set, {.folder = "checked", ...}, findings);
//   findings[0].picture;      // "001_W_VOLUME.png"
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "io/datasets/dataset.h"
#include "pipelines/engine/flow/memory_gate.h"
#include "pipelines/tasks/segmentation/checks/check_rules.h"

namespace voxshard {

/// More findings than these get no image: a data set with a fault in every case needs only some.
inline constexpr std::size_t kMostPictures = 100;

struct PlannedPicture {
  std::size_t finding = 0;  // its index
  std::string file;
};

struct PicturePlace {
  std::filesystem::path folder;
  VolumeFormats formats;
  Progress& progress;
  MemoryGate& gate;
};

/// Returns an image for each finding that slices show, at most kMostPictures. Names hold no ids of cases.
std::vector<PlannedPicture> plan_pictures(const std::vector<Finding>& findings);

/// Writes the images, each whole or not at all, and notes their names in `findings`. A case whose files cannot be
/// drawn has none, and a line in the log says why. Errors: kOutput; Stopped.
void draw_findings(const std::vector<PlannedPicture>& pictures, const std::vector<Case>& cases, const CheckedSet& set,
                   const PicturePlace& place, std::vector<Finding>& findings);

}  // namespace voxshard
