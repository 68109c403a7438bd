#include "io/dicom/dicom_header.h"

#include <gdcmReader.h>
#include <gdcmSequenceOfItems.h>
#include <gdcmTrace.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "io/dicom/dicom_library.h"
#include "io/files/file_error.h"
#include "io/files/open_file.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using gdcm::Tag;

const Tag kPixelData{0x7fe0, 0x0010};
constexpr std::size_t kMostText = 1024;  // bytes of a value that is parsed; UIDs have 64, names 64 a part

/// Reads values of a data set, which may be a nested one. Values that are missing or malformed are empty.
class Values {
 public:
  explicit Values(const gdcm::DataSet& set) : set_(set) {}

  /// Returns the text of an element without the padding at its end.
  std::string text(Tag tag) const {
    const auto* bytes = value(tag);
    if (bytes == nullptr) return {};
    std::string text(bytes->GetPointer(), std::min<std::size_t>(bytes->GetLength(), kMostText));
    text.erase(std::find(text.begin(), text.end(), '\0'), text.end());
    while (!text.empty() && text.back() == ' ') text.pop_back();
    return text.substr(std::min(text.find_first_not_of(' '), text.size()));
  }

  /// Returns one of the values of a text, which backslashes separate.
  std::string part(Tag tag, std::size_t index) const {
    const std::string all = text(tag);
    std::size_t begin = 0;
    for (; index > 0 && begin != std::string::npos; --index) {
      begin = all.find('\\', begin);
      if (begin != std::string::npos) ++begin;
    }
    return begin == std::string::npos ? "" : all.substr(begin, all.find('\\', begin) - begin);
  }

  /// Returns the decimal numbers of a text; none unless there are exactly N finite ones.
  template <std::size_t N>
  std::optional<std::array<double, N>> numbers(Tag tag) const {
    const std::string all = text(tag);
    std::array<double, N> found{};
    const char *at = all.data(), *end = all.data() + all.size();
    for (std::size_t i = 0; i < N; ++i) {
      while (at < end && (*at == ' ' || *at == '+')) ++at;
      const auto [after, error] = std::from_chars(at, end, found[i]);
      if (error != std::errc() || !std::isfinite(found[i])) return std::nullopt;
      for (at = after; at < end && *at == ' ';) ++at;
      const bool last = i + 1 == N;
      if (last ? at != end : at == end || *at++ != '\\') return std::nullopt;
    }
    return found;
  }
  std::optional<double> number(Tag tag) const {
    const auto found = numbers<1>(tag);
    return found ? std::optional((*found)[0]) : std::nullopt;
  }

  /// Returns an unsigned number of 16 bits. GDCM has turned it into this machine's byte order.
  std::int64_t small_number(Tag tag) const {
    const auto* bytes = value(tag);
    if (bytes == nullptr || bytes->GetLength() < 2) return 0;
    std::uint16_t number = 0;
    std::memcpy(&number, bytes->GetPointer(), 2);
    return number;
  }

  /// Returns the items of a sequence; null when there is none.
  gdcm::SmartPointer<gdcm::SequenceOfItems> items(Tag tag) const {
    return set_.FindDataElement(tag) ? set_.GetDataElement(tag).GetValueAsSQ() : nullptr;
  }
  /// Calls body(Values) with the first item of a sequence, if there is one.
  template <class Body>
  void in_first_item(Tag tag, Body body) const {
    if (const auto sequence = items(tag); sequence && sequence->GetNumberOfItems() > 0)
      body(Values(sequence->GetItem(1).GetNestedDataSet()));
  }

 private:
  const gdcm::ByteValue* value(Tag tag) const {
    return set_.FindDataElement(tag) ? set_.GetDataElement(tag).GetByteValue() : nullptr;
  }
  const gdcm::DataSet& set_;
};

void keep(auto& known, const auto& found) {
  if (found) known = found;
}

/// Reads the attributes of a classic file, which are at the top of its data set.
DicomFrame classic_frame(const Values& v) {
  return {.position = v.numbers<3>({0x0020, 0x0032}),
          .orientation = v.numbers<6>({0x0020, 0x0037}),
          .spacing = v.numbers<2>({0x0028, 0x0030}),
          .slope = v.number({0x0028, 0x1053}),
          .intercept = v.number({0x0028, 0x1052})};
}

/// Reads the same attributes from the functional groups of an enhanced file, shared ones or those of a frame (DICOM
/// PS3.3 C.7.6.16): each group is a sequence of one item.
void read_groups(const Values& groups, DicomFrame& frame, DicomHeader& h) {
  groups.in_first_item({0x0020, 0x9113}, [&](const Values& v) {
    keep(frame.position, v.numbers<3>({0x0020, 0x0032}));
  });
  groups.in_first_item({0x0020, 0x9116}, [&](const Values& v) {
    keep(frame.orientation, v.numbers<6>({0x0020, 0x0037}));
  });
  groups.in_first_item({0x0028, 0x9110}, [&](const Values& v) {
    keep(frame.spacing, v.numbers<2>({0x0028, 0x0030}));
    keep(h.thickness_mm, v.number({0x0018, 0x0050}));
  });
  groups.in_first_item({0x0028, 0x9145}, [&](const Values& v) {
    keep(frame.slope, v.number({0x0028, 0x1053}));
    keep(frame.intercept, v.number({0x0028, 0x1052}));
  });
}

std::vector<DicomFrame> read_frames(const Values& v, DicomHeader& h) {
  const auto count = v.number({0x0028, 0x0008}).value_or(1);
  if (!(count >= 1 && count <= static_cast<double>(kMostDicomFrames)) || count != std::floor(count))
    throw input_error(h.file, "says that it has an impossible number of frames", "export it again");
  DicomFrame common = classic_frame(v);
  v.in_first_item({0x5200, 0x9229}, [&](const Values& groups) { read_groups(groups, common, h); });
  std::vector<DicomFrame> frames(static_cast<std::size_t>(count), common);
  const auto each = v.items({0x5200, 0x9230});
  if (!each) {
    if (frames.size() > 1)  // no position belongs to the frames behind the first
      for (DicomFrame& frame : frames) frame.position.reset();
    return frames;
  }
  for (std::size_t i = 0; i < std::min<std::size_t>(frames.size(), each->GetNumberOfItems()); ++i)
    read_groups(Values(each->GetItem(i + 1).GetNestedDataSet()), frames[i], h);
  return frames;
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
  const DicomLibrary library;
  InputFile in(path);
  if (!in) throw input_error(path, in.problem(), "check the path and its permissions");
  gdcm::Reader reader;
  reader.SetStream(in);
  bool read = false;
  try {
    read = reader.ReadUpToTag(kPixelData, {kPixelData});
  } catch (const std::exception&) {  // GDCM's own errors and lengths beyond the memory
  }
  if (!read) throw input_error(path, "cannot be read as DICOM", "copy or export the file again");
  DicomHeader h{.file = path};
  const Values v(reader.GetFile().GetDataSet());
  h.sop_class = v.text({0x0008, 0x0016}), h.sop_instance = v.text({0x0008, 0x0018});
  h.study = v.text({0x0020, 0x000d}), h.series = v.text({0x0020, 0x000e});
  h.modality = v.text({0x0008, 0x0060}), h.kind = v.part({0x0008, 0x0008}, 2);
  h.kernel = v.text({0x0018, 0x1210}), h.acquisition = v.text({0x0020, 0x0012});
  h.thickness_mm = v.number({0x0018, 0x0050});
  h.rows = v.small_number({0x0028, 0x0010}), h.columns = v.small_number({0x0028, 0x0011});
  h.samples = std::max(1, static_cast<int>(v.small_number({0x0028, 0x0002})));
  h.colours = v.text({0x0028, 0x0004});
  h.bits = static_cast<int>(v.small_number({0x0028, 0x0100}));
  h.is_signed = v.small_number({0x0028, 0x0103}) == 1;
  const gdcm::TransferSyntax& syntax = reader.GetFile().GetHeader().GetDataSetTransferSyntax();
  const bool deflated = syntax == gdcm::TransferSyntax::DeflatedExplicitVRLittleEndian;
  in.clear();  // reading up to the end leaves a failed stream
  if (!deflated) h.pixel_begin = in.tellg();
  h.compressed = syntax.IsEncapsulated() || deflated;
  h.file_bytes = in.bytes();
  h.frames = read_frames(v, h);
  return h;
}

}  // namespace voxshard
