// tf.Example: there and back, its bytes by hand, and records that ask for more than they hold.
#include "io/records/tf_example.h"

#include "tests/io/test_files.h"

namespace voxshard {
namespace {

TfExample small_example() {
  TfExample example;
  example.features["b"] = BytesList{"x", std::string("\0\xff", 2)};
  example.features["f"] = FloatList{1.5F, -2};
  example.features["n"] = Int64List{-1, std::int64_t{1} << 60};
  return example;
}

/// Returns a message's field of bytes.
std::string field(int number, const std::string& body) {
  std::string bytes(1, static_cast<char>(number << 3 | 2));
  for (std::size_t left = body.size();; left >>= 7) {
    if (left < 128) return bytes + static_cast<char>(left) + body;
    bytes += static_cast<char>((left & 127) | 128);
  }
}
std::string example_of(const std::string& name, const std::string& feature) {
  return field(1, field(1, field(1, name) + field(2, feature)));
}

TEST(TfExample, IsReadAsItWasWritten) {
  const TfExample read = parse_example(serialized(small_example()));
  EXPECT_EQ(read.features, small_example().features);
  EXPECT_EQ(serialized(read), serialized(small_example()));
}

TEST(TfExample, HasTheBytesOfTensorFlow) {
  TfExample example;
  example.features["a"] = Int64List{3, 300};
  // Example { features { feature { key "a" value { int64_list { 3, 300 packed } } } } }
  EXPECT_EQ(serialized(example), example_of("a", field(3, field(1, "\x03\xac\x02"))));
  EXPECT_EQ(int64_list(parse_example(example_of("a", field(3, "\x08\x03\x08\x07"))), "a"), (Int64List{3, 7}))
      << "not packed";
}

TEST(TfExample, FeaturesOfAnotherKindAreNamed) {
  const TfExample example = small_example();
  EXPECT_EQ(float_list(example, "f"), (FloatList{1.5F, -2}));
  expect_error(ErrorKind::kInput, "has no feature image/encoded", [&] { bytes_feature(example, "image/encoded"); });
  expect_error(ErrorKind::kInput, "has floats as the feature f; expected whole numbers",
               [&] { int64_list(example, "f"); });
  expect_error(ErrorKind::kInput, "has 2 values in the feature b; expected one", [&] { bytes_feature(example, "b"); });
  EXPECT_TRUE(float_list(parse_example(example_of("e", "")), "e").empty()) << "of no kind";
}

TEST(TfExample, OtherBytesAreRefused) {
  for (const std::string& bytes : {std::string("\x0a\xff\xff\xff\xff\x0f"), std::string("{}"), std::string("\x0b"),
                                   serialized(small_example()).substr(1)})
    expect_error(ErrorKind::kInput, "is no tf.Example", [&] { parse_example(bytes); });
  EXPECT_TRUE(parse_example("").features.empty());
}

TEST(TfExample, WhatTwoBytesBlowUpToIsBounded) {
  std::string empty_strings;
  for (std::int64_t i = 0; i < kMostStrings + 1000; ++i) empty_strings += std::string("\x0a\0", 2);
  expect_error(ErrorKind::kInput, "more than 1000000 byte strings",
               [&] { parse_example(example_of("a", field(1, empty_strings))); });
  const std::string zeros(static_cast<std::size_t>(kMostWholeNumbers) + 1000, '\0');
  expect_error(ErrorKind::kInput, "more than 10000000 whole numbers",
               [&] { parse_example(example_of("a", field(3, field(1, zeros)))); });
  std::string entries;
  for (std::int64_t i = 0; i < kMostFeatures + 1000; ++i) entries += field(1, field(1, std::to_string(i)));
  expect_error(ErrorKind::kInput, "more than 4096 features", [&] { parse_example(field(1, entries)); });
}

}  // namespace
}  // namespace voxshard
