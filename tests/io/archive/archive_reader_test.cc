// Archives within bounds: their names become no paths, and what is cut, encrypted or too large is refused.
#include "io/archive/archive_reader.h"

#include "io/archive/unpacked_archive.h"
#include "tests/io/archive_files.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

const std::vector<std::string> kKinds = {"zip", "tar", "tar.gz", "tar.xz", "tar.zst", "tar.bz2"};

/// Returns the names of the files of an archive, all of them read to their ends.
std::vector<std::string> names_in(const fs::path& path, const ArchiveLimits& limits = {}) {
  ArchiveReader in(path, limits);
  std::vector<std::string> names;
  std::vector<char> piece(1 << 16);
  while (in.next()) {
    names.push_back(in.name());
    while (in.read(piece.data(), std::ssize(piece)) == std::ssize(piece)) {
    }
  }
  return names;
}

void expect_refused(const fs::path& path, const std::string& piece, const ArchiveLimits& limits = {},
                    const char* code = "E_ARCHIVE") {
  try {
    names_in(path, limits);
    ADD_FAILURE() << path << " was read to its end; expected: " << piece;
  } catch (const Error& e) {
    EXPECT_STREQ(e.code(), code);
    EXPECT_THAT(e.what(), HasSubstr(piece));
  }
}

TEST(ArchiveReader, GivesTheFilesOfEveryKind) {
  ScratchFolder dir;
  for (const std::string& kind : kKinds) {
    const fs::path path = dir.path() / ("a." + kind);
    write_bytes(path, archive_bytes(kind, {{"b/1", "one"}, {"b/2", std::string(100'000, '2')}, {"empty", ""}}));
    EXPECT_TRUE(is_archive_name(path));
    EXPECT_THAT(names_in(path), ElementsAre("b/1", "b/2", "empty")) << kind;
  }
  EXPECT_TRUE(is_archive_name("STUDY.ZIP"));
  EXPECT_FALSE(is_archive_name("ct.nii.gz"));
}

TEST(ArchiveReader, WhatIsNoPlainFileIsCountedAndPassedOver) {
  ScratchFolder dir;
  const std::vector<PackedEntry> entries = {{"../../evil", "x"},
                                            {"/etc/evil", "x"},
                                            {"a/../b", "x"},
                                            {"C:\\evil", "x"},
                                            {.name = "link", .link_to = "/etc/passwd"},
                                            {"a/.hidden", "x"},
                                            {"__MACOSX/._1", "x"},
                                            {"inner.zip", archive_bytes("zip", {{"1", "x"}})},
                                            {"a/1", "x"}};
  for (const std::string kind : {"zip", "tar"}) {
    std::vector<PackedEntry> all = entries;
    if (kind == "tar") {
      all.push_back({.name = "other", .hard_link_to = "a/1"});
      all.push_back({.name = "null", .is_device = true});
    }
    write_bytes(dir.path() / "a.x", archive_bytes(kind, all));
    ArchiveReader in(dir.path() / "a.x");
    ASSERT_TRUE(in.next());
    EXPECT_EQ(in.name(), "a/1");
    EXPECT_FALSE(in.next());
    if (kind == "tar")
      EXPECT_THAT(in.left_out(), ElementsAre(Pair("archive in it", 1), Pair("device", 1), Pair("hidden file", 2),
                                             Pair("link", 2), Pair("unsafe name", 4)));
    else
      EXPECT_THAT(in.left_out(), ElementsAre(Pair("archive in it", 1), Pair("hidden file", 2), Pair("link", 1),
                                             Pair("unsafe name", 4)));
  }
}

TEST(ArchiveReader, ACutArchiveIsRefusedWhereverItIsCut) {
  ScratchFolder dir;
  const fs::path path = dir.path() / "a";
  std::string noise;
  for (std::uint32_t i = 0, x = 1; i < 3000; ++i) noise += static_cast<char>((x = x * 1664525 + 1013904223) >> 24);
  for (const std::string& kind : kKinds) {
    const std::string whole = archive_bytes(kind, {{"1", noise}, {"2", noise}, {"3", noise}});
    for (std::size_t cut = 0; cut + 1024 < whole.size(); cut += 509) {
      write_bytes(path, whole.substr(0, cut));
      expect_refused(path, "");
    }
  }
  // Cut between two files: 512 bytes of header and 3072 of content each.
  write_bytes(path, archive_bytes("tar", {{"1", noise}, {"2", noise}, {"3", noise}}).substr(0, 2 * 3584));
  expect_refused(path, "lacks the mark at the end");
}

TEST(ArchiveReader, AnEncryptedOneSaysSo) {
  ScratchFolder dir;
  write_bytes(dir.path() / "a.zip", archive_bytes("zip", {{"1", "secret"}}, "password"));
  expect_refused(dir.path() / "a.zip", "is encrypted; unpack it with its password");
}

TEST(ArchiveReader, HoldsItsLimits) {
  ScratchFolder dir;
  const fs::path path = dir.path() / "a.zip";
  write_bytes(path, archive_bytes("zip", {{"1", std::string(1'000'000, 'a')}, {"22", "b"}, {"3", "c"}}));
  EXPECT_EQ(names_in(path).size(), 3u);
  expect_refused(path, "more than 2 entries", {.most_entries = 2});
  expect_refused(path, "unpacks to more than 1.00 KiB", {.most_bytes = 1024});
  expect_refused(path, "more than 10 times its size", {.most_inflation = 10, .free_bytes = 1024}, "E_SIZE");
  expect_refused(path, "a name of 2 bytes", {.most_name_bytes = 1});
  for (const char* kind : {"tar.gz", "tar.xz"}) {
    write_bytes(path, archive_bytes(kind, {{".hidden", std::string(1'000'000, 'a')}, {"1", "b"}}));
    EXPECT_EQ(names_in(path).size(), 1u);
    expect_refused(path, "more than 10 times its size", {.most_inflation = 10, .free_bytes = 1024}, "E_SIZE");
    expect_refused(path, "unpacks to more than 1.00 KiB", {.most_bytes = 1024});
  }
  write_bytes(path, gzipped(archive_bytes("tar.gz", {{"1", "x"}}), dir.path()));
  expect_refused(path, "packed more than once");
  write_bytes(path, "no archive at all");
  expect_refused(path, "no zip or tar archive");
  write_bytes(path, "");
  expect_refused(path, "no zip or tar archive");
}

/// Returns an .xz file whose header asks for a dictionary of another size: its code is in the header of the first block
/// (The .xz File Format 1.1.0, 3.1 and 5.3.1), which ends with a checksum.
std::string with_dictionary(std::string xz, char code) {
  constexpr std::size_t kBlock = 12, kBytes = 8;  // behind the stream's header; without the checksum
  EXPECT_EQ(xz.substr(kBlock, 4), std::string("\x02\x00\x21\x01", 4)) << "one filter, LZMA2, without sizes";
  xz[kBlock + 4] = code;
  const auto sum =
      static_cast<std::uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(&xz[kBlock]), static_cast<uInt>(kBytes)));
  std::memcpy(&xz[kBlock + kBytes], &sum, sizeof sum);
  return xz;
}

TEST(ArchiveReader, ADecoderTakesNoMoreMemoryThanItMay) {
  ScratchFolder dir;
  const fs::path path = dir.path() / "a.tar.xz";
  const std::string bytes = archive_bytes("tar.xz", {{"1", "one"}});
  constexpr char k64MiB = 28, k128MiB = 30, k512MiB = 34;
  write_bytes(path, with_dictionary(bytes, k64MiB));
  EXPECT_THAT(names_in(path), ElementsAre("1")) << "as xz -9 packs";
  EXPECT_GE(unpacking_bytes(path), 65 << 20);
  EXPECT_LE(unpacking_bytes(path), 128 << 20);
  for (const char code : {k128MiB, k512MiB}) {
    write_bytes(path, with_dictionary(bytes, code));
    expect_refused(path, "of memory to unpack, more than the 96.00 MiB that its decoder may take");
  }
  write_bytes(path, bytes);
  EXPECT_THAT(names_in(path), ElementsAre("1"));
  expect_refused(path, "more than the 4.00 MiB", {.most_decoder_bytes = 4 << 20});
  write_bytes(path, bytes.substr(0, bytes.size() - 1) + "?");
  expect_refused(path, "cut or damaged");
}

TEST(ArchiveReader, FilesOfAZipArePackedInWaysWhoseMemoryIsBounded) {
  ScratchFolder dir;
  const fs::path path = dir.path() / "a.zip";
  std::string bytes = archive_bytes("zip", {{"1", std::string(1000, 'a')}});
  const auto set_method = [&](char method) {  // at byte 8 of the local header and 10 of the central one
    bytes[bytes.find("PK\3\4") + 8] = method, bytes[bytes.find("PK\1\2") + 10] = method;
    write_bytes(path, bytes);
  };
  set_method(8);
  EXPECT_THAT(names_in(path), ElementsAre("1"));
  for (const char method : {char{14}, char{95}, char{98}}) {  // LZMA, XZ, PPMd
    set_method(method);
    expect_refused(path, "whose memory has no bound");
  }
}

TEST(UnpackedArchive, FilesHaveNumbersForNames) {
  ScratchFolder dir;
  const fs::path path = dir.path() / "a.zip";
  write_bytes(path, archive_bytes("zip", {{"Miller/1.x", "one"}, {"Miller/notes", "-"}, {"Smith/2.x", "two"}}));
  const auto wanted = [](std::string_view name, std::string_view begin) {
    EXPECT_LE(begin.size(), 140u);
    return name.ends_with(".x") ? std::optional<std::string>(".nii") : std::nullopt;
  };
  const auto unpacked = unpack_archive(path, wanted);
  ASSERT_EQ(unpacked->files.size(), 2u);
  EXPECT_EQ(path_outside(unpacked->files[0].path), path / "1/1.nii");
  EXPECT_EQ(path_outside(unpacked->files[1].path), path / "2/3.nii");
  EXPECT_EQ(read_bytes(unpacked->files[1].path), "two");
  EXPECT_THAT(unpacked->left_out, ElementsAre(Pair("file of another kind", 1)));
  EXPECT_EQ(unpack_archive(path, wanted), unpacked) << "it is unpacked once";
  write_bytes(path, archive_bytes("zip", {{"1.x", "three"}}));
  EXPECT_EQ(unpack_archive(path, wanted)->files.size(), 1u) << "the file has changed";
}

}  // namespace
}  // namespace voxshard
