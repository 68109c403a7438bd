#include "io/dicom/dicom_header.h"

#include <dcmtk/config/osconfig.h>  // before all other headers of DCMTK

#include <dcmtk/dcmdata/dctk.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "io/dicom/dicom_file.h"
#include "io/dicom/dicom_library.h"
#include "io/dicom/dicom_values.h"
#include "io/dicom/structures.h"
#include "io/files/content_hash.h"
#include "io/files/file_error.h"
#include "io/files/open_file.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

void keep(auto& known, const auto& found) {
  if (found) known = found;
}

/// Returns a number that counts something; 0 for none.
std::int64_t whole_number(const std::optional<double>& number) { return std::llround(number.value_or(0)); }

/// Reads the attributes of a classic file, which are at the top of its data set.
DicomFrame classic_frame(const DicomValues& v) {
  return {.position = v.numbers<3>(DCM_ImagePositionPatient),
          .orientation = v.numbers<6>(DCM_ImageOrientationPatient),
          .spacing = v.numbers<2>(DCM_PixelSpacing),
          .slope = v.number(DCM_RescaleSlope),
          .intercept = v.number(DCM_RescaleIntercept),
          .rescale_type = v.text(DCM_RescaleType),
          .temporal_position = whole_number(v.number(DCM_TemporalPositionIdentifier))};
}

constexpr std::string_view kEnhancedPet = "1.2.840.10008.5.1.4.1.1.130";
constexpr std::string_view kSuvByWeight = "g/ml{SUVbw}";

/// Returns the mapping into SUV by body weight, else into Bq/ml, else the first; none where there is no linear one.
std::optional<RealWorldValues> read_real_world_values(const DicomValues& groups) {
  std::optional<RealWorldValues> best;
  const auto rank = [](const std::string& unit) { return unit == kSuvByWeight ? 2 : unit == "Bq/ml" ? 1 : 0; };
  groups.in_each_item(DCM_RealWorldValueMappingSequence, [&](const DicomValues& v) {
    const auto slope = v.number(DCM_RealWorldValueSlope), intercept = v.number(DCM_RealWorldValueIntercept);
    if (!slope || !intercept) return true;
    RealWorldValues one{.slope = *slope, .intercept = *intercept};
    v.in_first_item(DCM_MeasurementUnitsCodeSequence,
                    [&](const DicomValues& unit) { one.unit = unit.text(DCM_CodeValue); });
    if (one.unit == "Bq/mL") one.unit = "Bq/ml";
    if (!best || rank(one.unit) > rank(best->unit)) best = std::move(one);
    return true;
  });
  return best;
}

/// Reads the same attributes from the functional groups of an enhanced file, shared ones or those of a frame (DICOM
/// PS3.3 C.7.6.16): each group is a sequence of one item.
void read_groups(const DicomValues& groups, DicomFrame& frame, DicomHeader& h) {
  groups.in_first_item(DCM_PlanePositionSequence,
                       [&](const DicomValues& v) { keep(frame.position, v.numbers<3>(DCM_ImagePositionPatient)); });
  groups.in_first_item(DCM_PlaneOrientationSequence, [&](const DicomValues& v) {
    keep(frame.orientation, v.numbers<6>(DCM_ImageOrientationPatient));
  });
  groups.in_first_item(DCM_PixelMeasuresSequence, [&](const DicomValues& v) {
    keep(frame.spacing, v.numbers<2>(DCM_PixelSpacing));
    keep(h.thickness_mm, v.number(DCM_SliceThickness));
    keep(h.step_mm, v.number(DCM_SpacingBetweenSlices));
  });
  groups.in_first_item(DCM_SegmentIdentificationSequence, [&](const DicomValues& v) {
    frame.segment = static_cast<int>(v.small_number(DCM_ReferencedSegmentNumber));
  });
  groups.in_first_item(DCM_FrameContentSequence, [&](const DicomValues& v) {
    if (const auto number = v.number(DCM_TemporalPositionIndex)) frame.temporal_position = whole_number(number);
  });
  groups.in_first_item(DCM_PixelValueTransformationSequence, [&](const DicomValues& v) {
    keep(frame.slope, v.number(DCM_RescaleSlope));
    keep(frame.intercept, v.number(DCM_RescaleIntercept));
    frame.rescale_type = v.text(DCM_RescaleType);
  });
  if (h.sop_class == kEnhancedPet) keep(frame.values, read_real_world_values(groups));
}

std::vector<DicomFrame> read_frames(const DicomValues& v, DicomHeader& h) {
  const auto count = v.number(DCM_NumberOfFrames).value_or(1);
  if (!(count >= 1 && count <= static_cast<double>(kMostDicomFrames)) || count != std::floor(count))
    throw input_error(h.file, "says that it has an impossible number of frames", "export it again");
  DicomFrame common = classic_frame(v);
  v.in_first_item(DCM_SharedFunctionalGroupsSequence,
                  [&](const DicomValues& groups) { read_groups(groups, common, h); });
  std::vector<DicomFrame> frames(static_cast<std::size_t>(count), common);
  if (!v.has_sequence(DCM_PerFrameFunctionalGroupsSequence)) {
    if (frames.size() > 1)  // no position belongs to the frames behind the first
      for (DicomFrame& frame : frames) frame.position.reset();
    return frames;
  }
  std::size_t i = 0;
  v.in_each_item(DCM_PerFrameFunctionalGroupsSequence, [&](const DicomValues& groups) {
    read_groups(groups, frames[i], h);
    return ++i < frames.size();
  });
  return frames;
}

/// Reads what was given to the patient.
///   bq_per_unit  of the dose: classic files have Bq, enhanced ones MBq
void read_dose(const DicomValues& v, double bq_per_unit, PetHeader& pet) {
  constexpr double kMostBq = 1e13;
  pet.weight_kg = v.number(DCM_PatientWeight);
  v.in_first_item(DCM_RadiopharmaceuticalInformationSequence, [&](const DicomValues& given) {
    pet.dose_bq = given.number(DCM_RadionuclideTotalDose, kMostBq);
    if (pet.dose_bq) *pet.dose_bq *= bq_per_unit;
    pet.half_life_s = given.number(DCM_RadionuclideHalfLife);
    pet.injected_s = seconds_of_date_time(given.text(DCM_RadiopharmaceuticalStartDateTime));
    pet.injected_of_day_s = seconds_of_day(given.text(DCM_RadiopharmaceuticalStartTime));
  });
}

/// Returns what the header of a PET says about its values (DICOM PS3.3 C.8.9.1 and C.8.9.2, and elements of two
/// makers).
PetHeader read_pet(const DicomValues& v) {
  PetHeader pet{.units = v.text(DCM_Units),
                .suv_type = v.text(DCM_SUVType),
                .decay_correction = v.text(DCM_DecayCorrection),
                .corrections = v.text(DCM_CorrectedImage),
                .series_s = seconds_of(v.text(DCM_SeriesDate), v.text(DCM_SeriesTime)),
                .acquisition_s = seconds_of(v.text(DCM_AcquisitionDate), v.text(DCM_AcquisitionTime))};
  read_dose(v, 1, pet);
  if (v.text(DcmTagKey(0x0009, 0x0010)) == "GEMS_PETD_01")
    pet.private_scan_s = seconds_of_date_time(v.text(DcmTagKey(0x0009, 0x100d)));
  if (v.text(DcmTagKey(0x7053, 0x0010)) == "Philips PET Private Group") {
    pet.private_suv = v.number(DcmTagKey(0x7053, 0x1000));
    pet.private_bqml = v.number(DcmTagKey(0x7053, 0x1009));
  }
  return pet;
}

/// Gives the frames of an enhanced PET the factors of their unit, and returns what a classic header would say (DICOM
/// PS3.3 C.8.22): values are corrected for decay to a stated time, which need not be the scan's.
PetHeader read_enhanced_pet(const DicomValues& v, std::vector<DicomFrame>& frames) {
  constexpr double kBqPerMbq = 1e6;
  const bool decay = v.text(DCM_DecayCorrected) == "YES";
  PetHeader pet{.decay_correction = decay ? "START" : "NONE",
                .corrections =
                    std::string(decay ? "DECY" : "") + "\\" + (v.text(DCM_AttenuationCorrected) == "YES" ? "ATTN" : ""),
                .series_s = seconds_of_date_time(v.text(DCM_DecayCorrectionDateTime))};
  read_dose(v, kBqPerMbq, pet);
  for (DicomFrame& frame : frames)
    if (frame.values) frame.slope = frame.values->slope, frame.intercept = frame.values->intercept;
  const auto unit = [](const DicomFrame& frame) { return frame.values ? frame.values->unit : std::string(); };
  const std::string first = unit(frames.front());
  if (!std::ranges::all_of(frames, [&](const DicomFrame& frame) { return unit(frame) == first; })) return pet;
  if (first == "Bq/ml") pet.units = "BQML";
  if (first.starts_with("g/ml")) pet.units = "GML", pet.suv_type = first == kSuvByWeight ? "BW" : first;
  return pet;
}

/// Returns the stored values of pixels outside of the field of view.
std::optional<std::array<std::int64_t, 2>> read_padding(const DicomValues& v, bool is_signed) {
  const auto value = v.stored_value(DCM_PixelPaddingValue, is_signed);
  if (!value) return std::nullopt;
  const std::int64_t limit = v.stored_value(DCM_PixelPaddingRangeLimit, is_signed).value_or(*value);
  return std::array{std::min(*value, limit), std::max(*value, limit)};
}

/// Reads what only segmentations have (DICOM PS3.3 C.8.20).
void read_segments(const DicomValues& v, DicomHeader& h) {
  h.segmentation = v.text(DCM_SegmentationType);
  if (const std::int64_t most = v.small_number(DCM_MaximumFractionalValue); most > 0)
    h.most_fraction = static_cast<int>(most);
  const std::string overlap = v.text(DCM_SegmentsOverlap);
  h.may_overlap = h.segmentation != "LABELMAP" && overlap != "NO";
  const std::string character_set = v.text(DCM_SpecificCharacterSet);
  v.in_each_item(DCM_SegmentSequence, [&](const DicomValues& one) {
    DicomSegment segment{.number = static_cast<int>(one.small_number(DCM_SegmentNumber)),
                         .label = one.name(DCM_SegmentLabel, character_set)};
    one.in_first_item(DCM_SegmentedPropertyTypeCodeSequence,
                      [&](const DicomValues& code) { segment.type = code.name(DCM_CodeMeaning, character_set); });
    h.segments.push_back(std::move(segment));
    return true;
  });
  h.referenced_series = v.only_uid(DCM_ReferencedSeriesSequence, DCM_SeriesInstanceUID);
}

/// Hashes the id of a patient, without the case of its letters, with a secret of this process.
std::uint64_t key_of_patient(std::string id) {
  if (id.empty()) return 0;
  static const std::string kSecret = [] {
    std::random_device random;
    std::string secret;
    for (int i = 0; i < 8; ++i) secret += std::to_string(random()) + " ";
    return secret;
  }();
  std::transform(id.begin(), id.end(), id.begin(), [](unsigned char c) { return std::tolower(c); });
  return std::stoull(content_hash(kSecret + id).substr(0, 16), nullptr, 16) | 1;  // never 0
}

/// True for a part of the body with a face (terms of DICOM PS3.16 annex L): "HEAD", "BRAIN", "HEAD-NECK", "WHOLEBODY".
bool has_face(std::string part) {
  std::erase_if(part, [](unsigned char c) { return !std::isalpha(c); });
  std::transform(part.begin(), part.end(), part.begin(), [](unsigned char c) { return std::toupper(c); });
  constexpr std::string_view kBegins[] = {"HEAD",     "BRAIN", "SKULL", "FACE",           "FACIAL",
                                          "ORBIT",    "EYE",   "SINUS", "PARANASALSINUS", "MAXILLA",
                                          "MANDIBLE", "JAW",   "NOSE",  "WHOLEBODY"};
  return std::ranges::any_of(kBegins, [&](std::string_view begin) { return part.starts_with(begin); });
}

/// True for an image from whose voxels a face can be drawn: the file says so or, where it says nothing, by its part.
bool shows_face(const DicomValues& v, const DicomHeader& h) {
  if (h.modality != "CT" && h.modality != "MR") return false;
  const std::string said = v.text(DCM_RecognizableVisualFeatures);
  return said.empty() ? has_face(h.body_part) : said == "YES";
}

}  // namespace

bool begins_like_dicom(std::string_view begin, std::string ending) {
  if (begin.size() >= 132 && begin.substr(128, 4) == "DICM") return true;
  std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return std::tolower(c); });
  if (ending != ".dcm" && ending != ".ima" && !ending.empty()) return false;
  if (begin.size() < 16) return false;
  // A bare data set begins with group 2 or 8 and one of its lowest elements, in either byte order.
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(begin[i]); };
  const bool little = (at(0) == 2 || at(0) == 8) && at(1) == 0 && at(2) <= 0x18 && at(3) == 0;
  const bool big = at(0) == 0 && (at(1) == 2 || at(1) == 8) && at(2) == 0 && at(3) <= 0x18;
  return little || big;
}

bool looks_like_dicom(const fs::path& path) {
  InputFile in(path);
  std::array<char, 140> bytes{};
  in.read(bytes.data(), bytes.size());
  return begins_like_dicom({bytes.data(), static_cast<std::size_t>(in.gcount())}, path.extension().string());
}

bool is_in_hounsfield_units(const DicomHeader& header, const DicomFrame& frame) {
  return header.modality == "CT" && (frame.rescale_type.empty() || frame.rescale_type.starts_with("HU"));
}

DicomHeader read_dicom_header(const fs::path& path) {
  const OpenDicom open = open_dicom(path, 4096);
  DicomHeader h{.file = path, .whole = open.whole};
  const DicomValues v(*open.file->getDataset());
  h.sop_class = v.text(DCM_SOPClassUID), h.sop_instance = v.text(DCM_SOPInstanceUID);
  h.study = v.text(DCM_StudyInstanceUID), h.series = v.text(DCM_SeriesInstanceUID);
  h.frame_of_reference = v.text(DCM_FrameOfReferenceUID);
  h.patient_key = key_of_patient(v.text(DCM_PatientID));
  h.modality = v.text(DCM_Modality), h.kind = v.part(DCM_ImageType, 2);
  h.body_part = v.text(DCM_BodyPartExamined);
  h.burned_in = v.text(DCM_BurnedInAnnotation) == "YES", h.shows_face = shows_face(v, h);
  h.kernel = v.text(DCM_ConvolutionKernel), h.acquisition = v.text(DCM_AcquisitionNumber);
  h.acquired_s = seconds_of_date_time(v.text(DCM_AcquisitionDateTime));
  if (!h.acquired_s) h.acquired_s = seconds_of(v.text(DCM_AcquisitionDate), v.text(DCM_AcquisitionTime));
  if (!h.acquired_s) h.acquired_s = seconds_of_day(v.text(DCM_AcquisitionTime));
  h.thickness_mm = v.number(DCM_SliceThickness);
  h.rows = v.small_number(DCM_Rows), h.columns = v.small_number(DCM_Columns);
  if (!h.whole && (h.rows == 0 || h.columns == 0))
    throw input_error(path, "is cut or damaged within its header", "copy or export the file again");
  h.samples = std::max(1, static_cast<int>(v.small_number(DCM_SamplesPerPixel)));
  h.colours = v.text(DCM_PhotometricInterpretation);
  h.bits = static_cast<int>(v.small_number(DCM_BitsAllocated));
  h.is_signed = v.small_number(DCM_PixelRepresentation) == 1;
  h.padding = read_padding(v, h.is_signed);
  const DcmXfer syntax(open.file->getDataset()->getOriginalXfer());
  h.compressed = is_encapsulated(syntax) || syntax.getStreamCompression() != ESC_none;
  std::error_code error;
  h.file_bytes = static_cast<std::int64_t>(fs::file_size(path, error));
  h.frames = read_frames(v, h);
  read_segments(v, h);
  if (is_structure_set(h)) h.referenced_series = series_of_structure_set(v);
  if (h.sop_class == kEnhancedPet)
    h.pet = read_enhanced_pet(v, h.frames);
  else if (h.modality == "PT")
    h.pet = read_pet(v);
  return h;
}

}  // namespace voxshard
