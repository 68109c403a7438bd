// Packed files against zlib, which packs them: members of all sizes, what follows them, cuts and damaged bytes.
#include "io/volume/packed_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>
#include <random>
#include <string>

#include "libcore/base/error.h"
#include "tests/scratch_folder.h"

namespace voxshard {
namespace {

constexpr int kGzipForm = 15 + 16, kZlibForm = 15;  // windowBits of deflateInit2

std::string packed(const std::string& text, int form, int level = 6, const std::string& dictionary = "") {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, level, Z_DEFLATED, form, 8, Z_DEFAULT_STRATEGY), Z_OK);
  if (!dictionary.empty())
    deflateSetDictionary(&stream, reinterpret_cast<const Bytef*>(dictionary.data()),
                         static_cast<uInt>(dictionary.size()));
  std::string bytes(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  bytes.resize(bytes.size() - stream.avail_out);
  deflateEnd(&stream);
  return bytes;
}

/// Returns what zlib makes of one stream; empty for one that it refuses.
std::string unpacked_by_zlib(std::string bytes, int form) {
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, form), Z_OK);
  std::string text(1 << 16, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  const int code = inflate(&stream, Z_FINISH);
  text.resize(code == Z_STREAM_END ? text.size() - stream.avail_out : 0);
  inflateEnd(&stream);
  return text;
}

/// Bytes of which about half repeat what stands before them, so that packed blocks hold literals and copies.
std::string mixed_bytes(std::size_t count, unsigned seed) {
  std::mt19937 draw(seed);
  std::string text;
  while (text.size() < count) {
    const std::size_t run = 1 + draw() % 300;
    if (text.size() > 1000 && draw() % 2 == 0) {
      text += text.substr(text.size() - 1 - draw() % 1000, run);
    } else {
      for (std::size_t i = 0; i < run; ++i) text += static_cast<char>(draw());
    }
  }
  text.resize(count);
  return text;
}

/// Some 250 digits, which become one block of dynamic Huffman codes.
std::string many_digits() {
  std::string text;
  for (int i = 0; text.size() < 250; ++i) text += std::to_string(i * 7919);
  return text;
}

class PackedFiles : public ::testing::Test {
 protected:
  std::filesystem::path file(const std::string& bytes) {
    std::ofstream(folder_.path() / "packed", std::ios::binary) << bytes;
    return folder_.path() / "packed";
  }
  /// Reads the whole file in pieces of `piece` bytes.
  std::string unpacked(const std::string& bytes, Packing packing, std::int64_t piece = 1 << 18,
                       std::int64_t begin = 0) {
    PackedFile in(file(bytes), packing, begin);
    std::string text, part(static_cast<std::size_t>(piece), '\0');
    for (std::int64_t got = piece; got == piece;) {
      got = in.read(part.data(), piece);
      text.append(part.data(), static_cast<std::size_t>(got));
    }
    return text;
  }
  std::string error_of(const std::string& bytes, Packing packing) {
    try {
      unpacked(bytes, packing, 4096);
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::kInput);
      return e.what();
    }
    return "";
  }

  ScratchFolder folder_;
};

TEST_F(PackedFiles, HoldWhatZlibPackedInMembersAndPiecesOfAllSizes) {
  std::string text, bytes;
  for (const std::size_t size : {0, 1, 100, 300'000, 7, 262'144, 65'536, 1'000'000, 3}) {
    const std::string member = mixed_bytes(size, static_cast<unsigned>(size));
    text += member;
    bytes += packed(member, kGzipForm, static_cast<int>(size % 10));
  }
  for (const std::int64_t piece : {1 << 20, 1 << 18, 4096, 61})
    EXPECT_TRUE(unpacked(bytes, Packing::kGzip, piece) == text);
}

TEST_F(PackedFiles, HoldEveryMemberWhereverThePiecesOfTheFileEnd) {
  // Members of some 20 bytes: ends of the pieces that are read fall on every place of a header and a checksum.
  std::string text, bytes;
  for (int i = 0; bytes.size() < 1'200'000; ++i) {
    const std::string member = std::to_string(i * 7919);
    text += member;
    bytes += packed(member, kGzipForm);
  }
  EXPECT_TRUE(unpacked(bytes, Packing::kGzip) == text);
}

TEST_F(PackedFiles, AreReadFromAByteOnAndPlainOnesAsTheyAre) {
  const std::string text = mixed_bytes(5000, 1);
  EXPECT_EQ(unpacked("head" + packed(text, kZlibForm), Packing::kZlib, 100, 4), text);
  EXPECT_EQ(unpacked("head" + packed(text, kGzipForm), Packing::kZlib, 100, 4), text);
  EXPECT_EQ(unpacked("head" + packed(text, kGzipForm), Packing::kGzip, 100, 4), text);
  EXPECT_EQ(unpacked(packed(text, kGzipForm), Packing::kGzipOrPlain), text);
  EXPECT_EQ(unpacked(text, Packing::kGzipOrPlain), text);
  EXPECT_FALSE(PackedFile(file(packed(text, kGzipForm)), Packing::kGzipOrPlain).is_plain());
  EXPECT_TRUE(PackedFile(file(text), Packing::kGzipOrPlain).is_plain());
  EXPECT_THAT(error_of(text, Packing::kGzip), ::testing::HasSubstr("is not compressed"));
}

TEST_F(PackedFiles, EndWhereNoMemberFollows) {
  const std::string text = mixed_bytes(5000, 2), member = packed(text, kGzipForm);
  for (const std::string& behind : {std::string(1000, '\0'), std::string("\x1f"), std::string("no member")})
    EXPECT_EQ(unpacked(member + behind, Packing::kGzip), text);
  EXPECT_EQ(unpacked(packed(text, kZlibForm) + member, Packing::kZlib), text);  // one stream alone
}

TEST_F(PackedFiles, ThatAreCutAreErrorsWhereverTheyEnd) {
  const std::string text = many_digits();
  for (const auto& [form, packing] : {std::pair(kGzipForm, Packing::kGzip), std::pair(kZlibForm, Packing::kZlib)}) {
    const std::string bytes = packed(text, form);
    for (std::size_t n = 2; n < bytes.size(); ++n)
      EXPECT_THAT(error_of(bytes.substr(0, n), packing), ::testing::HasSubstr("is truncated"))
          << n << " of " << bytes.size();
    EXPECT_THAT(error_of("", packing), ::testing::Not(::testing::IsEmpty()));
  }
  const std::string member = packed(text, kGzipForm);
  EXPECT_THAT(error_of(member + member.substr(0, 5), Packing::kGzip), ::testing::HasSubstr("is truncated"));
}

TEST_F(PackedFiles, OfWhichAByteIsDamagedAreReadAsZlibReadsThem) {
  // zlib accepts what its checksum does not tell: bits behind the last code, and one copy from elsewhere
  // under Adler-32. Time, system and flags of a gzip header say nothing of the data.
  const std::string text = many_digits();
  constexpr unsigned kGzipHead = 10;
  for (const auto& [form, packing, head] :
       {std::tuple(kGzipForm, Packing::kGzip, kGzipHead), std::tuple(kZlibForm, Packing::kZlib, 0U)}) {
    const std::string bytes = packed(text, form);
    for (std::size_t i = 0; i < bytes.size(); ++i)
      for (const int flip : {0x01, 0x80}) {
        std::string damaged = bytes;
        damaged[i] = static_cast<char>(damaged[i] ^ flip);
        if (!error_of(damaged, packing).empty()) continue;
        EXPECT_EQ(unpacked(damaged, packing), i < head ? text : unpacked_by_zlib(damaged, form)) << i << " " << flip;
      }
  }
}

TEST_F(PackedFiles, ThatWantADictionaryAreRefused) {
  const std::string bytes = packed("a volume of air", kZlibForm, 6, "air of a volume");
  EXPECT_THAT(error_of(bytes, Packing::kZlib), ::testing::HasSubstr("damaged zlib stream"));
}

}  // namespace
}  // namespace voxshard
