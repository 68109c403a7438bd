// KITTI's object detection: a text file of labels per image of a drive, a line per object.
//
//   DetectionDataset set = read_kitti("kitti/training");     // label_2/000017.txt, image_2/000017.png
//   Car 0.00 0 -1.58 587.01 173.33 614.12 200.12 1.65 1.67 3.64 -0.65 1.71 46.70 -1.59
//   type, truncated, occluded, alpha, left, top, right, bottom, height, width, length, x, y, z, rotation_y
//
// Source: Geiger et al., "Are we ready for Autonomous Driving? The KITTI Vision Benchmark Suite", CVPR 2012; the readme
// of the object development kit (columns; DontCare are regions in which objects were not labelled).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "io/boxes/box_format.h"
#include "io/boxes/detection_annotations.h"

namespace voxshard {

/// The part of a line that concerns the image. The 3-D fields are checked and not kept.
struct KittiRow {
  std::string type;
  CocoBox box;  // pixels from 0, edges as written in the file
  friend bool operator==(const KittiRow&, const KittiRow&) = default;
};

/// Parses one line without its line end: 15 fields separated by blanks. Errors: EntryProblem (E_ENTRY, E_NAME of the
/// type, E_BOX without area).
KittiRow parse_kitti_line(std::string_view line);

/// Reads every FOLDER/label_2/*.txt, by name; `file` is FOLDER/image_2/NAME.png (or .jpg where only that is there).
/// Classes are the types that occur, by name, except DontCare: such a region is a crowd of every class, in which
/// detections do not count. An image without a label file is not part of the set. A line or file that cannot be used
/// becomes a note that names file and line; after a thousand notes, one counts all others. Errors: kInput when the
/// folder cannot be read, and E_LIMIT for more than 100 types.
DetectionDataset read_kitti(const std::filesystem::path& folder);

/// Returns true when a folder has the two parts of KITTI (label_2 and image_2).
bool is_kitti_folder(const std::filesystem::path& folder);

/// Returns the names in ImageSets/SET.txt ("train", "val") of the folder or of its parent folder, without ending; empty
/// when there is no such file. Errors: kInput for a file of more than 16 MiB.
std::vector<std::string> read_kitti_set(const std::filesystem::path& folder, const std::string& set);

BoxFormat kitti_format();

}  // namespace voxshard
