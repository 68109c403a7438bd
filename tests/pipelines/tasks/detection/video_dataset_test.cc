#include "pipelines/tasks/detection/dataset/video_dataset.h"

#include <set>

#include "io/image/image_reader.h"
#include "tests/io/video/video_scene.h"

namespace voxshard {
namespace {

/// Returns the frames [0, count) of each video, with the ids 0, 1, ...
DetectionDataset frames_of(const std::vector<std::pair<fs::path, std::int64_t>>& videos) {
  DetectionDataset set;
  for (const auto& [video, count] : videos)
    for (std::int64_t frame = 0; frame < count; ++frame)
      set.images.push_back({.file = frame_path(video, frame), .id = static_cast<std::int64_t>(set.images.size())});
  return set;
}

std::vector<std::int64_t> ids(const DetectionDataset& set) {
  std::vector<std::int64_t> ids;
  for (const auto& image : set.images) ids.push_back(image.id);
  return ids;
}

using Ids = std::vector<std::int64_t>;

TEST(VideoDataset, TheLastPartOfEachVideoIsHeldOut) {
  const DetectionSets sets = split_by_time(frames_of({{"a.mp4", 5}, {"b.mp4", 10}}), 0.2);
  EXPECT_EQ(ids(sets.train), (Ids{0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12}));
  EXPECT_EQ(ids(sets.val), (Ids{4, 13, 14}));
}

TEST(VideoDataset, FramesAreSplitByTimeWhateverTheirOrder) {
  DetectionDataset set = frames_of({{"a.mp4", 4}});
  std::swap(set.images[0], set.images[3]);
  const DetectionSets sets = split_by_time(std::move(set), 0.5);
  EXPECT_EQ(ids(sets.train), (Ids{1, 0}));
  EXPECT_EQ(ids(sets.val), (Ids{3, 2}));
}

TEST(VideoDataset, AtLeastOneFrameIsHeldOutAndOneTrains) {
  EXPECT_EQ(ids(split_by_time(frames_of({{"a.mp4", 3}}), 0.01).val), Ids{2});
  EXPECT_EQ(ids(split_by_time(frames_of({{"a.mp4", 3}}), 0.99).train), Ids{0});
  EXPECT_EQ(ids(split_by_time(frames_of({{"a.mp4", 1}}), 0.5).train), Ids{0});
}

TEST(VideoDataset, AFractionOfZeroHoldsNothingOut) {
  EXPECT_TRUE(split_by_time(frames_of({{"a.mp4", 9}}), 0).val.images.empty());
}

TEST(VideoDataset, AFractionOutOfRangeIsRefused) {
  for (const double fraction : {-0.1, 1.0, std::nan("")})
    expect_error(ErrorKind::kConfig, "below 1", [&] { split_by_time(frames_of({{"a.mp4", 3}}), fraction); });
}

TEST(VideoDataset, ImagesAmongFramesTrainAndNotesStayWithTraining) {
  DetectionDataset set = frames_of({{"a.mp4", 2}});
  set.images.push_back({.file = "still.png", .id = 2});
  set.notes.push_back({"line 1", "E_BOX", "no area"});
  EXPECT_TRUE(has_video_frames(set));
  const DetectionSets sets = split_by_time(std::move(set), 0.5);
  EXPECT_EQ(ids(sets.train), (Ids{0, 2}));
  EXPECT_EQ(sets.train.notes.size(), 1u);
  EXPECT_TRUE(sets.val.notes.empty());
}

TEST(VideoDataset, FramesThatAreStoredAsImagesAreSplitByTimeToo) {
  DetectionDataset set;
  for (std::int64_t i = 0; i < 5; ++i)
    set.images.push_back(
        {.file = "img1/" + std::to_string(i) + ".jpg", .id = i, .place = SequencePlace{"img1", 9 - i}});
  EXPECT_TRUE(has_video_frames(set));
  DetectionDataset with_still = set;
  with_still.images.push_back({.file = "still.png", .id = 5});
  EXPECT_FALSE(has_video_frames(with_still)) << "a split by time would leave stills on one side";
  const DetectionSets sets = split_by_time(std::move(set), 0.4);
  EXPECT_EQ(ids(sets.train), (Ids{2, 3, 4}));
  EXPECT_EQ(ids(sets.val), (Ids{0, 1}));
}

TEST(VideoDataset, ShortSequencesStayWholeInASplitByLot) {
  DetectionDataset set;
  for (std::int64_t i = 0; i < 40; ++i)
    set.images.push_back(
        {.file = std::to_string(i) + ".jpg", .id = i, .place = SequencePlace{"video " + std::to_string(i / 2), i % 2}});
  EXPECT_FALSE(has_video_frames(set)) << "two frames of each are too few to be divided";
  const DetectionSets sets = split_detection_dataset(set, 0.25, 1);
  EXPECT_EQ(sets.val.images.size(), 10u);
  std::set<std::int64_t> held;
  for (const std::int64_t id : ids(sets.val)) held.insert(id / 2);
  EXPECT_EQ(held.size(), 5u);
}

TEST(VideoDataset, ARangeAndAStrideInFramesNeedNoVideo) {
  DetectionDataset set = frames_of({{"not_there.mp4", 9}});
  keep_frames(set, {.stride = 3, .range = frame_range_from_text("1:8")});
  EXPECT_EQ(ids(set), (Ids{1, 4, 7}));
  keep_frames(set, {.range = frame_range_from_text("2:7")});
  EXPECT_EQ(ids(set), Ids{4});
  expect_error(ErrorKind::kUsage, "{stride} must be at least 1", [&] { keep_frames(set, {.stride = 0}); });
}

TEST(VideoDataset, SecondsNeedTheVideo) {
  DetectionDataset set = frames_of({{"not_there.mp4", 9}});
  expect_error(ErrorKind::kInput, "not_there.mp4", [&] { keep_frames(set, {.range = frame_range_from_text("1s:")}); });
}

TEST(VideoDataset, DetectionsFollowTheImagesThatStay) {
  DetectionDataset set = frames_of({{"a.mp4", 6}});
  std::vector<ScoredBox> found;
  for (std::int64_t image = 0; image < 6; ++image)
    found.push_back({.image = image, .score = 0.1 * static_cast<double>(image)});
  keep_frames(set, found, {.range = frame_range_from_text("4:")});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].image, 0);
  EXPECT_EQ(found[0].score, 0.4);
  EXPECT_EQ(found[1].image, 1);
}

TEST(VideoDataset, ARangeThatHoldsNoEntryIsRefused) {
  DetectionDataset set = frames_of({{"a.mp4", 6}});
  set.source = "flies.json";
  expect_error(ErrorKind::kNoCase, "flies.json: no frame with an entry is chosen",
               [&] { keep_frames(set, {.range = frame_range_from_text("6:")}); });
}

TEST(VideoDataset, ARangeOfImagesIsRefused) {
  DetectionDataset set;
  set.images.push_back({.file = "cell.png"});
  expect_error(ErrorKind::kUsage, "cell.png is no frame of a video", [&] { keep_frames(set, {}); });
}

using VideoDatasetClip = VideoClips;

TEST_F(VideoDatasetClip, SecondsAndRatesAreThoseOfTheVideo) {
  const fs::path video = clip("a.mkv", "-c:v ffv1");         // 25 frames in a second
  for (const fs::path& name : {video, fs::path("a.mkv")}) {  // by its path, and beside the annotations
    DetectionDataset set = frames_of({{name, 25}});
    set.source = folder() / "a.json";
    std::erase_if(set.images, [](const DetectionImage& image) { return image.id == 12; });  // a frame without an entry
    DetectionDataset slow = set;
    keep_frames(set, {.stride = 3, .range = frame_range_from_text("0.24s:0.6s")});  // 6, 9, 12 of frames 6 to 14
    EXPECT_EQ(ids(set), (Ids{6, 9})) << name;
    keep_frames(slow, {.per_second = Rational{5, 1}});
    EXPECT_EQ(ids(slow), (Ids{0, 5, 10, 15, 20})) << name;
  }
}

TEST_F(VideoDatasetClip, AnnotationsOfFramesAreADataSet) {
  clip("a.mkv", "-c:v ffv1");
  write_bytes(folder() / "a.json", R"({"categories": [{"id": 1, "name": "fly"}], "images": [
    {"id": 7, "file_name": "a.mkv", "frame_index": 3, "width": 96, "height": 64},
    {"id": 8, "file_name": "gone.mkv", "frame_index": 3}],
    "annotations": [{"id": 1, "image_id": 7, "category_id": 1, "bbox": [90, 2, 10, 10]}]})");
  const DetectionDataset set = read_detection_dataset(folder() / "a.json");
  ASSERT_EQ(set.images.size(), 1u);
  EXPECT_EQ(set.images[0].file, frame_path(folder() / "a.mkv", 3));
  EXPECT_EQ(set.images[0].boxes.at(0).box, (CocoBox{90, 2, 6, 10}));  // cut at the frame's edge
  std::vector<std::string> codes;
  for (const EntryNote& note : set.notes) codes.push_back(note.code);
  EXPECT_EQ(codes, (std::vector<std::string>{"E_MISSING", "W_CLIPPED"}));
}

TEST_F(VideoDatasetClip, MotTextIsADataSetWhoseLastFramesValidate) {
  clip("a.mkv", "-c:v ffv1");
  write_bytes(folder() / "a.mot.txt", "1,1,10,10,20,20,1,1,1\n25,1,30,10,20,20,1,1,1\n");
  const DetectionSets sets = read_detection_sets(
      {.data = folder() / "a.mot.txt", .frames = FrameSelection{.range = frame_range_from_text("15:")}});
  EXPECT_EQ(ids(sets.train), (Ids{15, 16, 17, 18, 19, 20, 21, 22}));
  EXPECT_EQ(ids(sets.val), (Ids{23, 24}));
  EXPECT_EQ(sets.val.boxes(), 1);
}

}  // namespace
}  // namespace voxshard
