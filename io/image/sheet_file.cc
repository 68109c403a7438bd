// The mark is a text chunk after the header. Source: PNG (ISO/IEC 15948), 5.3 (layout of chunks), 11.3.4.3 (tEXt).
//
//   89 "PNG" ... IHDR   00 00 00 11 "tEXt" "Software" 00 "voxshard" CRC   IDAT ... IEND
#include "io/image/sheet_file.h"

#include <zlib.h>

#include <string>

#include "io/files/atomic_file.h"
#include "io/files/open_file.h"
#include "io/image/image.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;

constexpr std::size_t kHeadBytes = 8 + 25;  // signature and IHDR

std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(value >> shift & 0xff);
  return bytes;
}

std::string mark() {
  const std::string text = "Software\0voxshard"s, body = "tEXt" + text;
  const auto sum = crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  return big_endian(static_cast<std::uint32_t>(text.size())) + body + big_endian(static_cast<std::uint32_t>(sum));
}

}  // namespace

void write_sheet(const fs::path& path, const Tensor& rgb) {
  std::string file = encoded_rgb(rgb, ".png");
  file.insert(kHeadBytes, mark());
  write_text_atomically(path, file);
}

OutputKind sheet_file() {
  return {"a sheet of voxshard", {".png"}, [](const fs::path& path) {
            std::string head(kHeadBytes + mark().size(), '\0');
            InputFile in(path);
            in.read(head.data(), static_cast<std::streamsize>(head.size()));
            return in.good() && head.starts_with("\x89PNG") && head.substr(kHeadBytes) == mark();
          }};
}

}  // namespace voxshard
