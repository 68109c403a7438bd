#include "io/dicom_out/patient_identity.h"

#include <dcmtk/config/osconfig.h>  // before all other headers of DCMTK

#include <dcmtk/dcmdata/dctk.h>

#include "io/dicom/dicom_file.h"
#include "io/dicom/dicom_library.h"
#include "io/dicom/dicom_values.h"

namespace voxshard {
namespace {

constexpr std::uint32_t kBehindFrameOfReference = 0x00200053;

/// Returns patient and study of a parsed data set, and the frame of reference of the data set itself.
PatientIdentity identity_in(const DicomValues& v) {
  return {.patient_id = v.text(DCM_PatientID),
          .study = v.text(DCM_StudyInstanceUID),
          .frame_of_reference = v.text(DCM_FrameOfReferenceUID)};
}

}  // namespace

std::optional<PatientIdentity> series_identity(const DicomSeries& series) {
  const DicomLibrary library;
  std::optional<PatientIdentity> all;
  for (const DicomFile& file : series.files) {
    const OpenDicom open = open_dicom(file.path, kMostDicomText, kBehindFrameOfReference);
    const PatientIdentity one = identity_in(DicomValues(*open.file->getDataset()));
    if (all && *all != one) return std::nullopt;
    all = one;
  }
  return all;
}

bool is_of(const std::filesystem::path& object, const PatientIdentity& whose) {
  const DicomLibrary library;
  const OpenDicom open = open_dicom(object, kMostDicomText);
  const DicomValues v(*open.file->getDataset());
  const PatientIdentity found = identity_in(v);
  bool same_frame = found.frame_of_reference.empty() || found.frame_of_reference == whose.frame_of_reference;
  const auto compare = [&](const DcmTagKey& sequence, const DcmTagKey& tag) {
    v.in_each_item(sequence, [&](const DicomValues& item) {
      same_frame = same_frame && item.text(tag) == whose.frame_of_reference;
      return same_frame;
    });
  };
  compare(DCM_ReferencedFrameOfReferenceSequence, DCM_FrameOfReferenceUID);
  compare(DCM_StructureSetROISequence, DCM_ReferencedFrameOfReferenceUID);
  return open.whole && same_frame && found.patient_id == whose.patient_id && found.study == whose.study;
}

}  // namespace voxshard
