// Data set folders of three kinds, and folds that equal nnU-Net's.
#include "io/datasets/dataset.h"

#include <set>

#include "tests/io/test_files.h"

namespace voxshard {
namespace {

constexpr const char* kV2 =
    R"({"channel_names": {"0": "CT", "1": "PET"}, "labels": {"background": 0, "liver": 1, "tumour": 2},
                               "numTraining": 2, "file_ending": ".nii.gz"})";
constexpr const char* kNumbered =
    R"({"name": "Spleen", "modality": {"0": "CT"}, "labels": {"0": "background", "1": "spleen"},
  "numTraining": 2, "tensorImageSize": "3D",
  "training": [{"image": "./imagesTr/s_2.nii.gz", "label": "./labelsTr/s_2.nii.gz"}, {"image": "./imagesTr/s_1.nii.gz", "label": "./labelsTr/s_1.nii.gz"},
               {"image": "./imagesTr/._s_1.nii.gz", "label": "./labelsTr/._s_1.nii.gz"}],
  "test": ["./imagesTs/s_3.nii.gz", "./imagesTs/._s_3.nii.gz"]})";

void touch(const fs::path& root, std::initializer_list<const char*> names) {
  for (const char* name : names) write_bytes(root / name, "x");
}

TEST(Dataset, Version2ListsCasesByChannelAndReportsWhatIsMissing) {
  ScratchFolder dir;
  write_bytes(dir.path() / "dataset.json", kV2);
  touch(dir.path(),
        {"imagesTr/b_0000.nii.gz", "imagesTr/b_0001.nii.gz", "labelsTr/b.nii.gz", "imagesTr/a_0000.nii.gz",
         "imagesTr/a_0001.nii.gz", "labelsTr/a.nii.gz", "imagesTr/c_0000.nii.gz", "labelsTr/c.nii.gz",
         "imagesTr/d_0000.nii.gz", "imagesTr/d_0001.nii.gz", "labelsTr/e.nii.gz", "imagesTr/._a_0000.nii.gz",
         "imagesTr/notes.txt", "imagesTs/t_0000.nii.gz", "imagesTs/t_0001.nii.gz", "imagesTs/u_0000.nii.gz",
         "imagesTs/u_0001.nii.gz", "labelsTs/u.nii.gz"});
  const Dataset d = read_dataset(dir.path());
  EXPECT_EQ(d.kind, "nnU-Net v2");
  EXPECT_THAT(d.channels, testing::ElementsAre("CT", "PET"));
  EXPECT_THAT(d.label_names, testing::ElementsAre("background", "liver", "tumour"));
  EXPECT_THAT(case_ids(d.training), testing::ElementsAre("a", "b"));
  EXPECT_EQ(d.training[0].images[1], dir.path() / "imagesTr/a_0001.nii.gz");
  EXPECT_EQ(*d.training[0].label, dir.path() / "labelsTr/a.nii.gz");
  EXPECT_THAT(case_ids(d.test), testing::ElementsAre("t", "u"));
  EXPECT_FALSE(d.test[0].label);
  EXPECT_TRUE(d.test[1].label);
  ASSERT_EQ(d.problems.size(), 3u);
  EXPECT_EQ(d.problems[0].id, "c");
  EXPECT_THAT(d.problems[0].reason, testing::HasSubstr("c_0001.nii.gz is missing"));
  EXPECT_THAT(d.problems[1].reason, testing::HasSubstr("label"));
  EXPECT_THAT(d.problems[2].reason, testing::HasSubstr("image"));
}

TEST(Dataset, TheDecathlonListsItsFiles) {
  ScratchFolder dir;
  write_bytes(dir.path() / "dataset.json", kNumbered);
  touch(dir.path(), {"imagesTr/s_1.nii.gz", "imagesTr/s_2.nii.gz", "labelsTr/s_1.nii.gz", "labelsTr/s_2.nii.gz",
                     "imagesTr/._s_1.nii.gz", "imagesTs/s_3.nii.gz"});
  const Dataset d = read_dataset(dir.path());
  EXPECT_EQ(d.kind, "Decathlon");
  EXPECT_EQ(d.name, "Spleen");
  EXPECT_THAT(case_ids(d.training), testing::ElementsAre("s_1", "s_2"));
  EXPECT_THAT(case_ids(d.test), testing::ElementsAre("s_3"));
  EXPECT_THAT(d.label_names, testing::ElementsAre("background", "spleen"));
  EXPECT_TRUE(d.problems.empty());
}

TEST(Dataset, TwoLabelsOfOneNameAreRefused) {
  ScratchFolder dir;
  write_bytes(dir.path() / "dataset.json", R"({"modality": {"0": "CT"}, "training": [], "test": [],
      "labels": {"0": "background", "1": "tumour", "2": "liver", "3": "tumour"}})");
  expect_error(ErrorKind::kInput, "gives several of its labels one name", [&] { read_dataset(dir.path()); });
}

TEST(Dataset, Version1HasChannelFilesUnderTheSameKeys) {
  ScratchFolder dir;
  write_bytes(dir.path() / "dataset.json", kNumbered);
  touch(dir.path(), {"imagesTr/s_1_0000.nii.gz", "labelsTr/s_1.nii.gz", "imagesTr/s_2_0000.nii.gz",
                     "labelsTr/s_2.nii.gz", "imagesTs/s_3_0000.nii.gz"});
  const Dataset d = read_dataset(dir.path());
  EXPECT_EQ(d.kind, "nnU-Net v1");
  EXPECT_THAT(case_ids(d.training), testing::ElementsAre("s_1", "s_2"));
  EXPECT_EQ(d.training[0].images[0].filename(), "s_1_0000.nii.gz");
  EXPECT_THAT(case_ids(d.test), testing::ElementsAre("s_3"));
}

TEST(Dataset, WhatIsWrittenIsReadBack) {
  ScratchFolder dir;
  touch(dir.path(), {"imagesTr/a_0000.nii.gz", "labelsTr/a.nii.gz"});
  Dataset d{.name = "Toy", .folder = dir.path(), .channels = {"CT"}, .label_names = {"background", "left", "right"}};
  write_dataset_json(d);
  const Dataset back = read_dataset(dir.path());
  EXPECT_EQ(back.name, "Toy");
  EXPECT_EQ(back.label_names, d.label_names);
  EXPECT_EQ(back.channels, d.channels);
}

TEST(Dataset, WhatIsNoDataSetIsRefusedWithTheReason) {
  ScratchFolder dir;
  expect_error(ErrorKind::kInput, "not a folder", [&] { read_dataset(dir.path() / "none"); });
  expect_error(ErrorKind::kInput, "no dataset.json", [&] { read_dataset(dir.path()); });
  auto refused = [&](const char* text, ErrorKind kind, const std::string& why) {
    write_bytes(dir.path() / "dataset.json", text);
    expect_error(kind, why, [&] { read_dataset(dir.path()); });
  };
  refused("{\n\"a\": }", ErrorKind::kInput, "dataset.json:2: is not valid JSON");
  refused("[1]", ErrorKind::kInput, "no description");
  refused(R"({"channel_names": {"0": "CT"}, "labels": {"background": 0, "x": 2}, "file_ending": ".nii.gz"})",
          ErrorKind::kInput, "without gaps");
  refused(R"({"channel_names": {"0": "CT"}, "labels": {"background": 0, "x": [1, 2]}, "file_ending": ".nii.gz"})",
          ErrorKind::kInput, "regions");
  refused(R"({"channel_names": {"0": "CT"}, "labels": {"background": 0, "x": 4294967297}, "file_ending": ".nii.gz"})",
          ErrorKind::kInput, "not a whole number");  // not class 1 by wrapping around
  refused(R"({"channel_names": {"0": "CT"}, "labels": {"background": 0}, "file_ending": 3})", ErrorKind::kInput,
          "wrong form");
  refused(kV2, ErrorKind::kNoCase, "no usable case");
  touch(dir.path(), {"imagesTr/a_0000.nii.gz"});
  refused(kV2, ErrorKind::kNoCase, "case a: image");
}

TEST(Dataset, MasksOfEachSubjectAreNamedAsWhatTheyAreWithTheNextStep) {
  ScratchFolder dir;
  write_bytes(dir.path() / "s0001/ct.nii.gz", ""), write_bytes(dir.path() / "s0001/segmentations/liver.nii.gz", "");
  EXPECT_TRUE(holds_masks_by_subject(dir.path()));
  EXPECT_FALSE(holds_masks_by_subject(dir.path() / "s0001"));
  expect_error(ErrorKind::kInput, "make one label map of whole numbers of each subject's masks",
               [&] { read_dataset(dir.path()); });
}

TEST(Dataset, FoldersOfNnUNetThatLackOnlyTheirDescriptionGetOneToWrite) {
  ScratchFolder dir;
  write_bytes(dir.path() / "imagesTr" / "a_0000.nii.gz", "");
  write_bytes(dir.path() / "labelsTr" / "a.nii.gz", "");
  expect_error(ErrorKind::kInput, R"("file_ending":".nii.gz","labels":{"CLASS":1,"background":0},"numTraining":1)",
               [&] { read_dataset(dir.path()); });
}

TEST(Dataset, TheRealTrainingSetHas40And16Cases) {
  const fs::path root = test_data() / "ct/Dataset001_OpenKBP";
  REQUIRE_TEST_DATA(root);
  const Dataset d = read_dataset(root);
  EXPECT_EQ(d.training.size(), 40u);
  EXPECT_EQ(d.test.size(), 16u);
  for (const Case& c : d.test) EXPECT_TRUE(c.label) << c.id;
  EXPECT_EQ(d.label_names[7], "Larynx");
  EXPECT_TRUE(d.problems.empty());
}

TEST(Splits, PermutationIsNumpys) {
  // The published results of np.random.RandomState(0).permutation(10) and RandomState(42).permutation(10).
  EXPECT_THAT(numpy_permutation(10, 0), testing::ElementsAre(2, 8, 4, 9, 1, 6, 7, 3, 0, 5));
  EXPECT_THAT(numpy_permutation(10, 42), testing::ElementsAre(8, 1, 5, 0, 7, 2, 9, 4, 3, 6));
}

TEST(Splits, EveryCaseValidatesOnceAndOrderDoesNotMatter) {
  std::vector<std::string> ids;
  for (int i = 0; i < 13; ++i) ids.push_back("case_" + std::to_string(i));
  const auto splits = make_splits(ids);
  std::reverse(ids.begin(), ids.end());
  const auto again = make_splits(ids);
  std::multiset<std::string> seen;
  ASSERT_EQ(splits.size(), 5u);
  for (std::size_t f = 0; f < 5; ++f) {
    EXPECT_EQ(splits[f].val, again[f].val);
    EXPECT_EQ(splits[f].val.size(), f < 3 ? 3u : 2u);
    EXPECT_EQ(splits[f].train.size() + splits[f].val.size(), 13u);
    EXPECT_TRUE(std::is_sorted(splits[f].train.begin(), splits[f].train.end()));
    seen.insert(splits[f].val.begin(), splits[f].val.end());
  }
  EXPECT_EQ(seen, std::multiset<std::string>(ids.begin(), ids.end()));
  EXPECT_NE(make_splits(ids, 5, 7)[0].val, splits[0].val);
  expect_error(ErrorKind::kConfig, "cannot make 5 folds of 3", [] { make_splits({"a", "b", "c"}); });
}

TEST(Splits, FileRoundTripAndMalformedFile) {
  ScratchFolder dir;
  const auto splits = make_splits({"a", "b", "c", "d", "e", "f"}, 3);
  write_splits(dir.path() / "splits_final.json", splits);
  const auto back = read_splits(dir.path() / "splits_final.json");
  ASSERT_EQ(back.size(), 3u);
  for (std::size_t f = 0; f < 3; ++f) {
    EXPECT_EQ(back[f].train, splits[f].train);
    EXPECT_EQ(back[f].val, splits[f].val);
  }
  for (const char* text : {"{}", "[]", "[1]", "[{\"train\": [\"a\"]}]", "[{\"train\": [1], \"val\": []}]"}) {
    write_bytes(dir.path() / "bad.json", text);
    expect_error(ErrorKind::kInput, "bad.json", [&] { read_splits(dir.path() / "bad.json"); });
  }
}

}  // namespace
}  // namespace voxshard
