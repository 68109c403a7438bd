// File formats for boxes on images. Each format has a source file of its own and a row in a table. Functions take the
// table as an argument; the default is the table of all formats that this build knows.
//
//   format_of("kitti/training").name;                    // "KITTI"
//   annotations_in("bccd");                              // {"bccd/coco_train.json", "bccd/coco_val.json"}
//   or_text(box_words().folders);                        // "Pascal VOC or KITTI"
//
// Called by pipelines/tasks/detection; help texts and messages take their names from here.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "io/boxes/detection_annotations.h"

namespace voxshard {

/// One format: a file of its own and a row in the table.
struct BoxFormat {
  const char* name;            // "Pascal VOC"
  const char* file = nullptr;  // name of a single file of this format in messages, "COCO JSON"; null: folders only
  const char* expected;        // how messages describe a folder of this format: "Annotations/*.xml with JPEGImages"
  bool is_sequence = false;    // it holds the frames of one video
  /// Returns true when a path found in a listing holds annotations of this format: a file by its name, a folder by its
  /// contents.
  bool (*is_known)(const std::filesystem::path& path);
  /// Returns true when a path that the user gives as annotations is read as this format. It then counts as a data set,
  /// whatever else lies there. Null: as is_known, and a folder with images in it is a folder of images.
  bool (*is_taken)(const std::filesystem::path& path) = nullptr;
  /// The annotation files of a folder, by name. Null: the folder itself is the data set.
  std::vector<std::filesystem::path> (*files)(const std::filesystem::path& folder) = nullptr;
  /// Returns true when a folder looks like a data set of this format, maybe a damaged one; no other kind of data set is
  /// then looked for there. Null: as is_known.
  bool (*is_like)(const std::filesystem::path& folder) = nullptr;
  const char* below = nullptr;  // subfolder of the unpacked archive that is the data set: "training"
  bool places_images = true;    // true: `read` gives each image's path; false: images are searched for around the file
  /// Errors: kInput; an entry that cannot be used is a note.
  DetectionDataset (*read)(const std::filesystem::path& path);
  /// The names, without ending, of the images in the set "train" or "val" that the data set itself lists; empty when
  /// there is no such list. Null: the format has none.
  std::vector<std::string> (*listed)(const std::filesystem::path& folder, const std::string& set) = nullptr;
};

/// Formats in the order in which messages list them. The last format that accepts a path reads it; the first format
/// reads a path that no format accepts.
using BoxFormats = std::vector<BoxFormat>;
/// Returns all formats that this build knows.
const BoxFormats& box_formats();

/// The format that reads a path which the user gives as annotations.
const BoxFormat& format_of(const std::filesystem::path& path, const BoxFormats& formats = box_formats());

/// Returns whether a path is taken as annotations whatever else lies there.
bool is_taken_as_boxes(const std::filesystem::path& path, const BoxFormats& formats = box_formats());

/// Returns whether a folder looks like a data set with boxes, or a part of one.
bool is_like_boxes(const std::filesystem::path& folder, const BoxFormats& formats = box_formats());

/// The annotations at a path: the file itself where its name is known, the annotation files of a folder, or the folder
/// that is a data set; empty for anything else.
std::vector<std::filesystem::path> annotations_in(const std::filesystem::path& path,
                                                  const BoxFormats& formats = box_formats());

/// Returns the annotation files of a folder, in the first format that has files there.
std::vector<std::filesystem::path> annotation_files(const std::filesystem::path& folder,
                                                    const BoxFormats& formats = box_formats());

/// The names in `set` that a data set lists, in the first format that knows it and has lists; else empty.
std::vector<std::string> listed_images(const std::filesystem::path& folder, const std::string& set,
                                       const BoxFormats& formats = box_formats());

/// Names from the rows of the table, for help texts and messages.
struct BoxWords {
  std::vector<std::string> names, images, sequences;  // COCO, Pascal VOC, KITTI, MOT; those without MOT; MOT
  std::vector<std::string> files, image_files;        // single files: COCO JSON, MOT text; the same without MOT text
  std::vector<std::string> folders;                   // names of the formats that are given as folders only
  std::vector<std::string> expected;                  // descriptions of their folders
};
BoxWords box_words(const BoxFormats& formats = box_formats());

/// "a COCO JSON, a MOT text".
std::string box_files_text(const BoxFormats& formats = box_formats());
/// "a COCO JSON, a Pascal VOC or KITTI folder, or a MOT text".
std::string box_inputs_text(const BoxFormats& formats = box_formats());

// Helper for the format files.
/// Returns whether a folder holds a file or folder of this name.
bool exists_in(const std::filesystem::path& folder, const char* name);

}  // namespace voxshard
