// Lists and dictionaries in the syntax of Python, the correction of their brackets, and lines of config files.
#include "pipelines/tpu/tpu_config_text.h"

#include "pipelines/tpu/tpu_config.h"
#include "pipelines/tpu/tpu_config_line.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

using nlohmann::json;

TEST(ValueFromText, ReadsListsTuplesAndDictionaries) {
  EXPECT_EQ(value_from_text("[[1, 4, 1, 1], None]"), json::parse("[[1, 4, 1, 1], null]"));
  EXPECT_EQ(value_from_text(" ( [1,4 , 1,1,],null ) "), json::parse("[[1, 4, 1, 1], null]"));
  EXPECT_EQ(value_from_text("[{image: [1, 4], 'mask': None, \"boxes\": {3: (1, 2), -4: []}}, None,]"),
            json::parse(R"([{"image": [1, 4], "mask": null, "boxes": {"3": [1, 2], "-4": []}}, null])"));
  EXPECT_EQ(value_from_text("{}"), json::object());
  EXPECT_EQ(value_from_text("[True, false, PER_HOST_V2, -12, 'a b']"),
            json::parse(R"([true, false, "PER_HOST_V2", -12, "a b"])"));
}

TEST(ValueFromText, NumbersBetweenCommasNeedNoBrackets) {
  EXPECT_EQ(value_from_text("1,8,1,1,1"), json::parse("[1, 8, 1, 1, 1]"));
  EXPECT_EQ(value_from_text("8"), json(8));
}

TEST(ValueFromText, WhatItWritesItReads) {
  for (const char* text : {"[[1, 4, 1, 1], None]", "[{\"image\": [1, 4], \"mask\": None}, {}]", "[]", "[True, 7]"}) {
    EXPECT_EQ(to_text(value_from_text(text), TextStyle::kPython), text);
    EXPECT_EQ(json::parse(to_text(value_from_text(text), TextStyle::kJson)), value_from_text(text));
  }
  EXPECT_EQ(to_text(value_from_text("[{a: None}]"), TextStyle::kToml), R"([{"a" = "None"}])");
}

TEST(ValueFromText, SaysWhereItStumbled) {
  for (const auto& [text, piece] : std::vector<std::pair<std::string, std::string>>{
           {"[[1, 4, 1, 1], None]]", "\"]\" follows a value that is complete at character 21"},
           {"[[1, 4", "the closing \"]\" is missing at character 7"},
           {"[1 2]", "expected a comma or \"]\", got \"2\" at character 4"},
           {"[1, , 2]", "\",\" does not begin a value at character 5"},
           {"{image [1]}", "expected \":\" after the key \"image\""},
           {"{a: 1, a: 2}", "the key \"a\" is given twice"},
           {"{[1]: 2}", "expected a key"},
           {"['image]", "the closing quote is missing"},
           {"", "a value is missing"},
           {"(1, 2]", "expected a comma or \")\""},
           {std::string(40, '['), "32 levels"}})
    expect_error(ErrorKind::kConfig, piece, [&] { value_from_text(text); });
}

TEST(Mended, OneBracketMoreOrLess) {
  const auto better = [](const std::string& text) { return mended(text, is_input_partition_dims).value_or("none"); };
  EXPECT_EQ(better("[[1, 4, 1, 1], None]]"), "[[1, 4, 1, 1], None]");  // the example of the documentation
  EXPECT_EQ(better("[[1, 4, 1, 1], None]])"), "[[1, 4, 1, 1], None]");
  EXPECT_EQ(better("[[1, 4, 1, 1], None"), "[[1, 4, 1, 1], None]");
  EXPECT_EQ(better("[[1, 4, 1, 1, None]"), "[[1, 4, 1, 1], None]");
  EXPECT_EQ(better("[1, 4, 1, 1], None]"), "[[1, 4, 1, 1], None]");
  EXPECT_EQ(better("[[1, 4, 1, 1]"), "[[1, 4, 1, 1]]");
  EXPECT_EQ(better("[{image: [1, 4, 1, 1], mask: None, None]"), "[{image: [1, 4, 1, 1], mask: None}, None]");
  EXPECT_EQ(better("[[1, four]"), "none");
  EXPECT_EQ(better("dims"), "none");
}

TEST(MendedLine, OfAConfigFileInItsOwnLanguage) {
  const std::string documented = "input_partition_dims=[[1, 4, 1, 1], None]]";
  EXPECT_EQ(mended_dims_line(documented, ConfigForm::kToml), R"(input_partition_dims = [[1, 4, 1, 1], "None"])");
  EXPECT_EQ(mended_dims_line(documented, ConfigForm::kJson), R"("input_partition_dims": [[1, 4, 1, 1], null])");
  EXPECT_EQ(mended_dims_line(R"({"input_partition_dims": [[1, 4, 1, 1], None]]})", ConfigForm::kJson),
            R"("input_partition_dims": [[1, 4, 1, 1], null])");
  EXPECT_EQ(mended_dims_line("input_partition_dims = [{'image': [1, 4, 1, 1], mask: None}, None]", ConfigForm::kJson),
            R"("input_partition_dims": [{"image": [1, 4, 1, 1], "mask": null}, null])");
  EXPECT_EQ(mended_dims_line(R"(input_partition_dims=[[1,4,1,1],"None"])", ConfigForm::kToml), std::nullopt)
      << "nothing is wrong";
  EXPECT_EQ(mended_dims_line("input_partition_dims = [", ConfigForm::kToml), std::nullopt);
  EXPECT_EQ(mended_dims_line("input_partition_dims: [[1, 4, 1, 1], None]]", ConfigForm::kYaml),
            "input_partition_dims: [[1, 4, 1, 1], None]");
  EXPECT_EQ(mended_dims_line("input_partition_dims: [[1, 4, 1, 1], None]", ConfigForm::kYaml), std::nullopt);
  EXPECT_EQ(mended_dims_line("", ConfigForm::kToml), std::nullopt);
  EXPECT_EQ(mended_dims_line("dims = [[1, 4, 1, 1], None]]", ConfigForm::kToml), std::nullopt);
}

}  // namespace
}  // namespace voxshard
