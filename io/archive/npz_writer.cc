#include "io/archive/npz_writer.h"

#include <archive.h>
#include <archive_entry.h>

#include <bit>
#include <memory>

#include "io/files/atomic_file.h"
#include "libcore/base/error.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// Returns the header of a .npy file of version 1.0, padded so that the data begin at a multiple of 64 bytes.
std::string npy_header(const std::vector<std::int64_t>& shape) {
  std::string text = "{'descr': '<f2', 'fortran_order': False, 'shape': (";
  for (const std::int64_t extent : shape) text += std::to_string(extent) + ", ";
  text += "), }";
  constexpr std::size_t kBegin = 10, kMultiple = 64;  // magic, version and length of the text
  text.resize((kBegin + text.size() + 1 + kMultiple - 1) / kMultiple * kMultiple - kBegin - 1, ' ');
  text += '\n';
  ensure(text.size() < 65536, "an array has few axes");
  std::string header = "\x93NUMPY";
  header += {'\x01', '\x00', static_cast<char>(text.size() % 256), static_cast<char>(text.size() / 256)};
  return header + text;
}

la_ssize_t write_stream(archive*, void* stream, const void* bytes, std::size_t count) {
  auto& out = *static_cast<std::ostream*>(stream);
  out.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(count));
  return out ? static_cast<la_ssize_t>(count) : -1;
}

/// A zip archive that is written to a stream, with one file in it.
class ZipOfOneFile {
 public:
  ZipOfOneFile(const fs::path& path, std::ostream& out, const std::string& name, std::int64_t bytes)
      : path_(path), zip_(archive_write_new(), archive_write_free) {
    archive* const zip = zip_.get();
    require(zip != nullptr && archive_write_set_format_zip(zip) == ARCHIVE_OK &&
            archive_write_set_format_option(zip, "zip", "compression", "deflate") == ARCHIVE_OK &&
            archive_write_set_format_option(zip, "zip", "compression-level", "1") == ARCHIVE_OK &&
            archive_write_set_bytes_in_last_block(zip, 1) == ARCHIVE_OK &&
            archive_write_open(zip, &out, nullptr, write_stream, nullptr) == ARCHIVE_OK);
    const std::unique_ptr<archive_entry, decltype(&archive_entry_free)> entry(archive_entry_new(), archive_entry_free);
    archive_entry_set_pathname(entry.get(), name.c_str());
    archive_entry_set_size(entry.get(), bytes);
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    archive_entry_set_perm(entry.get(), 0644);
    // Without a time the entry says the first day of 1980: neither the clock nor the time zone is in the bytes.
    require(archive_write_header(zip, entry.get()) == ARCHIVE_OK);
  }

  void write(const void* bytes, std::size_t count) {
    require(archive_write_data(zip_.get(), bytes, count) == static_cast<la_ssize_t>(count));
  }
  void close() { require(archive_write_close(zip_.get()) == ARCHIVE_OK); }

 private:
  void require(bool good) const {
    if (good) return;
    const char* why = zip_ != nullptr ? archive_error_string(zip_.get()) : nullptr;
    throw Error(ErrorKind::kOutput, "[output] " + path_.string() + " cannot be written" +
                                        (why != nullptr ? std::string(": ") + why : std::string()) +
                                        "; check the space and the permissions of its folder");
  }

  const fs::path& path_;
  std::unique_ptr<archive, decltype(&archive_write_free)> zip_;
};

}  // namespace

std::uint16_t half_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000U);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude > 0x7f800000U) return sign | 0x7e00U;   // NaN
  if (magnitude >= 0x477ff000U) return sign | 0x7c00U;  // 65520, halfway beyond 65504, rounds to infinity
  if (magnitude < 0x38800000U) {                        // below 2^-14: a multiple of 2^-24
    // Adding 0.5 leaves ulps of 2^-24 in the mantissa, rounded to even by the processor.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000U));
  }
  const std::uint32_t odd = magnitude >> 13 & 1U;
  return static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000U + 0xfffU + odd) >> 13));
}

void write_npz(const fs::path& path, const NpzArray& array, const std::function<void(const PutHalves& put)>& fill) {
  std::int64_t left = 1;
  for (const std::int64_t extent : array.shape) left *= extent;
  const std::string header = npy_header(array.shape);
  constexpr std::int64_t kHalfBytes = 2;
  write_file_atomically(path, [&](std::ostream& out) {
    ZipOfOneFile zip(path, out, array.name + ".npy", std::ssize(header) + kHalfBytes * left);
    zip.write(header.data(), header.size());
    fill([&](std::span<const std::uint16_t> halves) {
      static_assert(std::endian::native == std::endian::little, "halves are written as they lie in memory");
      ensure(std::ssize(halves) <= left, "an array is no longer than its shape");
      left -= std::ssize(halves);
      zip.write(halves.data(), halves.size_bytes());
    });
    ensure(left == 0, "an array is no shorter than its shape");
    zip.close();
  });
}

}  // namespace voxshard
