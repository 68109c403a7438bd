#include "io/dicom/structures.h"

#include <dcmtk/config/osconfig.h>  // before all other headers of DCMTK

#include <dcmtk/dcmdata/dctk.h>

#include <algorithm>
#include <map>

#include "io/dicom/dicom_file.h"
#include "io/dicom/dicom_values.h"
#include "io/dicom/structure_contours.h"
#include "io/files/file_error.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

// SOP class UIDs of DICOM PS3.4 B.5.
constexpr std::string_view kSegmentationClass = "1.2.840.10008.5.1.4.1.1.66.4";
constexpr std::string_view kLabelMapClass = "1.2.840.10008.5.1.4.1.1.66.7";
constexpr std::string_view kStructureSetClass = "1.2.840.10008.5.1.4.1.1.481.3";

bool is_segmentation_class(std::string_view uid) { return uid == kSegmentationClass || uid == kLabelMapClass; }

/// Collects structures, and refuses numbers that two of them have.
class StructureList {
 public:
  StructureList(const fs::path& path, std::vector<NamedStructure>& list) : path_(path), list_(list) {}

  void add(NamedStructure structure) {
    if (list_.size() == kMostStructures)
      throw input_error(path_, "has more than " + std::to_string(kMostStructures) + " structures",
                        "export those that are needed", "E_LIMIT");
    if (!place_of_.emplace(structure.number, list_.size()).second)
      throw input_error(path_, "has two structures of the number " + std::to_string(structure.number),
                        "export it again", "E_DUPLICATE");
    list_.push_back(std::move(structure));
  }
  /// Returns the structure of a number; null when there is none.
  NamedStructure* find(int number) {
    const auto at = place_of_.find(number);
    return at == place_of_.end() ? nullptr : &list_[at->second];
  }

 private:
  const fs::path& path_;
  std::vector<NamedStructure>& list_;
  std::map<int, std::size_t> place_of_;
};

StructureFile segments_of(const DicomHeader& h) {
  StructureFile file{.kind = StructureKind::kSegmentation,
                     .series_uid = h.referenced_series,
                     .frame_of_reference_uid = h.frame_of_reference};
  StructureList list(h.file, file.structures);
  for (const DicomSegment& segment : h.segments)
    list.add({.number = segment.number,
              .name = segment.label,
              .type = segment.type,
              .frame_of_reference_uid = h.frame_of_reference});
  const bool each_frame_has_all = h.segmentation == "LABELMAP";
  for (NamedStructure& structure : file.structures)
    if (each_frame_has_all) structure.drawn = std::ssize(h.frames);
  for (const DicomFrame& frame : h.frames)
    if (NamedStructure* structure = each_frame_has_all ? nullptr : list.find(frame.segment)) ++structure->drawn;
  return file;
}

StructureFile contours_of(const DicomValues& v, const fs::path& path) {
  const std::string character_set = v.text(DCM_SpecificCharacterSet);
  StructureFile file{.kind = StructureKind::kContours, .series_uid = series_of_structure_set(v)};
  const std::string frame = v.only_uid(DCM_ReferencedFrameOfReferenceSequence, DCM_FrameOfReferenceUID);
  StructureList list(path, file.structures);
  OneUid frames;
  v.in_each_item(DCM_StructureSetROISequence, [&](const DicomValues& one) {
    const std::string own = one.text(DCM_ReferencedFrameOfReferenceUID);
    list.add({.number = structure_number(one, DCM_ROINumber, path),
              .name = one.name(DCM_ROIName, character_set),
              .frame_of_reference_uid = own.empty() ? frame : own});
    frames.add(file.structures.back().frame_of_reference_uid);
    return true;
  });
  file.frame_of_reference_uid = file.structures.empty() ? frame : frames.get();
  v.in_each_item(DCM_RTROIObservationsSequence, [&](const DicomValues& one) {
    NamedStructure* structure = list.find(structure_number(one, DCM_ReferencedROINumber, path));
    if (structure != nullptr) structure->type = one.name(DCM_RTROIInterpretedType, character_set);
    return true;
  });
  v.in_each_item(DCM_ROIContourSequence, [&](const DicomValues& one) {
    NamedStructure* structure = list.find(structure_number(one, DCM_ReferencedROINumber, path));
    one.in_each_item(DCM_ContourSequence, [&](const DicomValues& contour) {
      if (structure != nullptr) ++(encloses_voxels(contour) ? structure->drawn : structure->left_out);
      return true;
    });
    return true;
  });
  return file;
}

/// Returns SOPClassUID; empty for a file that is no DICOM or cannot be read.
std::string class_in(const fs::path& path) {
  try {
    if (!looks_like_dicom(path)) return {};
    constexpr std::uint32_t kBehindClass = 0x00080018;
    const OpenDicom open = open_dicom(path, kMostDicomText, kBehindClass);
    return DicomValues(*open.file->getDataset()).text(DCM_SOPClassUID);
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

bool is_dicom_segmentation(const DicomHeader& header) { return is_segmentation_class(header.sop_class); }

bool is_structure_set(const DicomHeader& header) { return header.sop_class == kStructureSetClass; }

// The frames of reference name the series (DICOM PS3.3 C.8.8.5).
std::string series_of_structure_set(const DicomValues& set) {
  OneUid series;
  set.in_each_item(DCM_ReferencedFrameOfReferenceSequence, [&](const DicomValues& frame) {
    frame.in_each_item(DCM_RTReferencedStudySequence, [&](const DicomValues& study) {
      study.in_each_item(DCM_RTReferencedSeriesSequence, [&](const DicomValues& one) {
        series.add(one.text(DCM_SeriesInstanceUID));
        return true;
      });
      return true;
    });
    return true;
  });
  return series.get();
}

bool is_structure_file(const fs::path& path) {
  const std::string uid = class_in(path);
  return is_segmentation_class(uid) || uid == kStructureSetClass;
}

bool is_structure_set_file(const fs::path& path) { return class_in(path) == kStructureSetClass; }

StructureFile read_structure_file(const fs::path& path) {
  const OpenDicom open = open_dicom(path, kMostDicomText);
  const DicomValues v(*open.file->getDataset());
  const std::string uid = v.text(DCM_SOPClassUID);
  if (uid != kStructureSetClass && !is_segmentation_class(uid))
    throw input_error(path, "is neither a DICOM segmentation nor an RT structure set", "check the path");
  if (!open.whole) throw input_error(path, "is truncated or damaged", "copy or export it again");
  return uid == kStructureSetClass ? contours_of(v, path) : segments_of(read_dicom_header(path));
}

}  // namespace voxshard
