// Pascal VOC: one XML file per image, pixels counted from 1; the edge pixels of a box belong to it.
//
//   DetectionDataset set = read_voc("VOC2007");          // Annotations/*.xml, JPEGImages
//
// Sources: the VOC2007 development kit (annotation format, "difficult"). XML is parsed by pugixml, which expands
// character entities only.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "io/boxes/box_format.h"
#include "io/boxes/detection_annotations.h"

namespace voxshard {

/// Reads every FOLDER/Annotations/*.xml, by name; `file` is FOLDER/JPEGImages/<filename>, never outside of JPEGImages.
/// Classes are those that occur, by name. A box from pixel xmin to xmax covers x = xmin - 1 to xmax. A damaged file or
/// object becomes a note. Errors: kInput when the folder cannot be read.
DetectionDataset read_voc(const std::filesystem::path& folder);

/// Returns true when a folder has the two parts of VOC (Annotations and JPEGImages).
bool is_voc_folder(const std::filesystem::path& folder);

/// Returns the names in FOLDER/ImageSets/Main/SET.txt ("train", "val"), without ending; empty when there is no such
/// file. Errors: kInput for a file of more than 16 MiB.
std::vector<std::string> read_voc_set(const std::filesystem::path& folder, const std::string& set);

BoxFormat voc_format();

}  // namespace voxshard
