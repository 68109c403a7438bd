// The outputs of `predict` for a volume beside its label map, by the setting {write}.
//
//   written_outputs("dicom-seg,measures")       // Errors: kUsage for a word that is none of them
#pragma once

#include <string>
#include <string_view>

namespace voxshard {

struct WrittenOutputs {
  bool segmentation = false;  // CASE.seg.dcm, a DICOM segmentation
  bool measures = false;      // CASE.measures.json; measures.json and measures.csv for all cases
  bool report = false;        // CASE.sr.dcm, a DICOM report of the measures, which refers to the segmentation
  bool structures = false;    // CASE.rtstruct.dcm, an RT structure set

  bool any_dicom() const { return segmentation || report || structures; }
  bool any() const { return any_dicom() || measures; }
};

/// The words of the list.
inline constexpr std::string_view kWrittenWords[] = {"dicom-seg", "measures", "sr", "rt-struct"};

/// Parses a list with commas; an empty one asks for nothing. The report refers to the segmentation, which is written
/// with it. Errors: kUsage.
WrittenOutputs written_outputs(const std::string& list);

}  // namespace voxshard
