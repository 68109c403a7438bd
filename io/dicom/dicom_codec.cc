#include "io/dicom/dicom_codec.h"

#include <gdcmImage.h>
#include <gdcmSequenceOfFragments.h>

#include <cstring>

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
  if (!image.GetBuffer(decoded.data())) throw damaged(p, "has pixels that cannot be decoded");
  return decoded;
}

}  // namespace

std::vector<char> decode_dicom_pixels(const CompressedPixels& pixels, const std::vector<std::vector<char>>& fragments) {
  if (static_cast<std::int64_t>(fragments.size()) < pixels.frames)
    throw damaged(pixels, "has " + std::to_string(fragments.size()) + " compressed images for " +
                              std::to_string(pixels.frames) + " frames");
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
