// Converts TFRecord files to folders that the other commands read: volumes with labels to an nnU-Net folder, images
// with boxes to a COCO data set. Names are made from the file names and record numbers, never from the content of a
// record.
//
//   TaskReport r = convert_from_records({.input = "records", .output = "data"}, progress);
#pragma once

#include "pipelines/engine/requests.h"
#include "pipelines/records/convert_request.h"
#include "pipelines/records/record_input.h"

namespace voxshard {

/// The first record that can be read decides between volumes and images for all. Writes OUTPUT with quarantine.csv; the
/// file that makes it a data set is written last. Errors: kInput; kNoCase when no record can be used; kOutput; Stopped.
TaskReport convert_from_records(const ConvertRequest& request, Progress& progress);

/// Peak memory of converting a record, in multiples of its size: the record, its parsed form, and the sample in memory
/// and as it is written.
inline constexpr std::int64_t kRecordTimes = 4;

/// The two conversions:
///   OUTPUT/dataset.json  imagesTr/ID_0000.nii.gz (f32)  labelsTr/ID.nii.gz; without label imagesTs
///   OUTPUT/annotations.json  images/ID_000001.jpg (the bytes of the record)
TaskReport volumes_from_records(const ConvertRequest& request, const std::vector<RecordInput>& inputs,
                                std::vector<CaseFailure> failures, Progress& progress);
TaskReport images_from_records(const ConvertRequest& request, const std::vector<RecordInput>& inputs,
                               std::vector<CaseFailure> failures, Progress& progress);

/// Returns the report of a conversion; writes its failures as warnings "ID: MESSAGE" and to FOLDER/quarantine.csv.
/// Errors: kNoCase when nothing was converted.
///   what  "volumes", "records"
TaskReport convert_report(const ConvertRequest& request, std::int64_t converted, const std::string& what,
                          const std::vector<CaseFailure>& failures, std::vector<std::string> next, Progress& progress);

}  // namespace voxshard
