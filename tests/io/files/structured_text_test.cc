// JSON, TOML and XML from outside: read when sound, refused with the place when not, and bounded before a parser runs.
#include "io/files/structured_text.h"

#include <nlohmann/json.hpp>
#include <pugixml.hpp>

#include "io/boxes/voc.h"
#include "io/datasets/dataset.h"
#include "io/files/config_file.h"
#include "io/files/safetensors.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

using nlohmann::json;

constexpr int kBrackets = 200'000;

std::string repeated(const std::string& piece, int times = kBrackets) {
  std::string text;
  for (int i = 0; i < times; ++i) text += piece;
  return text;
}

json parsed(const std::string& text, const TextLimits& limits = kDataLimits) {
  return parse_json(text, {.path = "a.json", .limits = limits});
}
json parsed_toml(const std::string& text) { return parse_toml(text, {.path = "a.toml"}); }

TEST(StructuredText, JsonAsDeepAsTheLimitIsReadAndNoDeeper) {
  const auto nested = [](int levels) { return repeated("[", levels) + repeated("]", levels); };
  EXPECT_EQ(parsed(nested(64)).size(), 1u);
  expect_error(ErrorKind::kInput, "a.json:2: is nested deeper than 64 levels", [&] { parsed("\n" + nested(65)); });
  for (const std::string& text :
       {nested(kBrackets), repeated("["), repeated("{\"a\":") + "1" + repeated("}"), repeated("[{\"a\":")})
    expect_error(ErrorKind::kInput, "nested deeper", [&] { parsed(text); });
}

TEST(StructuredText, BracketsInStringsOfJsonAreNoLevels) {
  const json value = parsed("{\"" + repeated("[") + "\\\"" + repeated("[") + "\\\\\": [\"]\", 1]}");
  EXPECT_EQ(value.size(), 1u);
  EXPECT_EQ(value.begin().key().size(), 2u * kBrackets + 2);
}

TEST(StructuredText, BytesAndValuesAreBounded) {
  const TextLimits limits{.bytes = 20, .depth = 4, .values = 5};
  EXPECT_EQ(parsed("[1,2,3,4,5]", limits).size(), 5u);
  expect_error(ErrorKind::kInput, "more than 5 values", [&] { parsed("[1,2,3,4,5,6]", limits); });
  expect_error(ErrorKind::kInput, "more than 20 bytes", [&] { parsed(std::string(21, ' '), limits); });
  ScratchFolder dir;
  write_bytes(dir.path() / "a.json", std::string(3 << 20, ' '));
  const TextSource source{.path = dir.path() / "a.json", .limits = {.bytes = 1 << 20, .depth = 4, .values = 5}};
  expect_error(ErrorKind::kInput, "more than 1048576 bytes", [&] { read_text(source); });
}

TEST(StructuredText, BadJsonNamesItsLine) {
  expect_error(ErrorKind::kInput, "a.json:3: is not valid JSON", [] { parsed("{\n\"a\": 1,\n oops"); });
  expect_error(ErrorKind::kInput, "a.json: is not valid JSON", [] { parsed("[1e999]"); });
  for (const char* text : {"", "]]]]", "[1] [2]", "\"a\n\"", "\xff"})
    expect_error(ErrorKind::kInput, "JSON", [&] { parsed(text); });
}

json parsed_without(const std::string& text, const std::string& name) {
  return parse_json(text, {.path = "a.json", .limits = kDataLimits}, name);
}

TEST(StructuredText, WhatIsLeftOutIsGoneWithAllThatItHolds) {
  for (const char* value : {"null", "true", "-3", "2.5", "\"text\"", "[]", "{}", "[[1, 2], {\"b\": [3]}]",
                            R"({"x": {"a": 1, "out": [2]}, "y": [{"out": 3}]})"}) {
    const std::string entry = "{\"a\": 1, \"out\": " + std::string(value) + ", \"b\": [\"out\", {\"c\": 2}]}";
    const json wanted = {{"a", 1}, {"b", {"out", {{"c", 2}}}}};
    EXPECT_EQ(parsed_without(entry, "out"), wanted) << value;
    EXPECT_EQ(parsed_without("[" + entry + ", {\"out\": " + value + "}, 7]", "out"), json({wanted, json::object(), 7}));
    EXPECT_EQ(parsed_without("{\"out\": " + std::string(value) + "}", "out"), json::object());
  }
}

TEST(StructuredText, WhereNothingIsLeftOutTheTreeIsTheSame) {
  for (const char* text : {"null", "true", "\"out\"", "-9223372036854775808", "18446744073709551615", "1e-400", "0.1",
                           "[]", "{}", R"({"b": [2], "a": {"b": 3}, "c": {"a": [[], {}, [{}]]}})",
                           R"([1, -1, 1.0, "\u00e9\n", [null, false], {"": {"": [""]}}])"})
    for (const char* name : {"out", ""}) EXPECT_EQ(parsed_without(text, name), json::parse(text)) << text;
  EXPECT_EQ(parsed_without("[1, 1.0]", "out").dump(), "[1,1.0]");
}

TEST(StructuredText, WhatIsLeftOutMustBeJsonWithinTheLimits) {
  for (const std::string& text :
       {std::string("{\"out\": oops}"), std::string("{\"out\": [1e999]}"), std::string("{\"out\": [1, 2}"),
        std::string("{\"out\": [1]} 2"), "{\"out\": " + repeated("[") + repeated("]") + "}"}) {
    const auto message = [&](const std::string& name) -> std::string {
      try {
        parsed_without(text, name);
      } catch (const Error& error) {
        return error.what();
      }
      return "";
    };
    EXPECT_EQ(message("out"), message("")) << text;
    EXPECT_THAT(message("out"), testing::HasSubstr("a.json"));
  }
}

TEST(StructuredText, TomlAsDeepAsTheLimitIsReadAndNoDeeper) {
  EXPECT_EQ(parsed_toml("a" + repeated(".b", 60) + " = 1").size(), 1u);
  EXPECT_EQ(parsed_toml("a = " + repeated("[", 64) + repeated("]", 64)).size(), 1u);
  for (const std::string& text :
       {"a" + repeated(".b") + " = 1", "[a" + repeated(".b") + "]\nc = 1", "[[a" + repeated(".\"b\"") + "]]\nc = 1",
        "a = " + repeated("[") + repeated("]"), "a = " + repeated("{b = ") + "1" + repeated("}"),
        "a = " + repeated("{b.c = [") + "1", "a = {" + repeated("b.", 40) + "c = {" + repeated("b.", 40) + "c = 1}}"})
    expect_error(ErrorKind::kInput, "a.toml:", [&] { parsed_toml(text); });
  for (const std::string& text : {"a" + repeated(".b") + " = 1", "x = 1\na = {" + repeated("b . ") + "c = 1}"})
    expect_error(ErrorKind::kInput, "nested deeper than 64 levels", [&] { parsed_toml(text); });
}

TEST(StructuredText, BracketsAndDotsInStringsOfTomlAreNoLevels) {
  const std::string many = repeated("[.{");
  const json value =
      parsed_toml("# " + many + "\na = \"\\\"" + many + "\"\nb = '" + many + "'\nc = \"\"\"x\n\"\" \\\"\"\" " + many +
                  "\"\"\"\"\nd = '''\n''" + many + "'''\ne = [1.5, 2.5, 3.5] # " + many);
  EXPECT_EQ(value.size(), 5u);
  EXPECT_EQ(value["e"][2], 3.5);
  EXPECT_EQ(parsed_toml("a = [" + repeated("1.5,", 1000) + "\n" + repeated("[0.5, 1.5],\n", 1000) + "]")["a"].size(),
            2000u);
}

TEST(StructuredText, XmlIsBoundedToo) {
  const auto read = [](const std::string& text) {
    pugi::xml_document xml;
    parse_xml(xml, text, {.path = "a.xml", .limits = {.bytes = 10 << 20, .depth = 64, .values = 300'000}});
    return std::string(xml.first_child().name());
  };
  EXPECT_EQ(read(repeated("<a>", 64) + repeated("</a>", 64)), "a");
  expect_error(ErrorKind::kInput, "a.xml: is nested deeper than 64 levels",
               [&] { read(repeated("<a>", 100'000) + repeated("</a>", 100'000)); });
  expect_error(ErrorKind::kInput, "more than 300000 values", [&] { read("<a>" + repeated("<b/>", 300'000) + "</a>"); });
  expect_error(ErrorKind::kInput, "is not valid XML", [&] { read("<a>"); });
}

/// Every reader of files that holds such text, on 200,000 brackets.
TEST(StructuredText, DeepFilesAreRefusedByEachReader) {
  ScratchFolder dir;
  const std::string deep = repeated("[") + repeated("]"), bracketed = "{\"a\":" + deep + "}";
  const fs::path file = dir.path() / "dataset.json";
  write_bytes(file, bracketed);
  expect_error(ErrorKind::kInput, "nested deeper", [&] { read_json(file); });
  expect_error(ErrorKind::kConfig, "nested deeper", [&] { read_config(file); });
  expect_error(ErrorKind::kInput, "nested deeper", [&] { read_dataset(dir.path()); });
  expect_error(ErrorKind::kInput, "nested deeper", [&] { read_splits(file); });
  const std::uint64_t length = bracketed.size();
  write_bytes(dir.path() / "a.safetensors", std::string(reinterpret_cast<const char*>(&length), 8) + bracketed);
  expect_error(ErrorKind::kCheckpoint, "header that is nested deeper",
               [&] { load_safetensors(dir.path() / "a.safetensors"); });
  write_bytes(dir.path() / "voc/JPEGImages/a.jpg", "");
  write_bytes(dir.path() / "voc/Annotations/a.xml",
              "<annotation>" + repeated("<object>") + repeated("</object>") + "</annotation>");
  const auto notes = read_voc(dir.path() / "voc").notes;
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_THAT(notes[0].message, testing::StartsWith("is nested deeper"));
}

TEST(StructuredText, ANameThatAnObjectHasTwiceIsRefusedInJsonAsInTomlAndYaml) {
  for (const char* text :
       {R"({"steps": 1, "batch": 2, "steps": 3})", R"([{"a": {"b": 1, "b": 1}}])", R"({"a": [], "a": {}})"})
    expect_error(ErrorKind::kInput, "twice in one object; keep one", [&] { parsed(text); });
  EXPECT_EQ(parsed(R"([{"a": 1, "b": {"a": 2}}, {"a": 3}])")[1]["a"], 3) << "in two objects it is no second one";
  EXPECT_ANY_THROW(parsed_toml("a = 1\na = 2\n"));
  EXPECT_ANY_THROW(parse_yaml("a: 1\na: 2\n", {.path = "a.yaml"}));
  const json dropped = parse_json(R"([{"x": 1, "x": 2, "y": 3}])", {.path = "a.json"}, "x");
  EXPECT_EQ(dropped, json::parse(R"([{"y": 3}])")) << "what nobody reads";
}

TEST(StructuredText, MessagesBetweenRanksAreBoundedInDepth) {
  const json list = {{"a", {1, 2, {{"b", "text"}}}}};
  std::string packed;
  json::to_cbor(list, packed);
  EXPECT_EQ(unpack_cbor(packed), list);
  expect_error(ErrorKind::kInternal, "damaged", [] { unpack_cbor(std::string(kBrackets, '\x81')); });  // lists of one
  expect_error(ErrorKind::kInternal, "damaged",
               [] { unpack_cbor("\x9b\x7f\xff\xff\xff\xff\xff\xff\xff"); });  // of 2^63
}

}  // namespace
}  // namespace voxshard
