// Pascal VOC: one XML file per image, pixels counted from 1, both edges of a box inside of it.
//
//   DetectionDataset set = read_voc("VOC2007");          // Annotations/*.xml, JPEGImages
//
// Sources: the VOC2007 development kit (annotation format, "difficult"). XML through pugixml, which knows no entities
// but those of characters.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "io/boxes/box_format.h"
#include "io/boxes/detection_annotations.h"

namespace voxshard {

/// Every FOLDER/Annotations/*.xml, by name; `file` is FOLDER/JPEGImages/<filename>, which stays in there, classes are
/// those that occur, by name. A box from pixel xmin to xmax covers x = xmin - 1 to xmax. A damaged file or object is a
/// note. Errors: kInput when the folder cannot be read.
DetectionDataset read_voc(const std::filesystem::path& folder);

/// Whether a folder has the two parts of VOC.
bool is_voc_folder(const std::filesystem::path& folder);

/// The names in FOLDER/ImageSets/Main/SET.txt ("train", "val"), without ending; empty when there is no such file.
/// Errors: kInput for one of more than 16 MiB.
std::vector<std::string> read_voc_set(const std::filesystem::path& folder, const std::string& set);

BoxFormat voc_format();

}  // namespace voxshard
