// Secrets in files: their bounds, who may read them, and the hash that they key.
#include "io/files/secret_file.h"

#include "tests/io/test_files.h"

namespace voxshard {
namespace {

/// Test cases 1, 2 and 6 of RFC 4231.
TEST(SecretFile, TheKeyedHashIsHmacSha256) {
  EXPECT_EQ(keyed_hash({std::string(20, '\x0b')}, "Hi There"),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(keyed_hash({"Jefe"}, "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(keyed_hash({std::string(131, '\xaa')}, "Test Using Larger Than Block-Size Key - Hash Key First"),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(SecretFile, TooShortTooLongAndMissingOnesAreRefusedWithoutAByteOfThem) {
  const ScratchFolder dir("secret");
  for (const std::string& text :
       {std::string("tooshort-secret"), std::string(kMostSecretBytes + 1, 's'), std::string()}) {
    dir.write("salt", text);
    try {
      read_secret(dir / "salt", "{id-salt}");
      ADD_FAILURE() << text.size();
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::kUsage);
      EXPECT_THAT(std::string(e.what()), testing::HasSubstr("{id-salt}"));
      EXPECT_THAT(std::string(e.what()), testing::Not(testing::HasSubstr("tooshort-secret")));
    }
  }
  expect_error(ErrorKind::kUsage, "none", [&] { read_secret(dir / "none", "{id-salt}"); });
  dir.write("salt", std::string(kLeastSecretBytes, 's'));
  EXPECT_EQ(read_secret(dir / "salt", "{id-salt}").bytes, std::string(kLeastSecretBytes, 's'));
}

TEST(SecretFile, OneThatOthersMayReadIsExposed) {
  const ScratchFolder dir("secret");
  dir.write("salt", std::string(32, 's'));
  for (const auto& [mode, exposed] : {std::pair(0600, false), {0400, false}, {0640, true}, {0604, true}}) {
    fs::permissions(dir / "salt", static_cast<fs::perms>(mode));
    EXPECT_EQ(read_secret(dir / "salt", "{id-salt}").exposed, exposed) << mode;
  }
}

}  // namespace
}  // namespace voxshard
