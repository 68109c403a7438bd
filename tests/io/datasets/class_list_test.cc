// CSV lists of files with a class each.
#include "io/datasets/class_list.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

ClassList read_text_as_list(const std::string& text) {
  const ScratchFolder dir;
  write_bytes(dir.path() / "list.csv", text);
  return read_class_list(dir.path() / "list.csv");
}

TEST(ClassList, RowsAreFilesAndClasses) {
  const ClassList list = read_text_as_list("file,class\r\na/1.png,red\n\n\"b, c.png\",\"say \"\"x\"\"\"\n");
  ASSERT_EQ(list.rows.size(), 2u);
  EXPECT_EQ(list.rows[0].file, "a/1.png");
  EXPECT_EQ(list.rows[0].class_name, "red");
  EXPECT_EQ(list.rows[1].file, "b, c.png");
  EXPECT_EQ(list.rows[1].class_name, "say \"x\"");
  EXPECT_EQ(list.rows[1].line, 4);
  EXPECT_TRUE(list.problems.empty());
}

TEST(ClassList, TheHeadingMayBeMissing) { EXPECT_EQ(read_text_as_list("a.png,red\nb.png,blue").rows.size(), 2u); }

TEST(ClassList, ARowThatCannotBeUsedIsLeftOutByItself) {
  const ClassList list = read_text_as_list(
      "file,class\ngood.png,red\n../x.png,red\n/etc/passwd,red\none\na,b,c\n\"open,red\ngood.png,blue\nx.png,\n" +
      std::string("e.png,\x1b[2J\n"));
  ASSERT_EQ(list.rows.size(), 1u);
  std::vector<std::string> codes;
  for (const auto& problem : list.problems) codes.push_back(problem.code);
  EXPECT_THAT(codes, testing::ElementsAre("E_NAME", "E_NAME", "E_SYNTAX", "E_SYNTAX", "E_SYNTAX", "E_DUPLICATE",
                                          "E_SYNTAX", "E_NAME"));
}

TEST(ClassList, PartsOfVideosAreGivenInSeconds) {
  const ClassList list = read_text_as_list("file,start,end,class\na.mp4,0,1.5,left\na.mp4,1.5,2e3,up\nb.mp4,up\n");
  ASSERT_EQ(list.rows.size(), 3u);
  EXPECT_EQ(list.rows[1].interval->start_s, 1.5);
  EXPECT_EQ(list.rows[1].interval->end_s, 2000);
  EXPECT_EQ(list.rows[1].class_name, "up");
  EXPECT_FALSE(list.rows[2].interval.has_value());
  EXPECT_TRUE(list.problems.empty());
}

TEST(ClassList, TimesThatAreNoneAndTimesGivenTwiceAreNamedWithTheirLine) {
  const ClassList list = read_text_as_list(
      "a.mp4,1,3,left\na.mp4,0,1,up\na.mp4,2.5,9,up\na.mp4,0.5,1.1,up\na.mp4,down\nb.mp4,down\nb.mp4,1,2,up\n"
      "c.mp4,2,2,up\nc.mp4,-1,2,up\nc.mp4,nan,2,up\nc.mp4,0,1e9,up\nc.mp4,0x1,2,up\nc.mp4,,2,up\nc.mp4,0, 2,up\n");
  EXPECT_EQ(list.rows.size(), 3u);
  std::vector<std::string> rows, codes;
  for (const auto& problem : list.problems) rows.push_back(problem.row), codes.push_back(problem.code);
  EXPECT_THAT(codes, testing::ElementsAre("E_OVERLAP", "E_OVERLAP", "E_DUPLICATE", "E_OVERLAP", "E_TIME", "E_TIME",
                                          "E_TIME", "E_TIME", "E_TIME", "E_TIME", "E_TIME"));
  EXPECT_EQ(rows.front(), "line 3");
  EXPECT_THAT(list.problems.front().reason, testing::HasSubstr("with line 1"));
}

TEST(ClassList, AFileHasOneSpelling) {
  const ClassList list =
      read_text_as_list("a.png,red\n./a.png,blue\nb/./c.mp4,0,2,up\n././b/c.mp4,1,3,left\nd/.,red\n.,red\n");
  ASSERT_EQ(list.rows.size(), 2u);
  EXPECT_EQ(list.rows[1].file, "b/c.mp4");
  std::vector<std::string> codes;
  for (const auto& problem : list.problems) codes.push_back(problem.code);
  EXPECT_THAT(codes, testing::ElementsAre("E_DUPLICATE", "E_OVERLAP", "E_NAME", "E_NAME"));
}

TEST(ClassList, RowsAndProblemsAreBoundedAndSaid) {
  std::string text = "good.png,red\n";
  for (int i = 0; i < 1500; ++i) text += "../x.png,red\n";
  const ClassList list = read_text_as_list(text);
  ASSERT_EQ(list.problems.size(), 1001u);
  EXPECT_EQ(list.problems.back().code, "E_LIMIT");
  EXPECT_EQ(list.problems.back().row, "line 1002");
  EXPECT_THAT(list.problems.back().reason, testing::HasSubstr("499 rows behind it"));
  const ScratchFolder dir;
  write_bytes(dir.path() / "list.csv", "a.png,red\nb.png,red\n\nc.png,red\n");
  EXPECT_EQ(read_class_list(dir.path() / "list.csv", 3).rows.size(), 3u);
  expect_error(ErrorKind::kInput, "has more than 2 rows", [&] { read_class_list(dir.path() / "list.csv", 2); });
}

TEST(ClassList, AFileThatIsNoListSaysWhatWasExpected) {
  expect_error(ErrorKind::kInput, "expected rows of two columns", [] { read_text_as_list("{\"a\": 1}\n"); });
  expect_error(ErrorKind::kInput, "names no file", [] { read_text_as_list("file,class\n"); });
  expect_error(ErrorKind::kInput, "names no file", [] { read_text_as_list(""); });
}

}  // namespace
}  // namespace voxshard
