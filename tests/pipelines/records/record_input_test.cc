// TFRecord files of any kind: how they are found, and what a conversion reports and reads of damaged ones.
#include "pipelines/records/record_input.h"

#include "tests/expect_error.h"
#include "tests/pipelines/records/record_scene.h"

namespace voxshard {
namespace {

using ::testing::HasSubstr;

TEST(Records, OfOtherFeaturesAreNamedWithWhatTheyHave) {
  Scene scene("records_other");
  RecordWriter writer(scene.path("a.tfrecord"), RecordCompression::kNone);
  writer.write(serialized({.features = {{"audio", BytesList{"x"}}}}));
  writer.commit();
  expect_error(ErrorKind::kNoCase, "record 1 has neither image/ct_image nor image/encoded; it has audio", [&] {
    run_convert({.input = scene.path("a.tfrecord"), .output = scene.data()}, ConvertTo::kFolder, scene.progress);
  });
  EXPECT_FALSE(std::filesystem::exists(scene.data()));
}

TEST(Records, AThousandFailuresOfAFileAreNamedAndTheOthersCounted) {
  Scene scene("records_failures");
  write_records(scene.path("a.tfrecord"), 1500);
  std::vector<CaseFailure> failures;
  EXPECT_EQ(for_each_record({scene.path("a.tfrecord"), "a"}, {}, failures,
                            [](std::int64_t, const TfExample&) { throw Error(ErrorKind::kInput, "E_X", "is wrong"); }),
            0);
  ASSERT_EQ(failures.size(), 1001u);
  EXPECT_EQ(failures[999].id, "a.tfrecord record 1000");
  EXPECT_EQ(failures.back().id, "a.tfrecord 500 more records");
}

TEST(Records, AWorkerReadsNoMoreThanItsShareOfMemory) {
  const RecordShare share = side_by_side(1000, 4, 8, 16'500);
  EXPECT_EQ(share.workers, 4);
  EXPECT_EQ(share.limits.memory_bytes, 1031) << "four times for each";
  EXPECT_EQ(share.limits.most_inflation, 250);
  EXPECT_EQ(side_by_side(100'000, 4, 8, 16'000).workers, 1);
  EXPECT_EQ(side_by_side(100'000, 4, 8, 0).workers, 8) << "nothing says what is free";
  Scene scene("records_share");
  write_records(scene.path("a.tfrecord"), 1);
  std::vector<CaseFailure> failures;
  for_each_record({scene.path("a.tfrecord"), "a"}, side_by_side(10, 4, 1, 400).limits, failures,
                  [](std::int64_t, const TfExample&) {});
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_EQ(failures[0].code, "E_BUDGET");
}

TEST(Records, AreFoundByTheirNames) {
  Scene scene("records_found");
  by_hand("retinanet", {scene.path("a.tfrecord")});
  EXPECT_EQ(convert_direction(scene.path("a.tfrecord"), "data"), ConvertTo::kFolder);
  EXPECT_EQ(convert_direction(scene.path(""), "data"), ConvertTo::kFolder);
  scene.write_dataset(1);
  EXPECT_EQ(convert_direction(scene.data(), "records"), ConvertTo::kRecords);
  EXPECT_THROW(convert_direction(scene.path("none"), "data"), Error);
}

}  // namespace
}  // namespace voxshard
