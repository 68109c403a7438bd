#include "io/dicom_out/source_series.h"

#include <dcmtk/config/osconfig.h>  // before all other headers of DCMTK

#include <dcmtk/dcmdata/dctk.h>

#include <algorithm>
#include <tuple>

#include "io/dicom/dicom_file.h"
#include "io/dicom/dicom_library.h"
#include "io/dicom/dicom_values.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// All that is kept of a header: what PACS need to file an object under its patient and study, what says that a patient
/// was de-identified, and the meaning of the bytes of texts. Everything else stays behind.
const DcmTagKey kKept[] = {DCM_SpecificCharacterSet,
                           DCM_TimezoneOffsetFromUTC,
                           DCM_StudyDate,
                           DCM_StudyTime,
                           DCM_AccessionNumber,
                           DCM_ReferringPhysicianName,
                           DCM_StudyDescription,
                           DCM_PatientName,
                           DCM_PatientID,
                           DCM_IssuerOfPatientID,
                           DCM_PatientBirthDate,
                           DCM_PatientSex,
                           DCM_PatientAge,
                           DCM_PatientIdentityRemoved,
                           DCM_DeidentificationMethod,
                           DCM_LongitudinalTemporalInformationModified,
                           DCM_StudyInstanceUID,
                           DCM_StudyID};

/// Elements of type 2: they stand in an object, empty where nothing is known.
const DcmTagKey kNeeded[] = {DCM_StudyDate,   DCM_StudyTime, DCM_AccessionNumber,  DCM_ReferringPhysicianName,
                             DCM_PatientName, DCM_PatientID, DCM_PatientBirthDate, DCM_PatientSex,
                             DCM_StudyID};

constexpr std::uint32_t kBehindInstance = 0x00080019;

SourceInstance instance_of(const fs::path& path) {
  const OpenDicom open = open_dicom(path, kMostDicomText, kBehindInstance);
  const DicomValues v(*open.file->getDataset());
  return {.sop_class = v.text(DCM_SOPClassUID), .uid = v.text(DCM_SOPInstanceUID)};
}

/// True for at most 64 digits and full stops (DICOM PS3.5, 9.1). Anything else would go into each reference as it is,
/// and a backslash would make two of one.
bool is_uid(const std::string& text) {
  constexpr std::size_t kMostUidBytes = 64;
  return !text.empty() && text.size() <= kMostUidBytes && text.find_first_not_of("0123456789.") == std::string::npos;
}

/// True for the eight digits of a date and the first six of a time.
bool all_digits(const std::string& text, std::size_t count) {
  return text.size() >= count && std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(count),
                                             [](unsigned char c) { return c >= '0' && c <= '9'; });
}

/// Returns date and time of the series, else of the study; the first day of 1970 where the files tell none: an object
/// must have them, and those of the clock would change its bytes.
std::pair<std::string, std::string> date_of(const DicomValues& v) {
  const std::pair<DcmTagKey, DcmTagKey> places[] = {{DCM_SeriesDate, DCM_SeriesTime}, {DCM_StudyDate, DCM_StudyTime}};
  for (const auto& [date, time] : places)
    if (const std::string day = v.text(date); day.size() == 8 && all_digits(day, 8)) {
      const std::string clock = v.text(time);
      return {day, all_digits(clock, 6) ? clock.substr(0, 6) : "000000"};
    }
  return {"19700101", "000000"};
}

}  // namespace

SourceSeries read_source_series(DicomSeries series) {
  const DicomLibrary library;
  SourceSeries source;
  for (const DicomFile& file : series.files) source.instances.push_back(instance_of(file.path));
  const OpenDicom open = open_dicom(series.common.file, kMostDicomText);
  DcmDataset& header = *open.file->getDataset();
  const DicomValues v(header);
  source.patient = std::make_shared<DcmDataset>();
  for (const DcmTagKey& tag : kKept) {
    DcmElement* element = nullptr;
    if (header.findAndGetElement(tag, element).bad() || element->getLengthField() > kMostDicomText) continue;
    source.patient->insert(dynamic_cast<DcmElement*>(element->clone()), true);
  }
  for (const DcmTagKey& tag : kNeeded)
    if (!source.patient->tagExists(tag)) source.patient->insertEmptyElement(tag);
  std::tie(source.date, source.time) = date_of(v);
  source.position_reference = v.text(DCM_PositionReferenceIndicator);
  source.is_utf8 = v.text(DCM_SpecificCharacterSet) == "ISO_IR 192";
  source.series = std::move(series);
  return source;
}

std::string lacking_uids(const SourceSeries& source) {
  const DicomHeader& h = source.series.common;
  if (h.study.empty() || h.series.empty()) return "the series has no UID of its study or of its own";
  if (h.frame_of_reference.empty()) return "the series has no UID of its frame of reference";
  const auto is_named = [](const SourceInstance& one) { return !one.sop_class.empty() && !one.uid.empty(); };
  if (!std::all_of(source.instances.begin(), source.instances.end(), is_named))
    return "files of the series have no SOP class or no UID";
  return {};
}

std::string unfit_reason(const SourceSeries& source, const Geometry& labels) {
  const DicomSeries& series = source.series;
  if (!series.problem.empty())
    return std::string("the series is no regular volume (") + series.problem_code +
           "), so that its label map does not lie on its slices";
  const DicomGrid& g = series.grid;
  if (!same_geometry(labels, {.size = g.size, .origin = g.origin, .spacing = g.spacing, .direction = g.direction}))
    return "the label map does not lie on the slices of the series";
  if (std::string lacking = lacking_uids(source); !lacking.empty()) return lacking;
  const DicomHeader& h = series.common;
  const auto has_uids = [](const SourceInstance& one) { return is_uid(one.sop_class) && is_uid(one.uid); };
  if (!is_uid(h.study) || !is_uid(h.series) || !is_uid(h.frame_of_reference) ||
      !std::all_of(source.instances.begin(), source.instances.end(), has_uids))
    return "UIDs of the series are not valid";
  return {};
}

std::vector<ClassExtent> class_extents(const std::int32_t* slice, std::int64_t rows, std::int64_t columns,
                                       std::size_t classes) {
  std::vector<ClassExtent> extents(classes);
  for (std::int64_t y = 0; y < rows; ++y)
    for (std::int64_t x = 0; x < columns; ++x) {
      const std::int32_t label = *slice++;
      if (label < 0 || static_cast<std::size_t>(label) >= classes) continue;
      ClassExtent& one = extents[label];
      if (one.pixels++ == 0) one.first_row = y, one.first_column = x, one.last_column = x;
      one.last_row = y;
      one.first_column = std::min(one.first_column, x), one.last_column = std::max(one.last_column, x);
    }
  return extents;
}

}  // namespace voxshard
