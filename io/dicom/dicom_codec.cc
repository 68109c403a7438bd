#include "io/dicom/dicom_codec.h"

#include <gdcmImage.h>
#include <gdcmJPEGCodec.h>
#include <gdcmSequenceOfFragments.h>

#include <cstring>
#include <optional>
#include <string_view>

#include "io/files/file_error.h"
#include "libcore/base/error.h"

namespace voxshard {
namespace {

Error damaged(const CompressedPixels& pixels, const std::string& what) {
  return input_error(pixels.path, what, "copy or export the file again");
}

/// Throws when JPEG 2000 pixels are signed where the header says unsigned, or the other way round: decoders give values
/// that are shifted by half of their range. The codestream begins with the markers SOC and SIZ; byte 42 says how deep
/// its first component is, and the highest bit whether it is signed (ISO/IEC 15444-1, A.5.1).
void require_same_sign(const CompressedPixels& pixels, const std::vector<char>& codestream) {
  constexpr std::size_t kDepth = 42;
  if (codestream.size() <= kDepth || std::memcmp(codestream.data(), "\xff\x4f\xff\x51", 4) != 0) return;
  const bool is_signed = (static_cast<unsigned char>(codestream[kDepth]) & 0x80U) != 0;
  if (is_signed == pixels.is_signed) return;
  throw damaged(pixels, std::string("says that its pixels are ") + (pixels.is_signed ? "signed" : "unsigned") +
                            ", but its JPEG 2000 pixels are " + (is_signed ? "signed" : "unsigned"));
}

/// Throws for numbers of bits that no image has; GDCM ends the process over more stored bits than allocated ones.
void require_sound_bits(const CompressedPixels& pixels) {
  if (pixels.bits != 1 && pixels.bits != 8 && pixels.bits != 16 && pixels.bits != 32)
    throw damaged(pixels, "stores its pixels in " + std::to_string(pixels.bits) + " bits, expected 8, 16 or 32");
  if (pixels.bits_stored > pixels.bits)
    throw damaged(pixels, "says that " + std::to_string(pixels.bits_stored) + " of " + std::to_string(pixels.bits) +
                              " bits are stored");
}

/// What the frame header of a JPEG stream says.
struct JpegFrame {
  int bits = 0;  // per sample
  int components = 0;
};

/// Returns the frame header (SOF0 to SOF15 without the tables DHT, JPG and DAC) of a JPEG stream whose segments before
/// its first scan follow each other without a gap and are whole (ITU-T T.81, B.1 and B.2); none of another stream.
/// Debian builds GDCM with assertions: what libjpeg only warns of before the first scan ends the process there, such as
/// bytes between segments, an end within one, or a JFIF header of another version than 1.
std::optional<JpegFrame> jpeg_frame(std::string_view stream) {
  constexpr unsigned kTem = 0x01, kDht = 0xc4, kJpg = 0xc8, kDac = 0xcc, kRst0 = 0xd0, kRst7 = 0xd7, kSoi = 0xd8,
                     kEoi = 0xd9, kSos = 0xda, kApp0 = 0xe0, kFill = 0xff;
  constexpr std::size_t kJfifLength = 16, kFrameLength = 8;
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(stream[at]); };
  if (!stream.starts_with("\xff\xd8")) return std::nullopt;
  std::optional<JpegFrame> frame;
  for (std::size_t at = 2; at + 4 <= stream.size();) {
    const unsigned marker = byte(at + 1);
    if (byte(at) != 0xff || marker == 0 || marker == kSoi || marker == kEoi) return std::nullopt;
    if (marker == kFill || marker == kTem || (marker >= kRst0 && marker <= kRst7)) {  // these have no segment
      at += marker == kFill ? 1 : 2;
      continue;
    }
    const std::size_t length = 256 * std::size_t{byte(at + 2)} + byte(at + 3);
    if (length < 2 || length > stream.size() - at - 2) return std::nullopt;
    if (marker == kSos) return frame;
    const bool is_frame = marker >= 0xc0 && marker <= 0xcf && marker != kDht && marker != kJpg && marker != kDac;
    if (is_frame && length >= kFrameLength) frame = JpegFrame{.bits = byte(at + 4), .components = byte(at + 9)};
    const bool is_jfif =
        marker == kApp0 && length >= kJfifLength && stream.substr(at + 4, 5) == std::string_view("JFIF", 5);
    if (is_jfif && byte(at + 9) != 1) return std::nullopt;
    at += 2 + length;
  }
  return std::nullopt;
}

/// Returns the bits per sample of JPEG pixels, lossy or lossless; 0: they are compressed in another way. Errors: kInput
/// for streams that are damaged before their first scan, have more than the one component of grey values, or samples of
/// other than 2 to 16 bits (ITU-T T.81, table B.2).
int jpeg_bits(const CompressedPixels& pixels, const std::vector<std::vector<char>>& fragments) {
  constexpr std::string_view kPrefix = "1.2.840.10008.1.2.4.";  // .50 to .70; what follows is JPEG-LS and JPEG 2000
  if (!pixels.syntax.starts_with(kPrefix)) return 0;
  const std::string_view kind = std::string_view(pixels.syntax).substr(kPrefix.size());
  if (kind.size() != 2 || kind < "50" || kind > "70") return 0;
  int bits = 0;
  for (const std::vector<char>& fragment : fragments) {
    const std::string_view stream(fragment.data(), fragment.size());
    if (bits != 0 && !stream.starts_with("\xff\xd8")) continue;  // goes on with the image before
    const std::optional<JpegFrame> frame = jpeg_frame(stream);
    if (!frame) throw damaged(pixels, "has JPEG pixels whose header is damaged");
    if (frame->components != 1)
      throw damaged(pixels, "has JPEG pixels of " + std::to_string(frame->components) + " components, not of 1");
    if (frame->bits < 2 || frame->bits > 16)  // GDCM has no codec for them, and looks for its members
      throw damaged(pixels, "has JPEG pixels of " + std::to_string(frame->bits) + " bits, not of 2 to 16");
    if (bits == 0) bits = frame->bits;
  }
  return bits;
}

/// GDCM's JPEG codec for samples of 9 to 12 bits. Its own choice follows the allocated bits: it decodes such pixels
/// with the codec for 16 bits first, which prints on the standard error stream that it cannot.
class TwelveBitCodec : public gdcm::JPEGCodec {
 public:
  explicit TwelveBitCodec(const gdcm::Image& image) {
    SetNumberOfDimensions(image.GetNumberOfDimensions());
    SetDimensions(image.GetDimensions());
    SetPlanarConfiguration(image.GetPlanarConfiguration());
    SetPhotometricInterpretation(image.GetPhotometricInterpretation());
    SetPixelFormat(image.GetPixelFormat());
    SetBitSample(12);
  }
  /// Returns false where `decoded` could not be filled.
  bool fill(const gdcm::Image& image, std::vector<char>& decoded) {
    gdcm::DataElement result;
    if (!Decode(image.GetDataElement(), result)) return false;
    const gdcm::ByteValue* bytes = result.GetByteValue();
    if (bytes == nullptr || bytes->GetLength() < decoded.size()) return false;
    std::memcpy(decoded.data(), bytes->GetPointer(), decoded.size());
    return true;
  }
};

gdcm::DataElement element_of(const std::vector<std::vector<char>>& fragments) {
  gdcm::SmartPointer<gdcm::SequenceOfFragments> sequence = gdcm::SequenceOfFragments::New();
  for (const std::vector<char>& bytes : fragments) {
    gdcm::Fragment fragment;
    fragment.SetByteValue(bytes.data(), static_cast<std::uint32_t>(bytes.size()));
    sequence->AddFragment(fragment);
  }
  gdcm::DataElement element(gdcm::Tag(0x7fe0, 0x0010));
  element.SetVR(gdcm::VR::OB);
  element.SetValue(*sequence);
  return element;
}

std::vector<char> decode(const CompressedPixels& p, const std::vector<std::vector<char>>& fragments) {
  gdcm::Image image;
  image.SetNumberOfDimensions(p.frames > 1 ? 3 : 2);
  image.SetDimension(0, static_cast<unsigned>(p.columns));
  image.SetDimension(1, static_cast<unsigned>(p.rows));
  if (p.frames > 1) image.SetDimension(2, static_cast<unsigned>(p.frames));
  image.SetPixelFormat(gdcm::PixelFormat(1, static_cast<std::uint16_t>(p.bits),
                                         static_cast<std::uint16_t>(p.bits_stored),
                                         static_cast<std::uint16_t>(p.high_bit), p.is_signed ? 1 : 0));
  image.SetPhotometricInterpretation(gdcm::PhotometricInterpretation::GetPIType(p.colours.c_str()));
  image.SetTransferSyntax(gdcm::TransferSyntax(gdcm::TransferSyntax::GetTSType(p.syntax.c_str())));
  image.SetDataElement(element_of(fragments));
  std::vector<char> decoded(image.GetBufferLength());
  const int jpeg = jpeg_bits(p, fragments);
  if (p.bits == 16 && jpeg > 8 && jpeg <= 12 && TwelveBitCodec(image).fill(image, decoded)) return decoded;
  if (!image.GetBuffer(decoded.data())) throw damaged(p, "has pixels that cannot be decoded");
  return decoded;
}

}  // namespace

std::vector<char> decode_dicom_pixels(const CompressedPixels& pixels, const std::vector<std::vector<char>>& fragments) {
  if (static_cast<std::int64_t>(fragments.size()) < pixels.frames)
    throw damaged(pixels, "has " + std::to_string(fragments.size()) + " compressed images for " +
                              std::to_string(pixels.frames) + " frames");
  require_sound_bits(pixels);
  require_same_sign(pixels, fragments.front());
  // A header may promise any size; what compresses is at most a thousand times smaller than its pixels.
  std::size_t compressed = 0;
  for (const auto& fragment : fragments) compressed += fragment.size();
  constexpr std::size_t kMostInflation = 1000, kFree = 1 << 26;
  const auto promised = static_cast<std::size_t>(pixels.columns * pixels.rows * pixels.frames) *
                        static_cast<std::size_t>(pixels.bits / 8);
  if (promised > kFree && promised / kMostInflation > compressed)
    throw damaged(pixels, "promises " + std::to_string(promised) + " bytes of pixels in " + std::to_string(compressed));
  try {
    return decode(pixels, fragments);
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {  // GDCM's own errors
    throw damaged(pixels, "has pixels that cannot be decoded");
  }
}

}  // namespace voxshard
