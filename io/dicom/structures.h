// The list of named structures in a DICOM file: the segments of a segmentation, or the regions of interest of an
// RT structure set. Voxels are made of them by io/structures/structure_labels.h.
//
//   const StructureFile file = read_structure_file("RS.dcm");
//   file.structures[0].name          // "Parotid L", UTF-8
//   file.series_uid                  // of the image that they were drawn on
//
// UIDs are there to find the image that belongs to the file. They are never printed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "io/dicom/dicom_header.h"

namespace voxshard {

class DicomValues;

enum class StructureKind : std::uint8_t { kSegmentation, kContours };

struct NamedStructure {
  int number = 0;             // SegmentNumber or ROINumber, unique in the file
  std::string name;           // SegmentLabel or ROIName as plain UTF-8, from the file's SpecificCharacterSet
  std::string type;           // RTROIInterpretedType ("ORGAN"), or the meaning of the segment's property; may be empty
  std::int64_t drawn = 0;     // closed planar contours, or frames; 0 in a structure set: it was named but not contoured
  std::int64_t left_out = 0;  // points and open contours, which enclose no voxel
  std::string frame_of_reference_uid;  // of its coordinates; empty where the file says none
};

struct StructureFile {
  StructureKind kind = StructureKind::kSegmentation;
  std::string series_uid;              // of the image that is referred to; empty where the file names none, or several
  std::string frame_of_reference_uid;  // empty where the file names none, or several
  std::vector<NamedStructure> structures;  // in the order of the file
};

/// The most structures that a file may have.
inline constexpr std::size_t kMostStructures = 65535;

/// True for a DICOM file whose class is that of a segmentation or of an RT structure set; false for a file that is no
/// DICOM or cannot be read.
/// Cost: reads its first elements.
bool is_structure_file(const std::filesystem::path& path);
/// The same for RT structure sets alone.
bool is_structure_set_file(const std::filesystem::path& path);

bool is_dicom_segmentation(const DicomHeader& header);
bool is_structure_set(const DicomHeader& header);
/// Returns the UID of the series that an RT structure set was drawn on; empty where it names none, or several.
std::string series_of_structure_set(const DicomValues& set);

/// Reads names and references; no pixel and no coordinate. Errors: kInput for a file that is no DICOM, cut or damaged
/// within its header, or neither of the two kinds; E_DUPLICATE for two structures of one number; E_LIMIT for more than
/// kMostStructures.
StructureFile read_structure_file(const std::filesystem::path& path);

}  // namespace voxshard
