// Finds the images of a data set on disk, and entries that name the same image.
//
//   place_images(set);                                  // "p0.png" becomes /data/images/p0.png
//   ImageKeys seen;
//   leave_out_seen(set, seen, "is that of an earlier entry");   // "./p0.png" is a second name of it
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "io/boxes/detection_annotations.h"

namespace voxshard {

/// Gives each image of a COCO file a path that exists; one without an image becomes a note (E_MISSING, E_NAME).
/// Cost: the folders in which images may lie are listed once.
void place_images(DetectionDataset& set);

/// A set of images and video frames, identified by their real path, whatever names and links lead there.
class ImageKeys {
 public:
  /// Adds an image; returns false when it is in the set already.
  bool insert(const DetectionImage& image) { return keys_.insert(key_of(image)).second; }

 private:
  std::pair<std::filesystem::path, std::int64_t> key_of(const DetectionImage& image);

  std::set<std::pair<std::filesystem::path, std::int64_t>> keys_;  // the frame is -1 for an image
  std::map<std::filesystem::path, std::filesystem::path> places_;  // by name
};

/// Returns the name by which evaluate knows a predicted image, "17 a.png": the id is unique, the file name is for
/// people.
inline std::string seen_name(std::int64_t id, const std::filesystem::path& image) {
  return std::to_string(id) + " " + image.filename().string();
}

/// Returns the frame's number within its video, "#frame=17", whatever the video's name; empty for an image file.
std::string part_of(const std::filesystem::path& image);

/// Leaves out the images that are in `seen` already, with a note (E_DUPLICATE) and the reason `why`, and adds the
/// others to `seen`.
void leave_out_seen(DetectionDataset& set, ImageKeys& seen, const std::string& why);

}  // namespace voxshard
