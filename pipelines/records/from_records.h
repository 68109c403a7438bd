// TFRecord files to folders that the other commands read: volumes with labels to an nnU-Net folder, images with boxes
// to a COCO set. Names come from the files and the numbers of their records, never out of a record.
//
//   TaskReport r = convert_from_records({.input = "records", .output = "data"}, progress);
#pragma once

#include "pipelines/engine/requests.h"
#include "pipelines/records/convert_request.h"
#include "pipelines/records/record_input.h"

namespace voxshard {

/// What the first record that can be read holds decides for all. Writes OUTPUT with quarantine.csv; what makes a data
/// set of it comes last. Errors: kInput; kNoCase when no record can be used; kOutput; Stopped.
TaskReport convert_from_records(const ConvertRequest& request, Progress& progress);

/// What a record takes at its peak beside its bytes: the record, what is parsed of it, and the sample as it is and as
/// it is written.
inline constexpr std::int64_t kRecordTimes = 4;

/// The two forms:
///   OUTPUT/dataset.json  imagesTr/ID_0000.nii.gz (f32)  labelsTr/ID.nii.gz; without label imagesTs
///   OUTPUT/annotations.json  images/ID_000001.jpg (the bytes of the record)
TaskReport volumes_from_records(const ConvertRequest& request, const std::vector<RecordInput>& inputs,
                                std::vector<CaseFailure> failures, Progress& progress);
TaskReport images_from_records(const ConvertRequest& request, const std::vector<RecordInput>& inputs,
                               std::vector<CaseFailure> failures, Progress& progress);

/// The report of a conversion, its failures as warnings "ID: MESSAGE" and in FOLDER/quarantine.csv. Errors: kNoCase
/// when nothing was converted.
///   what  "volumes", "records"
TaskReport convert_report(const ConvertRequest& request, std::int64_t converted, const std::string& what,
                          const std::vector<CaseFailure>& failures, std::vector<std::string> next, Progress& progress);

}  // namespace voxshard
