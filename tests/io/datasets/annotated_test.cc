// The classes that were annotated in a case, as dataset.json says them.
#include "io/datasets/annotated.h"

#include <nlohmann/json.hpp>

#include "tests/io/test_files.h"

namespace voxshard {
namespace {

using testing::ElementsAre;

void write_dataset(const ScratchFolder& dir, const std::string& annotated) {
  write_bytes(dir.path() / "dataset.json",
              R"({"channel_names": {"0": "CT"}, "labels": {"background": 0, "liver": 1, "spleen": 2},
                  "numTraining": 2, "file_ending": ".nii", "annotated": )" +
                  annotated + "}");
  for (const char* name : {"imagesTr/a_0000.nii", "imagesTr/b_0000.nii", "labelsTr/a.nii", "labelsTr/b.nii"})
    write_bytes(dir.path() / name, "x");
}

TEST(Annotated, IsReadByNameWrittenAgainAndAbsentForCompleteCases) {
  ScratchFolder dir;
  write_dataset(dir, R"({"b": ["spleen", "background"]})");
  Dataset d = read_dataset(dir.path());
  EXPECT_FALSE(d.training[0].annotated);
  ASSERT_TRUE(d.training[1].annotated);
  EXPECT_THAT(*d.training[1].annotated, ElementsAre(2));
  EXPECT_TRUE(is_annotated(d.training[0].annotated, 1));
  EXPECT_FALSE(is_annotated(d.training[1].annotated, 1));
  EXPECT_TRUE(is_annotated(d.training[1].annotated, 2));
  write_dataset_json(d);
  EXPECT_EQ(read_dataset(dir.path()).training[1].annotated, d.training[1].annotated);
}

TEST(Annotated, UnknownCasesClassesAndFormsAreRefused) {
  ScratchFolder dir;
  for (const auto& [value, why] : {std::pair(R"({"c": ["liver"]})", "the case \"c\""),
                                   {R"({"a": ["heart"]})", "\"heart\""},
                                   {R"({"a": "liver"})", "another form"},
                                   {R"(["a"])", "another form"},
                                   {R"({"a": [1]})", "another form"}}) {
    write_dataset(dir, value);
    expect_error(ErrorKind::kInput, why, [&] { read_dataset(dir.path()); });
  }
}

TEST(Annotated, ACaseOfHiddenNameIsNotNamed) {
  ScratchFolder dir;
  write_dataset(dir, R"({"MEIER": ["liver"]})");
  expect_error(ErrorKind::kInput, "MEIER", [&] { read_dataset(dir.path()); });
  try {
    read_dataset(dir.path(), IdsInErrors::kHidden);
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("annotated classes of a case which it does not have"));
    EXPECT_THAT(e.what(), testing::Not(testing::HasSubstr("MEIER")));
  }
}

}  // namespace
}  // namespace voxshard
