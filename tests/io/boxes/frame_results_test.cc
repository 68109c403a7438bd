#include "io/boxes/frame_results.h"

#include <nlohmann/json.hpp>

#include "io/boxes/coco.h"
#include "io/boxes/mot.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

class FrameResults : public testing::Test {
 protected:
  fs::path file(const std::string& name) const { return scratch_.path() / name; }
  FrameResultFiles all() const { return {.json = file("a.json"), .coco = file("coco.json"), .mot = file("mot.txt")}; }
  std::size_t files() const { return scratch_.files(); }

  ResultVideo video_{.file = "clip.mp4", .time_base = {1, 12800}, .width = 64, .height = 48};
  std::vector<DetectionClass> classes_ = {{"fly", 4}, {"bee", 9}};
  FrameResult found_{.number = 17,
                     .pts_ticks = 8704,
                     .seconds = 0.68,
                     .boxes = {{.category = 1, .box = {1, 2, 30, 40.128}, .score = 0.75},
                               {.category = 0, .box = {5, 6, 7, 8}, .score = 0.5}},
                     .tracks = {3, -1}};

 private:
  ScratchFolder scratch_;
};

TEST_F(FrameResults, MotTextNumbersClassesFromOneWhereAnIdIsBelow) {
  FrameResultsWriter out({.mot = file("mot.txt")}, video_, {{"fly", 0}, {"bee", 1}});
  out.write(found_);
  out.close({}, true);
  EXPECT_EQ(read_bytes(file("mot.txt")), "18,3,1.00,2.00,30.00,40.13,0.75,2,1\n18,-1,5.00,6.00,7.00,8.00,0.5,1,1\n");
}

TEST_F(FrameResults, AllThreeFormsSayTheSame) {
  FrameResultsWriter out(all(), video_, classes_);
  out.write({.number = 16, .pts_ticks = 8192, .seconds = 0.64, .boxes = {}, .tracks = {}});
  out.write(found_);
  out.close({"frame 18 is damaged"}, true);

  EXPECT_EQ(nlohmann::json::parse(read_bytes(file("a.json"))), nlohmann::json::parse(R"({
    "video": "clip.mp4", "time_base": "1/12800", "width": 64, "height": 48,
    "categories": [{"id": 4, "name": "fly"}, {"id": 9, "name": "bee"}],
    "frames": [{"index": 16, "pts": 8192, "seconds": 0.64, "detections": []},
               {"index": 17, "pts": 8704, "seconds": 0.68, "detections": [
                 {"category": "bee", "category_id": 9, "bbox": [1.0, 2.0, 30.0, 40.13], "score": 0.75, "track": 3},
                 {"category": "fly", "category_id": 4, "bbox": [5.0, 6.0, 7.0, 8.0], "score": 0.5, "track": null}]}],
    "notes": ["frame 18 is damaged"], "complete": true})"));
  EXPECT_EQ(nlohmann::json::parse(read_bytes(file("coco.json"))), nlohmann::json::parse(R"([
    {"image_id": 17, "category_id": 9, "category_name": "bee", "bbox": [1.0, 2.0, 30.0, 40.13], "score": 0.75},
    {"image_id": 17, "category_id": 4, "category_name": "fly", "bbox": [5.0, 6.0, 7.0, 8.0], "score": 0.5}])"));
  EXPECT_EQ(read_bytes(file("mot.txt")), "18,3,1.00,2.00,30.00,40.13,0.75,9,1\n18,-1,5.00,6.00,7.00,8.00,0.5,4,1\n");
}

TEST_F(FrameResults, OfNoFrameAreStillValid) {
  FrameResultsWriter out(all(), video_, classes_);
  out.close({}, false);
  const auto json = nlohmann::json::parse(read_bytes(file("a.incomplete.json")));
  EXPECT_TRUE(json.at("frames").empty());
  EXPECT_EQ(json.at("complete"), false);
  EXPECT_TRUE(nlohmann::json::parse(read_bytes(file("coco.incomplete.json"))).empty());
  EXPECT_EQ(read_bytes(file("mot.incomplete.txt")), "");
}

TEST_F(FrameResults, LeaveNothingBehindWithoutAnEnd) {
  {
    FrameResultsWriter out(all(), video_, classes_);
    out.write(found_);
    EXPECT_EQ(files(), 3u);  // under their temporary names
  }
  EXPECT_EQ(files(), 0u);
}

TEST_F(FrameResults, AreWrittenOnlyWhereAsked) {
  FrameResultsWriter out({.mot = file("mot.txt")}, video_, classes_);
  out.write(found_);
  out.close({}, true);
  EXPECT_EQ(files(), 1u);
}

TEST_F(FrameResults, KeepTheOldFileUntilTheEnd) {
  write_bytes(file("a.json"), "old");
  FrameResultsWriter out({.json = file("a.json")}, video_, classes_);
  out.write(found_);
  EXPECT_EQ(read_bytes(file("a.json")), "old");
  out.close({}, true);
  EXPECT_NE(read_bytes(file("a.json")), "old");
}

TEST_F(FrameResults, AFolderThatIsNotThereIsNamed) {
  expect_error(ErrorKind::kOutput, "none/a.json",
               [&] { FrameResultsWriter({.json = file("none/a.json")}, video_, classes_); });
}

}  // namespace
}  // namespace voxshard
