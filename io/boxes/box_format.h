// Forms in which the boxes of images are stored. A format is a file of its own and a row of a table that is handed in;
// without one, all that this build knows.
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
  const char* name;  // "Pascal VOC"
  const char* file =
      nullptr;  // what people call a file of it that is given by itself, "COCO JSON"; null: only folders are given
  const char* expected;      // what tells a folder of it, for people: "Annotations/*.xml with JPEGImages"
  bool is_sequence = false;  // it holds the frames of one video
  /// Tells whether a path among others is annotations of this format: a file by its name, a folder by what lies in it.
  bool (*is_known)(const std::filesystem::path& path);
  /// Tells whether a path that the user gives as annotations is read as this format. It is a data set whatever else
  /// lies there. Null: as is_known, and a folder with images in it is a folder of images.
  bool (*is_taken)(const std::filesystem::path& path) = nullptr;
  /// The annotation files of a folder, by name. Null: the folder itself is the data set.
  std::vector<std::filesystem::path> (*files)(const std::filesystem::path& folder) = nullptr;
  /// Tells whether a folder looks like one, maybe damaged: no other sort of data set is looked for there. Null: as
  /// is_known.
  bool (*is_like)(const std::filesystem::path& folder) = nullptr;
  const char* below = nullptr;  // the folder of the data set in the one that users unpack: "training"
  bool places_images = true;    // `read` says where each image lies; false: they are looked for around the file
  /// Errors: kInput; an entry that cannot be used is a note.
  DetectionDataset (*read)(const std::filesystem::path& path);
  /// The names, without ending, of the images in the set "train" or "val" that the data set itself lists; empty when
  /// there is no such list. Null: the format has none.
  std::vector<std::string> (*listed)(const std::filesystem::path& folder, const std::string& set) = nullptr;
};

/// In the order in which people read them; the last that takes a path reads it, and the first what no other takes.
using BoxFormats = std::vector<BoxFormat>;
/// All that this build knows.
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

/// The annotation files of a folder, of the first format that has some there.
std::vector<std::filesystem::path> annotation_files(const std::filesystem::path& folder,
                                                    const BoxFormats& formats = box_formats());

/// The names in `set` that a data set lists, in the first format that knows it and has lists; else empty.
std::vector<std::string> listed_images(const std::filesystem::path& folder, const std::string& set,
                                       const BoxFormats& formats = box_formats());

/// The words of the rows, for help and messages.
struct BoxWords {
  std::vector<std::string> names, images, sequences;  // COCO, Pascal VOC, KITTI, MOT; those without MOT; MOT
  std::vector<std::string> files, image_files;        // given by themselves: COCO JSON, MOT text; without that of MOT
  std::vector<std::string> folders;                   // names of the formats of which only folders are given
  std::vector<std::string> expected;                  // what tells their folders
};
BoxWords box_words(const BoxFormats& formats = box_formats());

/// "a COCO JSON, a MOT text".
std::string box_files_text(const BoxFormats& formats = box_formats());
/// "a COCO JSON, a Pascal VOC or KITTI folder, or a MOT text".
std::string box_inputs_text(const BoxFormats& formats = box_formats());

// For formats.
/// Returns whether a folder holds a file or folder of this name.
bool exists_in(const std::filesystem::path& folder, const char* name);

}  // namespace voxshard
