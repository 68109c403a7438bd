// Hashes of content: equal to those of the xxhash tools, whatever the pieces, and different where one bit is.
#include "io/files/content_hash.h"

#include "tests/io/test_files.h"

namespace voxshard {
namespace {

// printf '' | xxhsum -H2 and printf voxshard | xxhsum -H2, xxhash 0.8.1.
TEST(ContentHash, IsThatOfXxhsum) {
  EXPECT_EQ(content_hash(""), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(content_hash("voxshard"), "e9bf4de49802ac2845878d332ce4d53c");
}

TEST(ContentHash, PiecesDoNotMatterAndOneBitDoes) {
  std::string bytes(3'000'001, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 2654435761u >> 13);
  const std::string whole = content_hash(bytes);
  ContentHash pieces;
  for (std::size_t at = 0; at < bytes.size(); at += 70001) pieces.add(std::string_view(bytes).substr(at, 70001));
  EXPECT_EQ(pieces.text(), whole);
  ScratchFolder dir;
  write_bytes(dir.path() / "a", bytes);
  EXPECT_EQ(file_hash(dir.path() / "a"), whole);
  bytes[1'500'000] = static_cast<char>(bytes[1'500'000] ^ 1);
  EXPECT_NE(content_hash(bytes), whole);
}

TEST(ContentHash, AMissingFileIsNamed) {
  expect_error(ErrorKind::kInput, "/nowhere/at/all", [] { file_hash("/nowhere/at/all"); });
  expect_error(ErrorKind::kInput, "/", [] { file_hash("/"); });
}

}  // namespace
}  // namespace voxshard
