// Data sets of several channels: one file each as in nnU-Net, or one file with a 4th axis as in the Decathlon.
#include "io/datasets/dataset.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

void empty_files(const fs::path& root, std::initializer_list<const char*> names) {
  for (const char* name : names) write_bytes(root / name, "x");
}

TEST(DatasetChannels, OfTheDecathlonAreAddressesInOneFile) {
  ScratchFolder dir;
  write_bytes(dir.path() / "dataset.json",
              R"({"modality": {"0": "FLAIR", "1": "T1w", "2": "T2w"}, "labels": {"0": "background", "1": "tumour"},
                  "training": [{"image": "./imagesTr/b_1.nii.gz", "label": "./labelsTr/b_1.nii.gz"},
                               {"image": "./imagesTr/b_2.nii.gz", "label": "./labelsTr/b_2.nii.gz"}],
                  "test": ["./imagesTs/b_3.nii.gz"]})");
  empty_files(dir.path(), {"imagesTr/b_1.nii.gz", "labelsTr/b_1.nii.gz", "labelsTr/b_2.nii.gz", "imagesTs/b_3.nii.gz"});
  const Dataset d = read_dataset(dir.path());
  ASSERT_EQ(case_ids(d.training), std::vector<std::string>{"b_1"});
  ASSERT_EQ(d.training[0].images.size(), 3U);
  EXPECT_EQ(d.training[0].images[2].filename(), "b_1.nii.gz#channel=2of3");
  EXPECT_EQ(d.test.at(0).images[0].filename(), "b_3.nii.gz#channel=0of3");
  ASSERT_EQ(d.problems.size(), 1U);
  EXPECT_EQ(d.problems[0].code, "E_MISSING");
}

TEST(DatasetChannels, ACaseWithAnotherNumberOfImagesIsLeftOut) {
  ScratchFolder dir;
  write_bytes(dir.path() / "dataset.json",
              R"({"channel_names": {"0": "CT", "1": "PET"}, "labels": {"background": 0, "x": 1}, "file_ending": ".nii",
                  "dataset": {"a": {"images": ["ct.nii", "pet.nii"], "label": "a.nii"},
                              "b": {"images": ["ct.nii"], "label": "a.nii"},
                              "c": {"images": ["ct.nii", "pet.nii", "ct.nii"], "label": "a.nii"}}})");
  empty_files(dir.path(), {"ct.nii", "pet.nii", "a.nii"});
  const Dataset d = read_dataset(dir.path());
  EXPECT_EQ(case_ids(d.training), std::vector<std::string>{"a"});
  ASSERT_EQ(d.problems.size(), 2U);
  EXPECT_THAT(d.problems[0].reason, testing::HasSubstr("lists 1 images; expected one for each of the 2 channels"));
  EXPECT_THAT(d.problems[1].reason, testing::HasSubstr("lists 3 images"));
}

TEST(DatasetChannels, MoreThanACaseMayHaveAreRefused) {
  ScratchFolder dir;
  std::string names;
  for (int c = 0; c < 10'000; ++c) names += (c > 0 ? ", \"" : "\"") + std::to_string(c) + "\": \"MR\"";
  for (const char* key : {"modality", "channel_names"}) {
    write_bytes(dir.path() / "dataset.json", R"({"labels": {"0": "background", "1": "x"}, "file_ending": ".nii", ")" +
                                                 std::string(key) + "\": {" + names + "}}");
    expect_error(ErrorKind::kInput, "more than 9999 channels", [&] { read_dataset(dir.path()); });
  }
}

TEST(DatasetChannels, AListMayNameOneChannelOfAFile) {
  ScratchFolder dir;
  write_bytes(dir.path() / "dataset.json",
              R"({"channel_names": {"0": "CT"}, "labels": {"background": 0, "x": 1}, "file_ending": ".nii",
                  "dataset": {"a": {"images": ["a.nii#channel=0of2"], "label": "a.nii"},
                              "b": {"images": ["none.nii#channel=0of2"], "label": "a.nii"}}})");
  empty_files(dir.path(), {"a.nii"});
  const Dataset d = read_dataset(dir.path());
  EXPECT_EQ(case_ids(d.training), std::vector<std::string>{"a"}) << "it is read as that channel";
  ASSERT_EQ(d.problems.size(), 1U);
}

}  // namespace
}  // namespace voxshard
