// Whose images a series holds, and whose an object that was made of it says that it is about: the two are compared
// before the object is sent. Both are read from the files anew. The values lead to a patient: they are compared, never
// printed or stored.
//
//   const std::optional<PatientIdentity> whose = series_identity(series);   // none: its files do not agree
//   if (whose && is_of(file, *whose)) ...
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "io/dicom/dicom_series.h"

namespace voxshard {

struct PatientIdentity {
  std::string patient_id;          // PatientID (0010,0020); may be empty
  std::string study;               // StudyInstanceUID
  std::string frame_of_reference;  // FrameOfReferenceUID; empty where a file names none, or several
  bool operator==(const PatientIdentity&) const = default;
};

/// Returns the identity that all files of a series have; none when two differ. Cost: the headers of all files. Errors:
/// kInput for a file that cannot be opened.
std::optional<PatientIdentity> series_identity(const DicomSeries& series);

/// True when an object names this patient and study, and no frame of reference but this one: of a structure set those
/// of its structures count too; a report names none. Errors: kInput for a file that cannot be opened.
bool is_of(const std::filesystem::path& object, const PatientIdentity& whose);

}  // namespace voxshard
