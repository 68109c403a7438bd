// Regions of nnU-Net data sets, and its random numbers.
#include "io/datasets/regions.h"

#include "io/datasets/numpy_random.h"
#include "io/files/config_file.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

std::string description(const std::string& labels, const std::string& order) {
  return R"({"channel_names": {"0": "T1"}, "labels": )" + labels + R"(, "file_ending": ".nii.gz")" +
         (order.empty() ? "" : ", \"regions_class_order\": " + order) + "}";
}

constexpr const char* kTumour = R"({"background": 0, "whole": [1, 2, 3], "core": [2, 3], "enhancing": 3})";

class Regions : public ::testing::Test {
 protected:
  void SetUp() override {
    write_bytes(dir.path() / "imagesTr/a_0000.nii.gz", "x");
    write_bytes(dir.path() / "labelsTr/a.nii.gz", "x");
  }
  Dataset read(const std::string& labels, const std::string& order) {
    write_bytes(dir.path() / "dataset.json", description(labels, order));
    return read_dataset(dir.path());
  }
  void expect_refused(const std::string& labels, const std::string& order, const std::string& why) {
    expect_error(ErrorKind::kInput, why, [&] { read(labels, order); });
  }
  ScratchFolder dir;
};

TEST_F(Regions, AreUnionsOfClassesTheLargestFirst) {
  const Dataset d = read(kTumour, "[1, 2, 3]");
  EXPECT_THAT(d.label_names, testing::ElementsAre("background", "class_1", "class_2", "enhancing"));
  ASSERT_EQ(d.regions.size(), 3u);
  EXPECT_EQ(d.regions[0].name, "whole");
  EXPECT_THAT(d.regions[0].labels, testing::ElementsAre(1, 2, 3));
  EXPECT_EQ(d.regions[1].name, "core");
  EXPECT_THAT(d.regions[2].labels, testing::ElementsAre(3));
}

TEST_F(Regions, KeepTheIgnoredLabelBehindTheClasses) {
  const Dataset d = read(R"({"background": 0, "whole": [1, 2], "core": [2], "ignore": 3})", "[1, 2]");
  EXPECT_EQ(d.ignore_label, 3);
  EXPECT_THAT(d.label_names, testing::ElementsAre("background", "class_1", "core"));
}

TEST_F(Regions, AreWrittenInTheOrderInWhichNnUNetPaintsThem) {
  Dataset d = read(kTumour, "[1, 2, 3]");
  write_dataset_json(d);
  const nlohmann::json json = read_json(dir.path() / "dataset.json");
  EXPECT_EQ(json.at("labels"), nlohmann::json::parse(R"({"background": 0, "whole": [1, 2, 3], "core": [2, 3],
                                                         "enhancing": [3]})"));
  EXPECT_EQ(json.at("regions_class_order"), nlohmann::json({1, 2, 3}));
  const Dataset back = read_dataset(dir.path());
  EXPECT_EQ(back.label_names, d.label_names);
  ASSERT_EQ(back.regions.size(), 3u);
  EXPECT_EQ(back.regions[1].labels, d.regions[1].labels);
}

TEST_F(Regions, OfAnotherFormAreRefusedWithTheReason) {
  expect_refused(kTumour, "", "no regions_class_order");
  expect_refused(kTumour, "[1, 2]", "3 regions and no regions_class_order");
  expect_refused(R"({"background": 0, "whole": [1, "2"]})", "[1]", "not a whole number");
  expect_refused(R"({"background": 0, "whole": [1, -2]})", "[1]", "not a whole number");
  expect_refused(R"({"background": 0, "whole": [1, 4294967297]})", "[1]", "not a whole number");
  expect_refused(R"({"background": 0, "whole": []})", "[1]", "without labels");
  expect_refused(R"({"background": 0, "whole": [0, 1]})", "[1]", "background");
  expect_refused(R"({"background": 0, "whole": [1, 3]})", "[1]", "without gaps");
  expect_refused(R"({"background": 0, "whole": [1, 2], "ignore": 2})", "[1]", "ignored label");
}

TEST(NumpyRandom, DrawsTheNumbersOfRandomState) {
  // numpy.random.RandomState(1234), NumPy 1.24.2: randint(0, 1000, 8), randint(0, 1, 2), randint(0, 70000, 6)
  NumpyRandom random(1234);
  for (const std::uint32_t expected : {815, 723, 294, 53, 204, 372, 664, 655}) EXPECT_EQ(random.below(1000), expected);
  EXPECT_EQ(random.below(1), 0u);
  EXPECT_EQ(random.below(1), 0u);
  for (const std::uint32_t expected : {55985, 41239, 9449, 23706, 8222, 33950})
    EXPECT_EQ(random.below(70000), expected);
}

}  // namespace
}  // namespace voxshard
