// DCMTK parses the file and gives native pixels; dicom_codec.h decodes compressed ones, from the fragments that DCMTK
// found. Neither is done by GDCM, because Debian builds it with assertions, on which damaged files end the process.
#include "io/dicom/dicom_pixels.h"

#include <dcmtk/config/osconfig.h>  // before all other headers of DCMTK

#include <dcmtk/dcmdata/dcpixseq.h>
#include <dcmtk/dcmdata/dcpxitem.h>
#include <dcmtk/dcmdata/dctk.h>

#include <algorithm>
#include <cstring>

#include "io/dicom/dicom_codec.h"
#include "io/dicom/dicom_file.h"
#include "io/dicom/dicom_library.h"
#include "io/files/file_error.h"
#include "libcore/base/error.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// Calls body(const T*) with the type of the stored values.
template <class Body>
void visit(const fs::path& path, const std::vector<char>& bytes, int bits, bool is_signed, Body body) {
  const auto is = [&](int size, bool sign, auto zero) {
    return size == bits && sign == is_signed && (body(reinterpret_cast<const decltype(zero)*>(bytes.data())), true);
  };
  if (!(is(8, false, std::uint8_t{}) || is(8, true, std::int8_t{}) || is(16, false, std::uint16_t{}) ||
        is(16, true, std::int16_t{}) || is(32, false, std::uint32_t{}) || is(32, true, std::int32_t{})))
    throw input_error(path, "stores its pixels in " + std::to_string(bits) + " bits, expected 8, 16 or 32",
                      "export it with 16 bits");
}

Error damaged(const fs::path& path, const std::string& what) {
  return input_error(path, what, "copy or export the file again");
}

/// Returns the fragments of compressed pixels, without the table of offsets that comes first.
std::vector<std::vector<char>> fragments_of(const fs::path& path, DcmPixelData& pixels) {
  E_TransferSyntax syntax = EXS_Unknown;
  const DcmRepresentationParameter* parameter = nullptr;
  pixels.getOriginalRepresentationKey(syntax, parameter);
  DcmPixelSequence* found = nullptr;
  if (pixels.getEncapsulatedRepresentation(syntax, parameter, found).bad() || found == nullptr)
    throw damaged(path, "has no pixels that can be decoded");
  DcmPixelSequence& sequence = *found;
  std::vector<std::vector<char>> fragments;
  for (unsigned long i = 1; i < sequence.card(); ++i) {
    DcmPixelItem* item = nullptr;
    Uint8* bytes = nullptr;
    if (sequence.getItem(item, i).bad() || item->getUint8Array(bytes).bad() || bytes == nullptr)
      throw damaged(path, "has compressed pixels that are cut");
    fragments.emplace_back(bytes, bytes + item->getLength());
  }
  return fragments;
}

/// Returns native pixels, `expected` bytes in this machine's byte order.
std::vector<char> native_pixels(const fs::path& path, DcmElement& element, std::size_t expected) {
  if (element.getLengthField() < expected)
    throw damaged(path, "is truncated: it holds " + std::to_string(element.getLengthField()) + " of the " +
                            std::to_string(expected) + " bytes of its pixels");
  std::vector<char> pixels(expected);
  if (element.getPartialValue(pixels.data(), 0, static_cast<Uint32>(expected), nullptr, EBO_LittleEndian).bad())
    throw damaged(path, "is truncated, or has pixels that cannot be read");
  return pixels;
}

/// True when a header says that bits above the stored ones hold overlays, as files of before 2004 have it (DICOM PS3.5
/// of 2003, 8.1.2): an overlay without data of its own.
bool has_overlay_bits(DcmDataset& data, int stored) {
  constexpr int kMostOverlays = 16;
  for (int i = 0; i < kMostOverlays; ++i) {
    const auto tag = [&](const DcmTagKey& of_first) {
      return DcmTagKey(static_cast<Uint16>(of_first.getGroup() + 2 * i), of_first.getElement());
    };
    Uint16 bit = 0;
    if (data.findAndGetUint16(tag(DCM_OverlayBitPosition), bit).good() && bit >= stored &&
        !data.tagExists(tag(DCM_OverlayData)))
      return true;
  }
  return false;
}

/// Sets the bits above the stored ones to 0.
void clear_bits_above(std::vector<char>& pixels, int bits, int stored) {
  const auto width = static_cast<std::size_t>(bits / 8);  // at most 4
  const std::uint64_t below = (std::uint64_t{1} << stored) - 1;
  for (std::size_t at = 0; at < pixels.size(); at += width) {
    std::uint64_t value = 0;
    std::memcpy(&value, pixels.data() + at, width);
    value &= below;
    std::memcpy(pixels.data() + at, &value, width);
  }
}

/// Extends the sign of signed pixels of which fewer bits are stored than allocated, where no pixel has a bit above the
/// stored ones: the highest of these is the sign (DICOM PS3.5, 8.1.1), and not all writers repeat it above. Where a
/// pixel has such a bit, the writer did, or put a padding value there: all stay as they are.
void extend_sign(std::vector<char>& pixels, int bits, int stored) {
  const auto width = static_cast<std::size_t>(bits / 8);  // at most 4
  const std::uint64_t sign = std::uint64_t{1} << (stored - 1), above = ~((sign << 1) - 1);
  const auto value_at = [&](std::size_t at) {
    std::uint64_t value = 0;
    std::memcpy(&value, pixels.data() + at, width);
    return value;
  };
  for (std::size_t at = 0; at < pixels.size(); at += width)
    if ((value_at(at) & above) != 0) return;
  for (std::size_t at = 0; at < pixels.size(); at += width)
    if (const std::uint64_t value = value_at(at); (value & sign) != 0) {
      const std::uint64_t extended = value | above;
      std::memcpy(pixels.data() + at, &extended, width);
    }
}

constexpr double kAirHu = -1024, kMostHu = 3071;  // of 12 bits with the usual intercept

/// Gives pixels outside of the field of view the value of air. Where the padding value is one that tissue has, it
/// cannot be told from it (0 is water without an intercept), and where it is -1024 HU it is air already.
///   stored, values  of one slice; values in HU
void fill_padding(const std::array<std::int64_t, 2>& padding, const auto* stored, std::span<double> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto one = static_cast<std::int64_t>(stored[i]);
    if (one >= padding[0] && one <= padding[1] && (values[i] < kAirHu || values[i] > kMostHu)) values[i] = kAirHu;
  }
}

/// The same where the header names another padding than the slice has, or none: pixels of the value that all four
/// corners share, if no CT measures it. Lossy compression leaves it but nearly the same.
///   values  of one slice, in HU
void fill_corners(std::size_t columns, std::span<double> values) {
  constexpr double kMostHuOfCorners = -1200;  // the noise of air does not reach it in four places at once
  constexpr double kSameHu = 64;
  const auto [low, high] =
      std::minmax({values.front(), values[columns - 1], values[values.size() - columns], values.back()});
  if (!(high < kMostHuOfCorners) || high - low > kSameHu) return;
  for (double& value : values)
    if (value >= low - kSameHu && value <= high + kSameHu) value = kAirHu;
}

}  // namespace

std::vector<char> read_stored_pixels(const fs::path& path, const StoredShape& shape) {
  const OpenDicom open = open_dicom(path, 4096);
  if (!open.whole) throw damaged(path, "is truncated or damaged");
  DcmElement* element = nullptr;
  if (open.file->getDataset()->findAndGetElement(DCM_PixelData, element).bad())
    throw damaged(path, "has no pixels that can be decoded");
  auto* pixels = dynamic_cast<DcmPixelData*>(element);
  if (pixels == nullptr) throw damaged(path, "has no pixels that can be decoded");
  const std::int64_t values = shape.columns * shape.rows * shape.frames;
  const auto expected = static_cast<std::size_t>(shape.bits == 1 ? (values + 7) / 8 : values * (shape.bits / 8));
  E_TransferSyntax syntax = EXS_Unknown;
  const DcmRepresentationParameter* parameter = nullptr;
  pixels->getOriginalRepresentationKey(syntax, parameter);
  const bool is_native = !is_encapsulated(DcmXfer(syntax));
  Uint16 stored = 0, high = 0;
  if (open.file->getDataset()->findAndGetUint16(DCM_BitsStored, stored).bad()) stored = static_cast<Uint16>(shape.bits);
  if (open.file->getDataset()->findAndGetUint16(DCM_HighBit, high).bad()) high = static_cast<Uint16>(stored - 1);
  const CompressedPixels about{.path = path,
                               .syntax = is_native ? std::string() : DcmXfer(syntax).getXferID(),
                               .columns = shape.columns,
                               .rows = shape.rows,
                               .frames = shape.frames,
                               .bits = shape.bits,
                               .bits_stored = stored,
                               .high_bit = high,
                               .is_signed = shape.is_signed};
  if (shape.bits != 1) require_sound_bits(about);
  std::vector<char> all =
      is_native ? native_pixels(path, *pixels, expected) : decode_dicom_pixels(about, fragments_of(path, *pixels));
  if (all.size() != expected) throw damaged(path, "holds pixels of another size than its header says");
  if (shape.bits == 1 || stored == shape.bits || !(is_native || syntax == EXS_RLELossless)) return all;
  if (has_overlay_bits(*open.file->getDataset(), stored)) clear_bits_above(all, shape.bits, stored);
  if (shape.is_signed) extend_sign(all, shape.bits, stored);
  return all;
}

void read_dicom_slices(const DicomSeries& series,
                       const std::function<void(std::size_t z, std::span<const double> values)>& take) {
  if (!series.problem.empty())
    throw Error(ErrorKind::kInput, series.problem_code,
                "[input] " + series.folder.string() + ": the series " + series.problem);
  std::vector<std::vector<std::size_t>> slices_of(series.files.size());
  for (std::size_t z = 0; z < series.slices.size(); ++z) slices_of[series.slices[z].file].push_back(z);
  const auto plane = static_cast<std::size_t>(series.grid.size[0] * series.grid.size[1]);
  std::vector<double> values;
  for (std::size_t f = 0; f < series.files.size(); ++f) {
    if (slices_of[f].empty()) continue;  // a slice that is there twice
    const DicomFile& file = series.files[f];
    const std::vector<char> pixels = read_stored_pixels(file.path, {.columns = series.grid.size[0],
                                                                    .rows = series.grid.size[1],
                                                                    .frames = static_cast<std::int64_t>(file.frames),
                                                                    .bits = file.bits,
                                                                    .is_signed = file.is_signed});
    values.resize(plane);  // only when the file was found to hold so many
    visit(file.path, pixels, file.bits, file.is_signed, [&](const auto* stored) {
      for (const std::size_t z : slices_of[f]) {
        const DicomSlice& slice = series.slices[z];
        const auto* from = stored + slice.frame * plane;
        for (std::size_t i = 0; i < plane; ++i)
          values[i] = slice.slope * static_cast<double>(from[i]) + slice.intercept;
        if (slice.padding) fill_padding(*slice.padding, from, values);
        if (slice.in_hu) fill_corners(static_cast<std::size_t>(series.grid.size[0]), values);
        take(z, values);
      }
    });
  }
}

}  // namespace voxshard
