#include "io/dicom/dicom_header.h"

#include <dcmtk/config/osconfig.h>  // before all other headers of DCMTK

#include <dcmtk/dcmdata/dctk.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "io/dicom/dicom_file.h"
#include "io/files/file_error.h"
#include "io/files/open_file.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t kMostText = 1024;  // bytes of a value that is parsed; UIDs have 64, names 64 a part

/// Larger numbers, and NaN, count as missing: no place (mm) or factor needs them, and grids are counted from quotients.
constexpr double kMostNumber = 1e9;

/// Reads values of a data set, which may be a nested one. Values that are missing or malformed are empty.
class Values {
 public:
  explicit Values(DcmItem& set) : set_(&set) {}

  /// Returns the text of an element without the padding at its end.
  std::string text(const DcmTagKey& tag) const {
    DcmElement* element = small_element(tag);
    OFString value;
    if (element == nullptr || element->getOFStringArray(value).bad()) return {};
    std::string text(value.c_str());
    while (!text.empty() && text.back() == ' ') text.pop_back();
    return text.substr(std::min(text.find_first_not_of(' '), text.size()));
  }

  /// Returns one of the values of a text, which backslashes separate.
  std::string part(const DcmTagKey& tag, std::size_t index) const {
    const std::string all = text(tag);
    std::size_t begin = 0;
    for (; index > 0 && begin != std::string::npos; --index) {
      begin = all.find('\\', begin);
      if (begin != std::string::npos) ++begin;
    }
    return begin == std::string::npos ? "" : all.substr(begin, all.find('\\', begin) - begin);
  }

  /// Returns the decimal numbers of a text; none unless there are exactly N, of at most kMostNumber.
  template <std::size_t N>
  std::optional<std::array<double, N>> numbers(const DcmTagKey& tag) const {
    const std::string all = text(tag);
    std::array<double, N> found{};
    const char *at = all.data(), *end = all.data() + all.size();
    for (std::size_t i = 0; i < N; ++i) {
      while (at < end && (*at == ' ' || *at == '+')) ++at;
      const auto [after, error] = std::from_chars(at, end, found[i]);
      if (error != std::errc() || !(std::abs(found[i]) <= kMostNumber)) return std::nullopt;
      for (at = after; at < end && *at == ' ';) ++at;
      const bool last = i + 1 == N;
      if (last ? at != end : at == end || *at++ != '\\') return std::nullopt;
    }
    return found;
  }
  std::optional<double> number(const DcmTagKey& tag) const {
    const auto found = numbers<1>(tag);
    return found ? std::optional((*found)[0]) : std::nullopt;
  }

  /// Returns an unsigned number of 16 bits; 0 without one.
  std::int64_t small_number(const DcmTagKey& tag) const {
    DcmElement* element = small_element(tag);
    Uint16 number = 0;
    return element != nullptr && element->getUint16(number).good() ? number : 0;
  }

  /// Returns the items of a sequence; null when there is none.
  DcmSequenceOfItems* items(const DcmTagKey& tag) const {
    DcmSequenceOfItems* sequence = nullptr;
    return set_->findAndGetSequence(tag, sequence).good() ? sequence : nullptr;
  }
  /// Calls body(Values) with the first item of a sequence, if there is one.
  template <class Body>
  void in_first_item(const DcmTagKey& tag, Body body) const {
    if (DcmSequenceOfItems* sequence = items(tag); sequence != nullptr && sequence->card() > 0)
      body(Values(*sequence->getItem(0)));
  }

 private:
  /// Returns an element whose value is small; null without one. The length is the one in the file: DCMTK's getLength()
  /// would load the value first, and a damaged file may promise 4 GB.
  DcmElement* small_element(const DcmTagKey& tag) const {
    DcmElement* element = nullptr;
    const bool found = set_->findAndGetElement(tag, element).good() && element->getLengthField() <= kMostText;
    return found ? element : nullptr;
  }
  DcmItem* set_;
};

void keep(auto& known, const auto& found) {
  if (found) known = found;
}

/// Reads the attributes of a classic file, which are at the top of its data set.
DicomFrame classic_frame(const Values& v) {
  return {.position = v.numbers<3>(DCM_ImagePositionPatient),
          .orientation = v.numbers<6>(DCM_ImageOrientationPatient),
          .spacing = v.numbers<2>(DCM_PixelSpacing),
          .slope = v.number(DCM_RescaleSlope),
          .intercept = v.number(DCM_RescaleIntercept)};
}

/// Reads the same attributes from the functional groups of an enhanced file, shared ones or those of a frame (DICOM
/// PS3.3 C.7.6.16): each group is a sequence of one item.
void read_groups(const Values& groups, DicomFrame& frame, DicomHeader& h) {
  groups.in_first_item(DCM_PlanePositionSequence,
                       [&](const Values& v) { keep(frame.position, v.numbers<3>(DCM_ImagePositionPatient)); });
  groups.in_first_item(DCM_PlaneOrientationSequence,
                       [&](const Values& v) { keep(frame.orientation, v.numbers<6>(DCM_ImageOrientationPatient)); });
  groups.in_first_item(DCM_PixelMeasuresSequence, [&](const Values& v) {
    keep(frame.spacing, v.numbers<2>(DCM_PixelSpacing));
    keep(h.thickness_mm, v.number(DCM_SliceThickness));
    keep(h.step_mm, v.number(DCM_SpacingBetweenSlices));
  });
  groups.in_first_item(DCM_SegmentIdentificationSequence, [&](const Values& v) {
    frame.segment = static_cast<int>(v.small_number(DCM_ReferencedSegmentNumber));
  });
  groups.in_first_item(DCM_PixelValueTransformationSequence, [&](const Values& v) {
    keep(frame.slope, v.number(DCM_RescaleSlope));
    keep(frame.intercept, v.number(DCM_RescaleIntercept));
  });
}

std::vector<DicomFrame> read_frames(const Values& v, DicomHeader& h) {
  const auto count = v.number(DCM_NumberOfFrames).value_or(1);
  if (!(count >= 1 && count <= static_cast<double>(kMostDicomFrames)) || count != std::floor(count))
    throw input_error(h.file, "says that it has an impossible number of frames", "export it again");
  DicomFrame common = classic_frame(v);
  v.in_first_item(DCM_SharedFunctionalGroupsSequence, [&](const Values& groups) { read_groups(groups, common, h); });
  std::vector<DicomFrame> frames(static_cast<std::size_t>(count), common);
  DcmSequenceOfItems* each = v.items(DCM_PerFrameFunctionalGroupsSequence);
  if (each == nullptr) {
    if (frames.size() > 1)  // no position belongs to the frames behind the first
      for (DicomFrame& frame : frames) frame.position.reset();
    return frames;
  }
  std::size_t i = 0;  // items are a list: next to next, not by number
  for (DcmObject* item = each->nextInContainer(nullptr); item != nullptr && i < frames.size(); ++i) {
    read_groups(Values(*static_cast<DcmItem*>(item)), frames[i], h);
    item = each->nextInContainer(item);
  }
  return frames;
}

/// Reads what only segmentations have (DICOM PS3.3 C.8.20).
void read_segments(const Values& v, DicomHeader& h) {
  h.segmentation = v.text(DCM_SegmentationType);
  if (const std::int64_t most = v.small_number(DCM_MaximumFractionalValue); most > 0)
    h.most_fraction = static_cast<int>(most);
  const std::string overlap = v.text(DCM_SegmentsOverlap);
  h.may_overlap = h.segmentation != "LABELMAP" && overlap != "NO";
  DcmSequenceOfItems* segments = v.items(DCM_SegmentSequence);
  if (segments == nullptr) return;
  for (DcmObject* item = segments->nextInContainer(nullptr); item != nullptr; item = segments->nextInContainer(item)) {
    const Values one(*static_cast<DcmItem*>(item));
    h.segments.push_back({static_cast<int>(one.small_number(DCM_SegmentNumber)), one.text(DCM_SegmentLabel)});
  }
}

}  // namespace

bool looks_like_dicom(const fs::path& path) {
  InputFile in(path);
  std::array<char, 140> bytes{};
  in.read(bytes.data(), bytes.size());
  const auto got = static_cast<std::size_t>(in.gcount());
  if (got >= 132 && std::memcmp(bytes.data() + 128, "DICM", 4) == 0) return true;
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return std::tolower(c); });
  if (ending != ".dcm" && ending != ".ima" && !ending.empty()) return false;
  // A bare data set begins with group 2 or 8 and one of its lowest elements, in either byte order.
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const bool little = (at(0) == 2 || at(0) == 8) && at(1) == 0 && at(2) <= 0x18 && at(3) == 0;
  const bool big = at(0) == 0 && (at(1) == 2 || at(1) == 8) && at(2) == 0 && at(3) <= 0x18;
  return got >= 16 && (little || big);
}

DicomHeader read_dicom_header(const fs::path& path) {
  const OpenDicom open = open_dicom(path, 4096);
  DicomHeader h{.file = path, .whole = open.whole};
  const Values v(*open.file->getDataset());
  h.sop_class = v.text(DCM_SOPClassUID), h.sop_instance = v.text(DCM_SOPInstanceUID);
  h.study = v.text(DCM_StudyInstanceUID), h.series = v.text(DCM_SeriesInstanceUID);
  h.modality = v.text(DCM_Modality), h.kind = v.part(DCM_ImageType, 2);
  h.kernel = v.text(DCM_ConvolutionKernel), h.acquisition = v.text(DCM_AcquisitionNumber);
  h.thickness_mm = v.number(DCM_SliceThickness);
  h.rows = v.small_number(DCM_Rows), h.columns = v.small_number(DCM_Columns);
  if (!h.whole && (h.rows == 0 || h.columns == 0))
    throw input_error(path, "is cut or damaged within its header", "copy or export the file again");
  h.samples = std::max(1, static_cast<int>(v.small_number(DCM_SamplesPerPixel)));
  h.colours = v.text(DCM_PhotometricInterpretation);
  h.bits = static_cast<int>(v.small_number(DCM_BitsAllocated));
  h.is_signed = v.small_number(DCM_PixelRepresentation) == 1;
  const DcmXfer syntax(open.file->getDataset()->getOriginalXfer());
  h.compressed = syntax.isEncapsulated() || syntax.getStreamCompression() != ESC_none;
  std::error_code error;
  h.file_bytes = static_cast<std::int64_t>(fs::file_size(path, error));
  h.frames = read_frames(v, h);
  read_segments(v, h);
  return h;
}

}  // namespace voxshard
