#include "io/dicom/dicom_codec.h"

#include <dcmtk/config/osconfig.h>  // before all other headers of DCMTK

#include <dcmtk/dcmdata/dcpxitem.h>
#include <dcmtk/dcmdata/dcrledrg.h>
#include <dcmtk/dcmdata/dctk.h>
#include <dcmtk/dcmjpeg/djdecode.h>
#include <dcmtk/dcmjpls/djdecode.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

#include "io/dicom/dicom_library.h"
#include "io/dicom/jpeg2000.h"
#include "io/files/file_error.h"
#include "libcore/base/error.h"

namespace voxshard {
namespace {

constexpr std::size_t kMostFrameBytes = std::size_t{1} << 31;  // DCMTK counts the bytes of a frame in 32 bits

Error damaged(const CompressedPixels& pixels, const std::string& what) {
  return input_error(pixels.path, what, "copy or export the file again");
}

Error undecodable(const CompressedPixels& pixels) { return damaged(pixels, "has pixels that cannot be decoded"); }

enum class Coding { kJpeg, kJpegLs, kJpeg2000, kRle, kOther };

Coding coding_of(std::string_view syntax) {
  constexpr std::string_view kPrefix = "1.2.840.10008.1.2.";
  if (!syntax.starts_with(kPrefix)) return Coding::kOther;
  const std::string_view kind = syntax.substr(kPrefix.size());
  if (kind == "5") return Coding::kRle;
  if (kind.size() != 4 || !kind.starts_with("4.")) return Coding::kOther;
  if (kind >= "4.50" && kind <= "4.70") return Coding::kJpeg;  // lossy or lossless
  if (kind == "4.80" || kind == "4.81") return Coding::kJpegLs;
  if (kind == "4.90" || kind == "4.91") return Coding::kJpeg2000;
  return Coding::kOther;
}

/// The frame header of a JPEG stream.
struct JpegFrame {
  int bits = 0;  // per sample
  int rows = 0, columns = 0;
  int components = 0;
};

/// Returns the frame header of a JPEG or JPEG-LS stream whose segments before its first scan follow each other without
/// a gap and are whole: SOF0 to SOF15 without the tables DHT, JPG and DAC (ITU-T T.81, B.1 and B.2), or of JPEG-LS
/// SOF55 (ITU-T T.87, C.1.1). None of another stream: a decoder would look for the next marker, wherever that is. None
/// with the marker TEM, which no file has: DCMTK 3.6.7 looks at it for ever.
std::optional<JpegFrame> jpeg_frame(std::string_view stream, Coding coding) {
  constexpr unsigned kTem = 0x01, kDht = 0xc4, kJpg = 0xc8, kDac = 0xcc, kRst0 = 0xd0, kRst7 = 0xd7, kSoi = 0xd8,
                     kEoi = 0xd9, kSos = 0xda, kSof55 = 0xf7, kFill = 0xff;
  constexpr std::size_t kFrameLength = 8;
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(stream[at]); };
  if (!stream.starts_with("\xff\xd8")) return std::nullopt;
  std::optional<JpegFrame> frame;
  for (std::size_t at = 2; at + 4 <= stream.size();) {
    const unsigned marker = byte(at + 1);
    if (byte(at) != 0xff || marker == 0 || marker == kTem || marker == kSoi || marker == kEoi) return std::nullopt;
    if (marker == kFill || (marker >= kRst0 && marker <= kRst7)) {  // these have no segment
      at += marker == kFill ? 1 : 2;
      continue;
    }
    const std::size_t length = 256 * std::size_t{byte(at + 2)} + byte(at + 3);
    if (length < 2 || length > stream.size() - at - 2) return std::nullopt;
    if (marker == kSos) return frame;
    const bool is_frame = coding == Coding::kJpegLs
                              ? marker == kSof55
                              : marker >= 0xc0 && marker <= 0xcf && marker != kDht && marker != kJpg && marker != kDac;
    if (is_frame && length >= kFrameLength)
      frame = JpegFrame{.bits = byte(at + 4),
                        .rows = 256 * byte(at + 5) + byte(at + 6),
                        .columns = 256 * byte(at + 7) + byte(at + 8),
                        .components = byte(at + 9)};
    at += 2 + length;
  }
  return std::nullopt;
}

/// Returns the bits per sample of JPEG or JPEG-LS pixels. Errors: kInput for streams that are damaged before their
/// first scan, have more than the one component of grey values or another size than the header says, which DCMTK does
/// not compare for JPEG, or samples of other than 2 to 16 bits (ITU-T T.81, table B.2), or of another number than the
/// first.
int jpeg_bits(const CompressedPixels& pixels, const std::vector<std::vector<char>>& fragments, Coding coding) {
  int bits = 0;
  for (const std::vector<char>& fragment : fragments) {
    const std::string_view stream(fragment.data(), fragment.size());
    if (bits != 0 && !stream.starts_with("\xff\xd8")) continue;  // goes on with the image before
    const std::optional<JpegFrame> frame = jpeg_frame(stream, coding);
    if (!frame) throw damaged(pixels, "has JPEG pixels whose header is damaged");
    if (frame->components != 1)
      throw damaged(pixels, "has JPEG pixels of " + std::to_string(frame->components) + " components, not of 1");
    if (frame->columns != pixels.columns || frame->rows != pixels.rows)
      throw damaged(pixels, "has a JPEG image of " + std::to_string(frame->columns) + " x " +
                                std::to_string(frame->rows) + " pixels, not of " + std::to_string(pixels.columns) +
                                " x " + std::to_string(pixels.rows));
    if (frame->bits < 2 || frame->bits > 16)
      throw damaged(pixels, "has JPEG pixels of " + std::to_string(frame->bits) + " bits, not of 2 to 16");
    if (bits != 0 && frame->bits != bits) throw damaged(pixels, "has JPEG pixels of several numbers of bits");
    bits = frame->bits;
  }
  return bits;
}

/// Throws unless the fragments are an RLE frame each, whose header says where its segments begin, one for each byte of
/// a pixel (DICOM PS3.5, A.4.2 and G.5): DCMTK reads a header of 64 bytes wherever a fragment begins.
void require_rle_headers(const CompressedPixels& p, const std::vector<std::vector<char>>& fragments) {
  constexpr std::size_t kHeader = 64;
  const auto number = [](const std::vector<char>& bytes, std::size_t index) {
    std::uint32_t value = 0;  // the lowest byte first
    for (std::size_t i = 4; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[4 * index + i]);
    return std::size_t{value};
  };
  const auto segments = static_cast<std::size_t>(p.bits / 8);
  const auto is_whole = [&](const std::vector<char>& frame) {
    if (frame.size() < kHeader || number(frame, 0) != segments || number(frame, 1) < kHeader) return false;
    for (std::size_t i = 1; i < segments; ++i)
      if (number(frame, i + 1) < number(frame, i)) return false;
    return number(frame, segments) < frame.size();
  };
  if (static_cast<std::int64_t>(fragments.size()) != p.frames ||
      !std::all_of(fragments.begin(), fragments.end(), is_whole))
    throw damaged(p, "has RLE pixels whose header is damaged");
}

/// Returns the fragments as DCMTK takes them, in a data set of their own with `bits` allocated.
std::unique_ptr<DcmDataset> dataset_of(const CompressedPixels& p, const std::vector<std::vector<char>>& fragments,
                                       int bits) {
  const int stored = std::min(p.bits_stored, bits);
  auto dataset = std::make_unique<DcmDataset>();
  bool whole = true;
  const auto put = [&](const DcmTagKey& tag, std::int64_t value) {
    whole = dataset->putAndInsertUint16(tag, static_cast<Uint16>(value)).good() && whole;
  };
  put(DCM_SamplesPerPixel, 1), put(DCM_Rows, p.rows), put(DCM_Columns, p.columns);
  put(DCM_BitsAllocated, bits), put(DCM_BitsStored, stored), put(DCM_HighBit, stored - 1);
  put(DCM_PixelRepresentation, p.is_signed ? 1 : 0);
  whole = dataset->putAndInsertString(DCM_PhotometricInterpretation, "MONOCHROME2").good() && whole;
  whole = dataset->putAndInsertString(DCM_NumberOfFrames, std::to_string(p.frames).c_str()).good() && whole;
  auto sequence = std::make_unique<DcmPixelSequence>(DcmTag(DCM_PixelData, EVR_OB));
  const auto append = [&](std::unique_ptr<DcmPixelItem> item) {
    if (whole = whole && sequence->insert(item.get()).good(); whole) item.release();
  };
  append(std::make_unique<DcmPixelItem>(DcmTag(DCM_Item, EVR_OB)));  // the table of offsets, which may be empty
  for (const std::vector<char>& fragment : fragments) {
    auto item = std::make_unique<DcmPixelItem>(DcmTag(DCM_Item, EVR_OB));
    whole = item->putUint8Array(reinterpret_cast<const Uint8*>(fragment.data()), static_cast<Uint32>(fragment.size()))
                .good() &&
            whole;
    append(std::move(item));
  }
  auto pixels = std::make_unique<DcmPixelData>(DCM_PixelData);
  pixels->putOriginalRepresentation(DcmXfer(p.syntax.c_str()).getXfer(), nullptr, sequence.release());
  if (whole = whole && dataset->insert(pixels.get()).good(); whole) pixels.release();
  if (!whole) throw undecodable(p);
  return dataset;
}

/// Makes samples of `bytes` bytes, 1 or 2, pixels of p.bits: what is above the stored bits is their sign, not an
/// overlay.
std::vector<char> widened(const CompressedPixels& p, const std::vector<char>& samples, int bytes) {
  const int width = p.bits / 8;
  const std::uint64_t mask = (std::uint64_t{1} << p.bits_stored) - 1, sign = std::uint64_t{1} << (p.bits_stored - 1);
  std::vector<char> pixels(samples.size() / static_cast<std::size_t>(bytes) * static_cast<std::size_t>(width));
  for (std::size_t i = 0, n = samples.size() / static_cast<std::size_t>(bytes); i < n; ++i) {
    std::uint64_t value = 0;
    std::memcpy(&value, samples.data() + i * static_cast<std::size_t>(bytes), static_cast<std::size_t>(bytes));
    value &= mask;
    if (p.is_signed && (value & sign) != 0) value |= ~mask;
    std::memcpy(pixels.data() + i * static_cast<std::size_t>(width), &value, static_cast<std::size_t>(width));
  }
  return pixels;
}

/// Decodes RLE, JPEG and JPEG-LS frame by frame.
std::vector<char> decode_by_dcmtk(const CompressedPixels& p, const std::vector<std::vector<char>>& fragments,
                                  Coding coding) {
  const DicomLibrary library;
  static const bool kRegistered = [] {
    DcmRLEDecoderRegistration::registerCodecs();
    DJDecoderRegistration::registerCodecs();
    DJLSDecoderRegistration::registerCodecs();
    return true;
  }();
  static_cast<void>(kRegistered);
  const int sample_bits = coding == Coding::kRle ? p.bits : jpeg_bits(p, fragments, coding) > 8 ? 16 : 8;
  if (sample_bits > p.bits || sample_bits % 8 != 0) throw undecodable(p);
  if (coding == Coding::kRle) require_rle_headers(p, fragments);
  const auto bytes = static_cast<std::size_t>(sample_bits / 8);
  const std::size_t frame = static_cast<std::size_t>(p.rows * p.columns) * bytes;
  if (frame > kMostFrameBytes) throw undecodable(p);
  const std::unique_ptr<DcmDataset> dataset = dataset_of(p, fragments, sample_bits);
  DcmElement* element = nullptr;
  dataset->findAndGetElement(DCM_PixelData, element);
  std::vector<char> samples(frame * static_cast<std::size_t>(p.frames)), one(frame + frame % 2);
  Uint32 fragment = 0;
  OFString colours;
  for (std::int64_t i = 0; i < p.frames; ++i) {
    if (dynamic_cast<DcmPixelData&>(*element)
            .getUncompressedFrame(dataset.get(), static_cast<Uint32>(i), fragment, one.data(),
                                  static_cast<Uint32>(one.size()), colours)
            .bad())
      throw undecodable(p);
    std::memcpy(samples.data() + static_cast<std::size_t>(i) * frame, one.data(), frame);
  }
  const bool as_is = sample_bits == p.bits && (coding == Coding::kRle || p.bits_stored == p.bits);
  return as_is ? samples : widened(p, samples, static_cast<int>(bytes));
}

/// Throws when a JPEG 2000 image is not one of the header's frames. Pixels that are signed where the header says
/// unsigned, or the other way round, are refused: decoders give values that are shifted by half of their range.
void require_frame(const CompressedPixels& p, const Jpeg2000Image& image) {
  const auto word = [](bool is_signed) { return std::string(is_signed ? "signed" : "unsigned"); };
  if (image.components != 1)
    throw damaged(p, "has JPEG 2000 pixels of " + std::to_string(image.components) + " components, not of 1");
  if (image.columns != p.columns || image.rows != p.rows)
    throw damaged(p, "has a JPEG 2000 image of " + std::to_string(image.columns) + " x " + std::to_string(image.rows) +
                         " pixels, not of " + std::to_string(p.columns) + " x " + std::to_string(p.rows));
  if (image.bits > p.bits)
    throw damaged(p, "has JPEG 2000 pixels of " + std::to_string(image.bits) + " bits for " + std::to_string(p.bits));
  if (image.is_signed != p.is_signed)
    throw damaged(
        p, "says that its pixels are " + word(p.is_signed) + ", but its JPEG 2000 pixels are " + word(image.is_signed));
}

/// Decodes JPEG 2000, for which DCMTK has no codec: one fragment for each frame, or all of them for one.
std::vector<char> decode_by_openjpeg(const CompressedPixels& p, const std::vector<std::vector<char>>& fragments) {
  const bool in_parts = p.frames == 1 && fragments.size() > 1;
  if (!in_parts && static_cast<std::int64_t>(fragments.size()) != p.frames)
    throw damaged(p, "has JPEG 2000 frames in several parts each");
  std::string whole;
  if (in_parts)
    for (const std::vector<char>& part : fragments) whole.append(part.begin(), part.end());
  const auto width = static_cast<std::size_t>(p.bits / 8);
  std::vector<char> pixels;
  pixels.reserve(static_cast<std::size_t>(p.rows * p.columns * p.frames) * width);
  for (std::int64_t i = 0; i < p.frames; ++i) {
    const std::vector<char>& fragment = fragments[i];
    const auto image =
        decode_jpeg2000(in_parts ? std::string_view(whole) : std::string_view(fragment.data(), fragment.size()),
                        [&](const Jpeg2000Image& header) { require_frame(p, header); });
    if (!image) throw undecodable(p);
    for (const std::int32_t sample : image->samples) {  // of which the lowest bytes come first
      const auto* bytes = reinterpret_cast<const char*>(&sample);
      pixels.insert(pixels.end(), bytes, bytes + width);
    }
  }
  return pixels;
}

std::vector<char> decode(const CompressedPixels& p, const std::vector<std::vector<char>>& fragments) {
  const Coding coding = coding_of(p.syntax);
  if (coding == Coding::kOther) throw damaged(p, "has pixels in a transfer syntax that is not read, " + p.syntax);
  return coding == Coding::kJpeg2000 ? decode_by_openjpeg(p, fragments) : decode_by_dcmtk(p, fragments, coding);
}

}  // namespace

void require_sound_bits(const CompressedPixels& pixels) {
  if (pixels.bits != 8 && pixels.bits != 16 && pixels.bits != 32)
    throw damaged(pixels, "stores its pixels in " + std::to_string(pixels.bits) + " bits, expected 8, 16 or 32");
  const std::string stored =
      "says that " + std::to_string(pixels.bits_stored) + " of " + std::to_string(pixels.bits) + " bits are stored";
  if (pixels.bits_stored < 1 || pixels.bits_stored > pixels.bits) throw damaged(pixels, stored);
  if (pixels.bits_stored < pixels.bits && pixels.high_bit != pixels.bits_stored - 1)
    throw damaged(pixels, stored + ", the highest of them bit " + std::to_string(pixels.high_bit) + " in place of " +
                              std::to_string(pixels.bits_stored - 1));
}

std::vector<char> decode_dicom_pixels(const CompressedPixels& pixels, const std::vector<std::vector<char>>& fragments) {
  if (pixels.bits == 1)  // of a segmentation; native ones are read
    throw input_error(pixels.path, "has compressed pixels of 1 bit, which are not read",
                      "export it without compression, or with 8 bits");
  if (static_cast<std::int64_t>(fragments.size()) < pixels.frames)
    throw damaged(pixels, "has " + std::to_string(fragments.size()) + " compressed images for " +
                              std::to_string(pixels.frames) + " frames");
  require_sound_bits(pixels);
  if (std::any_of(fragments.begin(), fragments.end(), [](const auto& fragment) { return fragment.empty(); }))
    throw damaged(pixels, "has a compressed image without a byte");
  // A header may promise any size; what compresses is at most a thousand times smaller than its pixels.
  std::size_t compressed = 0;
  for (const auto& fragment : fragments) compressed += fragment.size();
  constexpr std::size_t kMostInflation = 1000, kFree = 1 << 26;
  const auto promised = static_cast<std::size_t>(pixels.columns * pixels.rows * pixels.frames) *
                        static_cast<std::size_t>(pixels.bits / 8);
  if (promised > kFree && promised / kMostInflation > compressed)
    throw damaged(pixels, "promises " + std::to_string(promised) + " bytes of pixels in " + std::to_string(compressed));
  return decode(pixels, fragments);
}

}  // namespace voxshard
