// Files of JSON lines: whole lines are read, a torn one is not; other bytes are counted or refused within bounds.
#include "io/files/json_lines.h"

#include "tests/io/test_files.h"

namespace voxshard {
namespace {

/// Returns the values of "n" in the lines that are read.
std::vector<int> numbers(JsonLines& lines) {
  std::vector<int> all;
  while (const auto line = lines.next()) all.push_back(line->value("n", -1));
  return all;
}

class JsonLinesFile : public testing::Test {
 protected:
  JsonLines lines_of(const std::string& bytes, const JsonLinesPart& part = {}) {
    write_bytes(path(), bytes);
    return JsonLines(path(), part);
  }
  fs::path path() const { return scratch_.path() / "a.jsonl"; }

 private:
  ScratchFolder scratch_{"json_lines"};
};

TEST_F(JsonLinesFile, AreReadUpToTheLastWholeOneWhereverTheFileIsTorn) {
  const std::string whole = "{\"n\":1}\n{\"n\":22}\n";
  for (std::size_t bytes = 0; bytes <= whole.size(); ++bytes) {
    JsonLines lines = lines_of(whole.substr(0, bytes));
    std::vector<int> expected;
    if (bytes >= 8) expected.push_back(1);
    if (bytes == whole.size()) expected.push_back(22);
    EXPECT_EQ(numbers(lines), expected) << bytes;
    EXPECT_EQ(lines.torn(), bytes > 0 && bytes != 8 && bytes != whole.size()) << bytes;
    EXPECT_EQ(lines.damaged(), 0);
  }
}

TEST_F(JsonLinesFile, OfTheLastBytesOnlyWholeLinesAreRead) {
  const std::string bytes = "{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n";
  const std::map<std::int64_t, std::vector<int>> expected = {
      {7, {}}, {8, {3}}, {9, {3}}, {15, {3}}, {16, {2, 3}}, {23, {2, 3}}, {24, {1, 2, 3}}, {1000, {1, 2, 3}}};
  for (const auto& [last, all] : expected) {
    JsonLines lines = lines_of(bytes, {.last_bytes = last});
    EXPECT_EQ(numbers(lines), all) << last;
    EXPECT_EQ(lines.damaged(), 0);
  }
}

TEST_F(JsonLinesFile, OtherLinesAreLeftOutAndCounted) {
  JsonLines lines = lines_of("{\"n\":1}\n\n[1]\n{\"n\":\nnull\n" + std::string(1, '\0') + "\n{\"n\":2}\n");
  EXPECT_EQ(numbers(lines), (std::vector<int>{1, 2}));
  EXPECT_EQ(lines.damaged(), 5);
  EXPECT_EQ(lines.text(), "") << "at the end";
}

TEST_F(JsonLinesFile, LinesAcrossTheBufferAreWholeAndLongOnesAreLeftOut) {
  for (const std::size_t length : {4080u, 4094u, 4095u, 4096u, 4097u, 8190u, 8191u, 100000u}) {
    const std::string line = "{\"n\":7,\"s\":\"" + std::string(length - 14, 'x') + "\"}";
    ASSERT_EQ(line.size(), length);
    JsonLines lines = lines_of(line + "\n{\"n\":8}\n");
    ASSERT_TRUE(lines.next()) << length;
    EXPECT_EQ(lines.text(), line);
    EXPECT_EQ(numbers(lines), std::vector<int>{8}) << length;
  }
  JsonLines lines = lines_of("{\"s\":\"" + std::string(JsonLines::kMostLineBytes, 'x') + "\"}\n{\"n\":8}\n");
  EXPECT_EQ(numbers(lines), std::vector<int>{8});
  EXPECT_EQ(lines.damaged(), 1);
}

TEST_F(JsonLinesFile, AFileOfSomethingElseIsRefusedSoon) {
  std::string bytes;
  for (int i = 0; i <= JsonLines::kMostDamaged; ++i) bytes += "{\n";
  expect_error(ErrorKind::kInput, "lines that are no JSON objects", [&] {
    JsonLines lines = lines_of(bytes);
    numbers(lines);
  });
  JsonLines lines = lines_of(bytes.substr(2));
  EXPECT_EQ(numbers(lines), std::vector<int>());
}

TEST_F(JsonLinesFile, AnAppendedLineIsReadBack) {
  for (const int n : {1, 2}) append_json_line(path(), {{"n", n}, {"text", "a\nb\xff"}});
  JsonLines lines(path());
  EXPECT_EQ(numbers(lines), (std::vector<int>{1, 2}));
  expect_error(ErrorKind::kOutput, "check that the folder exists", [&] {
    append_json_line(path().parent_path() / "no/a.jsonl", {{"n", 1}});
  });
}

}  // namespace
}  // namespace voxshard
