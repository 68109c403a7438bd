// Where the images of a data set lie, and which of its entries mean the same one.
//
//   place_images(set);                                  // "p0.png" becomes /data/images/p0.png
//   ImageKeys seen;
//   leave_out_seen(set, seen, "is that of an earlier entry");   // "./p0.png" was a second name of it
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
/// Cost: the folders that the images may lie in are listed once.
void place_images(DetectionDataset& set);

/// Images and frames of videos, told apart by where they lie, whatever names and links lead there.
class ImageKeys {
 public:
  /// False when it is in there already.
  bool insert(const DetectionImage& image) { return keys_.insert(key_of(image)).second; }

 private:
  std::pair<std::filesystem::path, std::int64_t> key_of(const DetectionImage& image);

  std::set<std::pair<std::filesystem::path, std::int64_t>> keys_;  // the frame is -1 for an image
  std::map<std::filesystem::path, std::filesystem::path> places_;  // by name
};

/// What evaluate knows a predicted image by, "17 a.png": ids are unique, and names are for people.
inline std::string seen_name(std::int64_t id, const std::filesystem::path& image) {
  return std::to_string(id) + " " + image.filename().string();
}

/// Of a frame which of its video's it is, "#frame=17", whatever the video is called; empty for an image of its own.
std::string part_of(const std::filesystem::path& image);

/// Leaves out the images whose image is among `seen`, with a note (E_DUPLICATE) that says why, and adds the others.
void leave_out_seen(DetectionDataset& set, ImageKeys& seen, const std::string& why);

}  // namespace voxshard
