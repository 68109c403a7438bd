// YAML from outside: what words mean, and what is refused with its line before it grows.
#include <cmath>

#include "io/files/structured_text.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

json parsed_yaml(const std::string& text, const TextLimits& limits = kConfigLimits) {
  return parse_yaml(text, {.path = "a.yaml", .kind = ErrorKind::kConfig, .tag = "[config] ", .limits = limits});
}
void expect_refused(const std::string& piece, const std::string& text) {
  expect_error(ErrorKind::kConfig, piece, [&] { parsed_yaml(text); });
}

TEST(Yaml, WordsMeanWhatPyYamlTakesThemFor) {
  for (const auto& [text, value] : std::vector<std::pair<std::string, json>>{
           {"true", true},     {"Yes", true},
           {"off", false},     {"~", nullptr},
           {"", nullptr},      {"None", "None"},
           {"12", 12},         {"-7", -7},
           {"0x1F", 31},       {"0o17", 15},
           {"0", 0},           {"0.5", 0.5},
           {"1.", 1.0},        {".5", 0.5},
           {"5e-5", 5e-5},     {"1.0e+3", 1000.0},
           {"'12'", "12"},     {"\"yes\"", "yes"},
           {"!!str 12", "12"}, {"60m", "60m"},
           {"1x2x2", "1x2x2"}, {"[1, [None, 2.5], {b: c}]", {1, {"None", 2.5}, {{"b", "c"}}}}})
    EXPECT_EQ(parsed_yaml("a: " + text), json({{"a", value}})) << text;
  EXPECT_TRUE(std::isnan(parsed_yaml("a: .nan").at("a").get<double>()));
  EXPECT_EQ(parsed_yaml("a: -.inf").at("a"), -INFINITY);
  EXPECT_EQ(parsed_yaml("# nothing\n"), json::object());
  EXPECT_EQ(parsed_yaml("3: x\ny: z\n"), json({{"3", "x"}, {"y", "z"}}));
}

TEST(Yaml, AliasesAndMergesAreWhatTheyStandFor) {
  EXPECT_EQ(parsed_yaml("a: &d [1, 4]\nb: *d\n"), json({{"a", {1, 4}}, {"b", {1, 4}}}));
  EXPECT_EQ(parsed_yaml("base: &b {x: 1, y: 2}\nmore:\n  <<: *b\n  y: 3\n").at("more"), json({{"x", 1}, {"y", 3}}));
}

TEST(Yaml, WhatMeansTwoThingsIsRefused) {
  expect_refused("a.yaml:2: has the name \"a\" twice", "a: 1\na: 2\n");
  expect_refused("a.yaml:1: 010 is a number to base 8 for some", "a: 010\n");
  expect_refused("begins a second document", "a: 1\n---\nb: 2\n");
  expect_refused("has the tag tag:yaml.org,2002:python/tuple", "a: !!python/tuple [1, 2]\n");
  expect_refused("a list or a map where a name is expected", "? [1, 2]\n: 3\n");
  expect_refused("is a number beyond 64 bits", "a: 99999999999999999999\n");
  expect_refused("is no UTF-8", "a: \xff\n");
  expect_refused("merges with << what is no map", "a: {<<: 3}\n");
}

TEST(Yaml, BadTextNamesItsLine) {
  expect_refused("a.yaml:4:1: is not valid YAML", "a: 1\nb: [1,\nc: 2\n");
  expect_refused("a.yaml:1:", "a: [[1, 4], None]]\n");
  expect_refused("a.yaml:2:", "a:\n\t- 1\n");
  expect_refused("a.yaml:1:", "a: *nowhere\n");
}

TEST(Yaml, DepthIsBoundedInEveryForm) {
  const auto repeated = [](const std::string& piece, int times) {
    std::string text;
    for (int i = 0; i < times; ++i) text += piece;
    return text;
  };
  EXPECT_EQ(parsed_yaml(repeated("[", 64) + repeated("]", 64)).size(), 1u);
  for (const std::string& text :
       {repeated("[", 65) + repeated("]", 65), repeated("{a: ", 65) + repeated("}", 65), repeated("- ", 200'000) + "x"})
    expect_error(ErrorKind::kConfig, "nested deeper than 64 levels", [&] { parsed_yaml(text); });
  for (const char* piece :
       {"[", "{a: ", "? ", "[{", "- ? ", "&a [", "!!seq ["})  // refused at one place or another, and at once
    EXPECT_THROW(parsed_yaml(repeated(piece, 200'000) + "x"), Error) << piece;
}

TEST(Yaml, AliasesCountAsAllThatTheyStandFor) {
  std::string laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 30; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    laughs += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + last;
    for (int k = 1; k < 10; ++k) laughs += ", " + last;
    laughs += "]\n";
  }
  expect_refused("makes more than 1000000 values, anchors and aliases counted as what they stand for", laughs);
  std::string bytes = "a: &a " + std::string(1 << 20, 'x') + "\nb: [*a";
  for (int i = 0; i < 40; ++i) bytes += ", *a";
  expect_refused("makes more than 16777216 bytes", bytes + "]\n");
  expect_refused("an alias for something that holds it", "a: &a [1, *a]\n");
  std::string deep = "a0: &a0 [[[[[[[[1]]]]]]]]\n";
  for (int i = 1; i < 9; ++i)
    deep += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [[[[[[[[*a" + std::to_string(i - 1) + "]]]]]]]]\n";
  expect_refused("nested deeper than 64 levels", deep);
}

TEST(Yaml, AnchorsCountAsTheCopiesThatTheyAre) {
  const auto nested = [](int anchors, int values) {
    std::string text = "a: ";
    for (int i = 0; i < anchors; ++i) text += "&a" + std::to_string(i) + " [";
    for (int i = 0; i < values; ++i) text += "x, ";
    return text + std::string(static_cast<std::size_t>(anchors), ']') + "\n";
  };
  EXPECT_TRUE(parsed_yaml(nested(60, 1000)).contains("a"));
  expect_refused("makes more than 1000000 values, anchors and aliases counted", nested(60, 100'000));
  std::string bytes = "a: ";
  for (int i = 0; i < 20; ++i) bytes += "&a" + std::to_string(i) + " [";
  expect_refused("makes more than 16777216 bytes", bytes + std::string(1 << 20, 'x') + std::string(20, ']') + "\n");
}

TEST(Yaml, ATextHoldsNoControlCharacterBesideTabsAndLineEnds) {
  EXPECT_EQ(parsed_yaml("a: \"x\\n\\ty\"\n").at("a"), "x\n\ty");
  for (const char* text : {"a: \"\\e[2J\"\n", "a: \"x\\n\\e[2J\"\n", "a: \"\\t\\b\"\n", "\"k\\n\\e\": 1\n"})
    expect_refused("has a text that holds a control character", text);
}

}  // namespace
}  // namespace voxshard
