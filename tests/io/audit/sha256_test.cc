// SHA-256 against the examples of FIPS 180-4, and the hash of several files against what the page says.
#include "io/audit/sha256.h"

#include <gtest/gtest.h>

#include "tests/expect_error.h"
#include "tests/scratch_folder.h"

namespace voxshard {
namespace {

TEST(Sha256, IsThatOfTheStandard) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256(std::string(1'000'000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, OfAFileIsThatOfItsBytesHoweverLong) {
  const ScratchFolder folder("sha256");
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{1}, (std::size_t{1} << 20) - 1, std::size_t{1} << 20, (std::size_t{1} << 20) + 1}) {
    folder.write("a", std::string(bytes, 'x'));
    EXPECT_EQ(file_sha256(folder / "a"), sha256(std::string(bytes, 'x'))) << bytes;
  }
  expect_error(ErrorKind::kInput, "none", [&] { file_sha256(folder / "none"); });
}

TEST(Sha256, OfSeveralFilesDependsOnNeitherTheirOrderNorTheirNames) {
  const ScratchFolder folder("sha256");
  folder.write("a", "one"), folder.write("b", "two"), folder.write("c", "one");
  EXPECT_EQ(files_sha256({folder / "a"}), sha256("one"));
  std::string first = sha256("one"), second = sha256("two");
  if (second < first) std::swap(first, second);
  EXPECT_EQ(files_sha256({folder / "a", folder / "b"}), sha256(first + "\n" + second + "\n"));
  EXPECT_EQ(files_sha256({folder / "b", folder / "c"}), files_sha256({folder / "a", folder / "b"}));
}

TEST(Sha256, DigitsAreLowerCaseAnd64) {
  EXPECT_TRUE(is_sha256(sha256("")));
  for (const std::string& wrong : {std::string(), std::string(63, 'a'), std::string(65, 'a'), std::string(64, 'A')})
    EXPECT_FALSE(is_sha256(wrong)) << wrong;
}

}  // namespace
}  // namespace voxshard
