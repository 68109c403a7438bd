#include "io/boxes/mot.h"

#include "tests/io/test_files.h"

namespace voxshard {
namespace {

std::vector<std::int64_t> lines_of(const MotFile& file) {
  std::vector<std::int64_t> lines;
  for (const MotRow& row : file.rows) lines.push_back(row.line);
  return lines;
}

class MotText : public testing::Test {
 protected:
  MotFile read(const std::string& text) {
    write_bytes(path(), text);
    return read_mot(path());
  }
  fs::path path() const { return scratch_.path() / "gt.txt"; }

 private:
  ScratchFolder scratch_;
};

TEST_F(MotText, ALineOfTruthHasNineFields) {
  const MotFile file = read("3,7,794.25,247.5,71,174,1,2,0.875\n");
  const MotRow expected{.frame = 3,
                        .track = 7,
                        .box = {794.25, 247.5, 71, 174},
                        .confidence = 1,
                        .class_id = 2,
                        .visibility = 0.875,
                        .line = 1};
  ASSERT_EQ(file.rows.size(), 1u);
  EXPECT_EQ(file.rows[0], expected);
  EXPECT_TRUE(file.notes.empty());
}

TEST_F(MotText, TenFieldsAreResultsWhosePlacesInTheWorldAreNoClass) {
  const MotRow row = read("1,-1,10,20,30,40,-0.5,3,4,5\n").rows.at(0);
  EXPECT_EQ(row.track, -1);
  EXPECT_EQ(row.confidence, -0.5);
  EXPECT_EQ(row.class_id, 0);
  EXPECT_EQ(row.visibility, 1);
}

TEST_F(MotText, SixFieldsAreEnough) {
  const MotRow row = read("1,4,10,20,30,40\n").rows.at(0);
  EXPECT_EQ(row.confidence, 1);
  EXPECT_EQ(row.class_id, 0);
}

TEST_F(MotText, BlanksCarriageReturnsAndAByteOrderMarkAreTaken) {
  const MotFile file = read(
      "\xEF\xBB\xBF"
      "1, 1, 10, 20, 30, 40, 1\r\n\r\n  \n2 1 10 20 30 40 1\n3,1,1e1,20,30,40");
  EXPECT_EQ(lines_of(file), (std::vector<std::int64_t>{1, 4, 5}));
  EXPECT_EQ(file.rows[2].box.x, 10);
  EXPECT_TRUE(file.notes.empty());
}

TEST_F(MotText, ABadLineCostsItselfOnly) {
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"0,1,10,20,30,40,1", "counted from 1"},
      {"1.5,1,10,20,30,40,1", "whole number"},
      {"1,1,ten,20,30,40,1", "left \"ten\""},
      {"1,1,nan,20,30,40,1", "left \"nan\""},
      {"1,1,10,20,inf,40,1", "width \"inf\""},
      {"1,1,1e300,20,30,40,1", "at most 1e9"},
      {"1,1,10,20,30,,1", "height \"\""},
      {"1,1,10,20,30", "5 fields"},
      {"1,1,10,20,30,40,1,1,1,1,1", "more than 10 fields"},
      {"1,1,10,20,30,40x,1", "height \"40x\""},
      {std::string("1,1,10\0,20,30,40,1", 18), "left \"10?\""},
      {"1,1,\xFF\xFE,20,30,40,1", "left \"??\""},
      {std::string(100000, '7'), "100000 characters"},
      {"frame,id,left,top,width,height", "frame \"frame\""},
  };
  for (const auto& [line, message] : bad) {
    const MotFile file = read("1,8,1,2,3,4,1\n" + line + "\n1,9,1,2,3,4,1\n");
    EXPECT_EQ(lines_of(file), (std::vector<std::int64_t>{1, 3})) << message;
    ASSERT_EQ(file.notes.size(), 1u) << message;
    EXPECT_EQ(file.notes[0].entry, "line 2");
    EXPECT_EQ(file.notes[0].code, "E_ENTRY");
    EXPECT_THAT(file.notes[0].message, testing::HasSubstr(message));
  }
}

TEST_F(MotText, ThousandsOfBadLinesDoNotFillTheMemory) {
  std::string text = "1,1,10,20,30,40,1\n";
  for (int i = 0; i < 1500; ++i) text += "bad\n";
  const MotFile file = read(text + "2,1,10,20,30,40,1\n");
  EXPECT_EQ(lines_of(file), (std::vector<std::int64_t>{1, 1502}));
  ASSERT_EQ(file.notes.size(), 1001u);
  EXPECT_EQ(file.notes.back().entry, "500 more lines");
}

TEST_F(MotText, ABoxWithoutAreaIsNoted) {
  const MotFile file = read("1,1,10,20,0,40,1\n1,2,10,20,30,-4,1\n1,3,10,20,30,40,1\n");
  EXPECT_EQ(lines_of(file), std::vector<std::int64_t>{3});
  ASSERT_EQ(file.notes.size(), 2u);
  EXPECT_EQ(file.notes[0].code, "E_BOX");
  EXPECT_EQ(file.notes[1].code, "E_BOX");
}

TEST_F(MotText, ATrackIsOnceInAFrameButUntrackedBoxesMayBeMany) {
  const MotFile file =
      read("1,5,10,20,30,40,1\n1,5,11,20,30,40,1\n2,5,10,20,30,40,1\n1,-1,0,0,1,1,1\n1,-1,5,5,1,1,1\n");
  EXPECT_EQ(lines_of(file), (std::vector<std::int64_t>{1, 3, 4, 5}));
  ASSERT_EQ(file.notes.size(), 1u);
  EXPECT_EQ(file.notes[0].code, "E_DUPLICATE");
}

TEST_F(MotText, AFileThatIsSomethingElseIsRefusedWithItsFirstLine) {
  expect_error(ErrorKind::kInput, "holds no box: line 1 has", [&] { read("{\"images\": []}\n[1, 2]\n"); });
  expect_error(ErrorKind::kInput, "does not exist", [&] { read_mot(path().parent_path() / "none.txt"); });
  expect_error(ErrorKind::kInput, "is not a file", [&] { read_mot(path().parent_path()); });
}

TEST_F(MotText, AnEmptyFileHoldsNoBoxesAndIsNoError) { EXPECT_TRUE(read("\n\n").rows.empty()); }

TEST_F(MotText, WhatIsWrittenIsReadAgain) {
  const std::vector<MotRow> rows = {{.frame = 1,
                                     .track = 2,
                                     .box = {244.75, 408.25, 111.5, 94},
                                     .confidence = 0.912345,
                                     .class_id = 3,
                                     .visibility = 0.5,
                                     .line = 1},
                                    {.frame = 1500,
                                     .track = -1,
                                     .box = {-3.5, 0, 1e6, 2},
                                     .confidence = 0,
                                     .class_id = 0,
                                     .visibility = 1,
                                     .line = 2}};
  write_mot(path(), rows);
  EXPECT_EQ(read_bytes(path()),
            "1,2,244.75,408.25,111.50,94.00,0.912345,3,0.5\n1500,-1,-3.50,0.00,1000000.00,2.00,0,-1,1\n");
  EXPECT_EQ(read_mot(path()).rows, rows);
}

TEST_F(MotText, TheFliesHaveTwoBoxesInEachOf1500Frames) {
  const fs::path boxes = test_data() / "video/sleap_bsd3/clip.boxes.mot.txt";
  REQUIRE_TEST_DATA(boxes);
  const MotFile file = read_mot(boxes);
  EXPECT_TRUE(file.notes.empty());
  ASSERT_EQ(file.rows.size(), 3000u);
  for (std::size_t i = 0; i < file.rows.size(); ++i)
    EXPECT_EQ(file.rows[i].frame, static_cast<std::int64_t>(i / 2) + 1);
}

}  // namespace
}  // namespace voxshard
