// UIDs for series whose own were taken away, as exports that were de-identified have them: objects that refer to the
// series can then be made and sent. An archive that has the study under its right UIDs files such objects beside it.
//
//   SourceSeries source = read_source_series(series);
//   if (fill_uids(source, input)) log("UIDs are made of a hash of the files");
#pragma once

#include <string>

#include "io/dicom_out/source_series.h"

namespace voxshard {

/// Fills the UIDs of study, series, frame of reference and files that are empty, and the SOP class of files of CT, MR
/// and PET with one frame, by modality. UIDs that are there stay; other modalities keep their empty SOP class.
///   input    a hash of the files of the series: the same files get the same UIDs, whatever their names
///   returns  true when something was filled
bool fill_uids(SourceSeries& source, const std::string& input);

}  // namespace voxshard
