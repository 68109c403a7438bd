#include "io/boxes/coco_frames.h"

#include <nlohmann/json.hpp>

#include "io/boxes/coco.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

using nlohmann::json;

std::string name_of(const char* image,
                    const std::map<std::int64_t, std::string>& videos = {{3, "clip.mp4"}, {4, "folder"}}) {
  return coco_image_name(json::parse(image), videos);
}

TEST(CocoFrames, EachFormOfAFrameIsOneAddress) {
  for (const char* image :
       {R"({"file_name": "clip.mp4#frame=17"})", R"({"file_name": "clip.mp4", "frame_index": 17})",
        R"({"file_name": "clip.mp4", "frame_id": 17})", R"({"file_name": "clip.mp4", "frame": 17})",
        R"({"video_id": 3, "frame_id": 17})", R"({"file_name": "scene 1", "video_id": 3, "frame_id": 17})",
        R"({"file_name": "clip.mp4#frame=17", "frame_index": 4})"})
    EXPECT_EQ(name_of(image), "clip.mp4#frame=17") << image;
}

TEST(CocoFrames, AImageFileStaysAImage) {
  EXPECT_EQ(name_of(R"({"file_name": "img/000018.jpg", "video_id": 3, "frame_id": 17})"), "img/000018.jpg");
  EXPECT_EQ(name_of(R"({"file_name": "scan.tiff"})"), "scan.tiff");
  EXPECT_EQ(name_of(R"({"file_name": "17", "video_id": 4, "frame_id": 17})"), "17");
  EXPECT_EQ(name_of(R"({"id": 1})"), "");
}

TEST(CocoFrames, AnImageFileOfAVideoHasAPlaceThere) {
  const auto place = [](const char* image) { return coco_sequence_place(json::parse(image)); };
  const auto framed = place(R"({"id": 9, "file_name": "a.jpg", "video_id": 3, "frame_id": 17})");
  ASSERT_TRUE(framed);
  EXPECT_EQ(framed->sequence, "video 3");
  EXPECT_EQ(framed->frame, 17);
  EXPECT_EQ(place(R"({"id": 9, "file_name": "a.jpg", "video_id": 3})")->frame, 9);
  EXPECT_FALSE(place(R"({"id": 9, "file_name": "a.jpg", "frame_id": 17})"));
  EXPECT_FALSE(place(R"({"id": 9, "file_name": "a.jpg", "video_id": "walk"})"));
}

TEST(CocoFrames, AVideoWithoutAFrameIsNoImage) {
  EXPECT_THROW(name_of(R"({"file_name": "clip.mp4"})"), EntryProblem);
  EXPECT_THROW(name_of(R"({"video_id": 3})"), EntryProblem);
  EXPECT_THROW(name_of(R"({"file_name": "clip.mp4", "frame_id": -1})"), EntryProblem);
  EXPECT_THROW(name_of(R"({"file_name": "clip.mp4", "frame_id": "first"})"), EntryProblem);
  EXPECT_THROW(name_of(R"({"file_name": "clip.mp4", "frame_id": 1.5})"), EntryProblem);
}

TEST(CocoFrames, VideosAreNamedByFileNameElseByName) {
  const json file = json::parse(R"({"videos": [{"id": 1, "name": "a", "file_name": "a.mp4"}, {"id": 2, "name": "b.mp4"},
                                               {"name": "no id"}, 7, {"id": 3}]})");
  EXPECT_EQ(coco_video_names(file), (std::map<std::int64_t, std::string>{{1, "a.mp4"}, {2, "b.mp4"}}));
  EXPECT_TRUE(coco_video_names(json::parse(R"({"videos": {}})")).empty());
  EXPECT_TRUE(coco_video_names(json::parse("[]")).empty());
}

TEST(CocoFrames, AnnotationsOfFramesBecomeImages) {
  const ScratchFolder scratch;
  write_bytes(scratch.path() / "a.json",
              R"({"videos": [{"id": 1, "name": "a.mp4"}], "categories": [{"id": 1, "name": "fly"}],
    "images": [{"id": 5, "video_id": 1, "frame_id": 2}, {"id": 6, "video_id": 1}],
    "annotations": [{"id": 1, "image_id": 5, "category_id": 1, "bbox": [1, 2, 3, 4]}]})");
  const DetectionDataset set = read_coco(scratch.path() / "a.json");
  ASSERT_EQ(set.images.size(), 1u);
  EXPECT_EQ(set.images[0].file, fs::path("a.mp4#frame=2"));
  EXPECT_EQ(set.images[0].boxes.size(), 1u);
  ASSERT_EQ(set.notes.size(), 1u);
  EXPECT_THAT(set.notes[0].message, testing::HasSubstr("no frame"));
}

}  // namespace
}  // namespace voxshard
