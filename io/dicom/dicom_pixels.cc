#include "io/dicom/dicom_pixels.h"

#include <gdcmImage.h>
#include <gdcmImageReader.h>
#include <gdcmSequenceOfFragments.h>

#include <algorithm>
#include <cstring>

#include "io/dicom/dicom_library.h"
#include "io/files/file_error.h"
#include "io/files/open_file.h"
#include "libcore/base/error.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// The stored values of all frames of a file, in this machine's byte order.
struct StoredPixels {
  std::vector<char> bytes;
  gdcm::PixelFormat::ScalarType type = gdcm::PixelFormat::UNKNOWN;
};

/// Calls body(const T*) with the type of the stored values.
template <class Body>
void visit(const fs::path& path, const StoredPixels& pixels, Body body) {
  const auto is = [&](gdcm::PixelFormat::ScalarType type, auto zero) {
    return type == pixels.type && (body(reinterpret_cast<const decltype(zero)*>(pixels.bytes.data())), true);
  };
  using enum gdcm::PixelFormat::ScalarType;
  if (!(is(UINT8, std::uint8_t{}) || is(INT8, std::int8_t{}) || is(UINT16, std::uint16_t{}) ||
        is(INT16, std::int16_t{}) || is(UINT32, std::uint32_t{}) || is(INT32, std::int32_t{})))
    throw input_error(path, "stores its pixels in a type that is not read, expected whole numbers of 8 to 32 bits",
                      "export it with 16 bits");
}

Error damaged(const DicomFile& file, const std::string& what) {
  return input_error(file.path, what, "copy or export the file again");
}

/// Throws when a file is shorter than its pixels: GDCM fills what is missing with zeros. `stored` is the number of
/// bytes in the file, with the heads of compressed fragments.
void require_pixel_bytes(const DicomFile& file, std::int64_t stored) {
  if (file.pixel_begin < 0) return;  // the checksum of a deflated data set tells
  const std::int64_t there = std::max<std::int64_t>(0, file.bytes - file.pixel_begin);
  if (there < stored)
    throw damaged(file, "is truncated: it holds " + std::to_string(there) + " of the " + std::to_string(stored) +
                            " bytes of its pixels");
}

/// Returns the bytes of compressed pixels in a file: 8 for the head of each fragment, and its value.
std::int64_t fragment_bytes(const gdcm::DataSet& set) {
  const gdcm::SequenceOfFragments* fragments = set.GetDataElement(gdcm::Tag(0x7fe0, 0x0010)).GetSequenceOfFragments();
  std::int64_t bytes = 0;
  for (unsigned i = 0; fragments != nullptr && i < fragments->GetNumberOfFragments(); ++i)
    bytes += 8 + static_cast<std::int64_t>(fragments->GetFragment(i).GetVL());
  return bytes;
}

/// Throws when JPEG 2000 pixels are signed where the header says unsigned, or the other way round: decoders give values
/// that are shifted by half of their range. The codestream begins with the markers SOC and SIZ; byte 42 says how deep
/// its first component is, and the highest bit whether it is signed (ISO/IEC 15444-1, A.5.1).
void require_same_sign(const DicomFile& file, const gdcm::DataSet& set, bool header_says_signed) {
  const gdcm::SequenceOfFragments* fragments = set.GetDataElement(gdcm::Tag(0x7fe0, 0x0010)).GetSequenceOfFragments();
  const gdcm::ByteValue* first = fragments != nullptr && fragments->GetNumberOfFragments() > 0
                                     ? fragments->GetFragment(0).GetByteValue()
                                     : nullptr;
  constexpr std::size_t kDepth = 42;
  if (first == nullptr || first->GetLength() <= kDepth || std::memcmp(first->GetPointer(), "\xff\x4f\xff\x51", 4) != 0)
    return;
  const bool is_signed = (static_cast<unsigned char>(first->GetPointer()[kDepth]) & 0x80U) != 0;
  if (is_signed == header_says_signed) return;
  throw damaged(file, std::string("says that its pixels are ") + (header_says_signed ? "signed" : "unsigned") +
                          ", but its JPEG 2000 pixels are " + (is_signed ? "signed" : "unsigned"));
}

StoredPixels decode(const DicomFile& file, const DicomSeries& series) {
  InputFile in(file.path);
  if (!in) throw input_error(file.path, in.problem(), "check the path and its permissions");
  gdcm::ImageReader reader;
  reader.SetStream(in);
  if (!reader.Read()) throw damaged(file, "has no pixels that can be decoded");
  require_pixel_bytes(file, fragment_bytes(reader.GetFile().GetDataSet()));
  require_same_sign(file, reader.GetFile().GetDataSet(), series.common.is_signed);
  const gdcm::Image& image = reader.GetImage();
  const gdcm::PixelFormat& format = image.GetPixelFormat();
  const auto expected = static_cast<std::size_t>(series.grid.size[0] * series.grid.size[1]) * file.frames *
                        (format.GetBitsAllocated() / 8U);
  if (image.GetColumns() != series.grid.size[0] || image.GetRows() != series.grid.size[1] ||
      format.GetSamplesPerPixel() != 1 || expected != image.GetBufferLength())
    throw damaged(file, "holds pixels of another size than its header says");
  StoredPixels pixels{.bytes = std::vector<char>(expected), .type = format.GetScalarType()};
  if (!image.GetBuffer(pixels.bytes.data())) throw damaged(file, "has pixels that cannot be decoded");
  return pixels;
}

StoredPixels read_stored(const DicomFile& file, const DicomSeries& series) {
  const DicomLibrary library;
  if (!series.common.compressed)
    require_pixel_bytes(file, series.grid.size[0] * series.grid.size[1] * static_cast<std::int64_t>(file.frames) *
                                  series.common.bits / 8);
  try {
    return decode(file, series);
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {  // GDCM's own errors
    throw damaged(file, "has pixels that cannot be decoded");
  }
}

}  // namespace

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
    const StoredPixels pixels = read_stored(series.files[f], series);
    values.resize(plane);  // only when the file was found to hold so many
    visit(series.files[f].path, pixels, [&](const auto* stored) {
      for (const std::size_t z : slices_of[f]) {
        const DicomSlice& slice = series.slices[z];
        const auto* from = stored + slice.frame * plane;
        for (std::size_t i = 0; i < plane; ++i)
          values[i] = slice.slope * static_cast<double>(from[i]) + slice.intercept;
        take(z, values);
      }
    });
  }
}

}  // namespace voxshard
