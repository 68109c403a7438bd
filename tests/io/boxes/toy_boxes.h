// A format of boxes that only the tests know, to show that a format is one file and a row: lines "image class left top
// width height" in a file *.toyboxes, the images beside it.
//
//   BoxFormats formats = with_toy_boxes();
//   read_detection_dataset("cells", DetectionUse::kTraining, kMostPixels, formats);
#pragma once

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "io/boxes/box_format.h"

namespace voxshard {

inline DetectionDataset read_toy_boxes(const std::filesystem::path& path) {
  DetectionDataset set{.source = path, .classes = {}, .images = {}, .notes = {}};
  std::map<std::string, std::vector<std::pair<std::string, CocoBox>>> boxes_of_image;
  std::map<std::string, std::int64_t> classes;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);)
    in_entry(line, set.notes, [&] {
      std::istringstream words(line);
      std::string image_name, name;
      CocoBox box;
      if (!(words >> image_name >> name >> box.x >> box.y >> box.width >> box.height)) throw EntryProblem("is no box");
      boxes_of_image[image_name].emplace_back(name, box);
      classes[name] = 0;
    });
  for (auto& [name, index] : classes) {
    index = std::ssize(set.classes);
    set.classes.push_back({.name = name, .id = index + 1});
  }
  for (const auto& [file, boxes] : boxes_of_image) {
    DetectionImage image{.file = file, .id = std::ssize(set.images) + 1};
    for (const auto& [name, box] : boxes)
      image.boxes.push_back({.category = classes[name], .box = box, .area = box.area()});
    set.images.push_back(std::move(image));
  }
  return set;
}

inline bool is_toy_boxes(const std::filesystem::path& path) { return path.extension() == ".toyboxes"; }

inline std::vector<std::filesystem::path> toy_box_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (is_toy_boxes(entry.path())) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

/// Returns the table of the build with one row more.
inline BoxFormats with_toy_boxes() {
  BoxFormats formats = box_formats();
  formats.push_back({.name = "Toy",
                     .file = "toy list",
                     .expected = "*.toyboxes",
                     .is_known = is_toy_boxes,
                     .is_taken = is_toy_boxes,
                     .files = toy_box_files,
                     .places_images = false,
                     .read = read_toy_boxes});
  return formats;
}

}  // namespace voxshard
