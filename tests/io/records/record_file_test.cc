// TFRecord files: what is written is read back, and no damaged bit passes unseen.
#include "io/records/record_file.h"

#include <zlib.h>

#include <cstring>

#include "io/records/crc32c.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> read_all(const fs::path& path) {
  RecordReader reader(path);
  std::vector<std::string> records;
  while (auto record = reader.next()) records.push_back(*record);
  return records;
}

void write_all(const fs::path& path, const std::vector<std::string>& records, RecordCompression compression) {
  RecordWriter writer(path, compression);
  for (const auto& record : records) writer.write(record);
  writer.commit();
}

/// Returns the head of a record that announces `length` bytes, with a valid checksum.
std::string head(std::uint64_t length) {
  std::string bytes(12, '\0');
  std::memcpy(bytes.data(), &length, 8);
  const std::uint32_t crc = masked_crc32c(bytes.substr(0, 8));
  std::memcpy(bytes.data() + 8, &crc, 4);
  return bytes;
}

std::string gzipped(const ScratchFolder& dir, const std::string& bytes) {
  gzFile out = gzopen((dir.path() / "z").c_str(), "wb");
  gzwrite(out, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(out);
  return read_bytes(dir.path() / "z");
}

TEST(Crc32c, IsThatOfRfc3720) {
  EXPECT_EQ(crc32c("123456789"), 0xE3069283U);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAU);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62A8AB43U);
}

TEST(RecordFile, RecordsAreReadBack) {
  ScratchFolder dir;
  // A length of 35615 begins with the mark of gzip.
  const std::vector<std::string> records = {std::string(35615, 'a'), "", "b", std::string(3'000'000, 'c')};
  for (const auto compression : {RecordCompression::kNone, RecordCompression::kGzip}) {
    write_all(dir.path() / "r.tfrecord", records, compression);
    EXPECT_EQ(read_all(dir.path() / "r.tfrecord"), records);
    EXPECT_EQ(first_record_bytes(dir.path() / "r.tfrecord"), 35615);
    EXPECT_EQ(dir.files(), 1u);
  }
  EXPECT_LT(fs::file_size(dir.path() / "r.tfrecord"), 20'000u);
}

TEST(RecordFile, AnUncommittedFileIsNotThere) {
  ScratchFolder dir;
  RecordWriter(dir.path() / "r.tfrecord", RecordCompression::kGzip).write("abc");
  EXPECT_EQ(dir.files(), 0u);
}

TEST(RecordFile, EveryFlippedBitIsNamedAndCostsItsRecordOrWhatFollows) {
  ScratchFolder dir;
  const std::vector<std::string> records = {"first", "second record", "third"};
  const fs::path path = dir.path() / "r.tfrecord";
  write_all(path, records, RecordCompression::kNone);
  const std::string whole = read_bytes(path);
  std::vector<std::size_t> ends;
  for (std::size_t at = 0; const auto& record : records) ends.push_back(at += 16 + record.size());
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    write_bytes(path, damaged);
    const std::size_t hit =
        static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), bit / 8) - ends.begin());
    const std::size_t offset = bit / 8 - (hit == 0 ? 0 : ends[hit - 1]);
    RecordReader reader(path);
    std::vector<std::string> read, refused;
    while (!reader.ended()) try {
        if (auto record = reader.next()) read.push_back(*record);
      } catch (const Error& e) {
        refused.push_back(e.what());
        EXPECT_STREQ(e.code(), "E_CHECKSUM");
      }
    ASSERT_EQ(refused.size(), 1u) << bit;
    EXPECT_THAT(refused[0], HasSubstr("r.tfrecord: record " + std::to_string(hit + 1) + " (at byte "));
    std::vector<std::string> expected = records;
    expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(hit),
                   offset < 12 ? expected.end() : expected.begin() + static_cast<std::ptrdiff_t>(hit) + 1);
    ASSERT_EQ(read, expected) << bit;
  }
}

TEST(RecordFile, NoFlippedBitOfGzipGivesOtherBytes) {
  ScratchFolder dir;
  const std::vector<std::string> records = {std::string(300, 'x') + "first", "second"};
  const fs::path path = dir.path() / "r.tfrecord";
  write_all(path, records, RecordCompression::kGzip);
  const std::string whole = read_bytes(path);
  int refused = 0;
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    write_bytes(path, damaged);
    try {
      RecordReader reader(path);
      while (auto record = reader.next())
        ASSERT_EQ(*record, records.at(static_cast<std::size_t>(reader.number()) - 1)) << bit;
    } catch (const Error& e) {
      ++refused;
      EXPECT_THAT(e.what(), HasSubstr("r.tfrecord"));
    }
  }
  EXPECT_GE(refused, static_cast<int>(8 * (whole.size() - 10))) << "all but bits of gzip's header";
}

TEST(RecordFile, WhatIsCutOffIsRefusedAtEveryLength) {
  ScratchFolder dir;
  const fs::path path = dir.path() / "r.tfrecord";
  write_all(path, {"first", "second"}, RecordCompression::kNone);
  const std::string plain = read_bytes(path), packed = gzipped(dir, plain);
  for (const std::string& whole : {plain, packed})
    for (std::size_t bytes = 1; bytes < whole.size(); ++bytes) {
      write_bytes(path, whole.substr(0, bytes));
      if (whole == plain && bytes == 21) continue;  // the end of the first record
      EXPECT_THROW(read_all(path), Error) << bytes;
    }
  write_bytes(path, "");
  expect_error(ErrorKind::kInput, "is empty", [&] { read_all(path); });
}

TEST(RecordFile, ALengthIsNotBelieved) {
  ScratchFolder dir;
  const fs::path path = dir.path() / "r.tfrecord";
  write_bytes(path, head(std::uint64_t{1} << 62) + "abc");
  EXPECT_EQ(first_record_bytes(path), 0);
  expect_error(ErrorKind::kInput, "has 4611686018427387904 bytes, more than 2147483647", [&] { read_all(path); });
  for (const std::string& bytes : {head(2'000'000'000) + "abc", gzipped(dir, head(2'000'000'000) + "abc")}) {
    write_bytes(path, bytes);
    expect_error(ErrorKind::kInput, "record 1 (at byte 0) is cut off", [&] { read_all(path); });
  }
  write_bytes(path, head(10) + std::string(14, 'a'));
  expect_error(ErrorKind::kInput, "more than 9 that are read here",
               [&] { RecordReader(path, {.most_bytes = 9}).next(); });
}

TEST(RecordFile, AGzipFileThatUnpacksBeyondTheLimitIsRefusedByTheHeadOfItsRecord) {
  ScratchFolder dir;
  const fs::path path = dir.path() / "r.tfrecord";
  const std::string zeros(100'000, '\0');
  write_all(path, {zeros, zeros, zeros}, RecordCompression::kGzip);
  RecordReader reader(path, {.most_inflation = 50, .free_inflation_bytes = 150'000});
  EXPECT_EQ(reader.next(), zeros) << "of what is free to any file";
  expect_error(ErrorKind::kInput,
               "record 2 (at byte 100016) ends at byte 200028 of what the file unpacks to, more than 50 times",
               [&] { reader.next(); });
  EXPECT_TRUE(reader.ended());
  write_all(path, {zeros, zeros, zeros}, RecordCompression::kNone);
  RecordReader plain(path, {.most_inflation = 0.5});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(plain.next(), zeros) << "nothing is unpacked";
}

TEST(RecordFile, ARecordBeyondItsShareOfMemoryIsRefusedByItsHead) {
  ScratchFolder dir;
  const fs::path path = dir.path() / "r.tfrecord";
  write_bytes(path, head(1'000'000) + "abc");
  try {
    RecordReader(path, {.memory_bytes = 999'999}).next();
    ADD_FAILURE() << "took it";
  } catch (const Error& e) {
    EXPECT_STREQ(e.code(), "E_BUDGET");
    EXPECT_THAT(e.what(), HasSubstr("has 1000000 bytes, more than 999999 for which there is memory"));
  }
}

TEST(RecordFile, OtherFilesAreRefused) {
  ScratchFolder dir;
  write_bytes(dir.path() / "a", std::string("\x78\x9c") + "abcdefghijklmnop");
  expect_error(ErrorKind::kInput, "ZLIB", [&] { read_all(dir.path() / "a"); });
  write_bytes(dir.path() / "a", "{\"images\": [], \"annotations\": []}");
  expect_error(ErrorKind::kInput, "this is no TFRecord file", [&] { read_all(dir.path() / "a"); });
  expect_error(ErrorKind::kInput, "cannot be read", [&] { read_all(dir.path()); });
}

TEST(RecordName, IsThatOfTheFieldsFiles) {
  for (const auto& [name, stem] :
       std::vector<std::pair<std::string, std::string>>{{"instance-3-0.tfrecords", "instance-3-0"},
                                                        {"a.tfrecord", "a"},
                                                        {"a.b.TFRecord.gz", "a.b"},
                                                        {"train.tfrecord-00003-of-00010", "train-00003-of-00010"},
                                                        {"train-00003-of-00256", "train-00003-of-00256"}}) {
    EXPECT_TRUE(is_record_name(name)) << name;
    EXPECT_EQ(record_stem("/x/" + name), stem);
  }
  for (const char* name : {"a.json", ".tfrecord", "a.nii.gz", "train-3-of-256"})
    EXPECT_FALSE(is_record_name(name)) << name;
}

}  // namespace
}  // namespace voxshard
