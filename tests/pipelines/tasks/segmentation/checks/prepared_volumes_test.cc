// What `prepare` says of class volumes, from its records alone.
#include "pipelines/tasks/segmentation/checks/prepare_checks.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace voxshard {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Records of so many cases of 1 x 2 x 2 mm with organs of about 10 ml and 1 ml.
nlohmann::ordered_json usual_records(int cases) {
  nlohmann::ordered_json records = nlohmann::ordered_json::array();
  for (int i = 0; i < cases; ++i)
    records.push_back({{"case", "case_" + std::to_string(i)},
                       {"spacing_mm", {1, 2, 2}},
                       {"class_voxels", {90000, 2500 + 50 * (i % 3), 250 + 5 * (i % 2)}}});
  return records;
}

const std::vector<std::string> kNames = {"background", "liver", "cord"};

TEST(PreparedVolumes, AreNothingWhereAllAreAlike) { EXPECT_THAT(odd_volumes(usual_records(12), kNames), IsEmpty()); }

TEST(PreparedVolumes, OfAnUnusualCaseAreNamedWithTheNumbers) {
  nlohmann::ordered_json records = usual_records(12);
  records[4]["class_voxels"][2] = 6997;
  const std::vector<CaseFailure> odd = odd_volumes(records, kNames);
  ASSERT_EQ(odd.size(), 1u);
  EXPECT_EQ(odd[0].id, "case_4");
  EXPECT_EQ(odd[0].code, "W_VOLUME");
  EXPECT_THAT(odd[0].message, HasSubstr("cord (2) has 28.0 ml; usual in the other cases: 1.0 ml"));
  records[4]["spacing_mm"] = {0.1, 0.7, 2.04};  // smaller voxels: the same volume as elsewhere
  EXPECT_THAT(odd_volumes(records, {"background", "liver", "cord"}), testing::SizeIs(1)) << "the liver is then small";
}

TEST(PreparedVolumes, OfAClassThatIsNotThereAndOfFewCasesSayNothing) {
  nlohmann::ordered_json records = usual_records(12);
  records[3]["class_voxels"][1] = 0;
  EXPECT_THAT(odd_volumes(records, kNames), IsEmpty());
  records = usual_records(5);
  records[4]["class_voxels"][2] = 6997;
  EXPECT_THAT(odd_volumes(records, kNames), IsEmpty());
}

}  // namespace
}  // namespace voxshard
