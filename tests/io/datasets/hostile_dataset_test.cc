// Descriptions of data sets with paths out of their folder, or with statements that nnU-Net does not know.
#include "io/datasets/dataset.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

using testing::HasSubstr;

const std::string kHead = R"({"channel_names": {"0": "CT"}, "file_ending": ".nii", )";
const std::string kLabels = R"("labels": {"background": 0, "liver": 1}, "numTraining": 1)";

std::string listed(const std::string& ids) { return kHead + kLabels + R"(, "dataset": {)" + ids + "}}"; }

std::string one(const std::string& id) { return "\"" + id + R"(": {"images": ["a.nii"], "label": "b.nii"})"; }

struct DatasetFolder : ScratchFolder {
  explicit DatasetFolder(const std::string& json) {
    write_bytes(path() / "dataset.json", json);
    for (const char* name : {"a.nii", "b.nii", "imagesTr/c_0000.nii", "labelsTr/c.nii"})
      write_bytes(path() / name, "x");
  }
};

TEST(Dataset, ACaseWhoseNameLeadsElsewhereIsLeftOutByItself) {
  const DatasetFolder dir(listed(one("good") + "," + one("../../x") + "," + one("/tmp/x") + "," + one("a\\nb") + "," +
                                 one("") + "," + one(".hidden") + "," + one("..")));
  const Dataset d = read_dataset(dir.path());
  EXPECT_THAT(case_ids(d.training), testing::ElementsAre("good"));
  ASSERT_EQ(d.problems.size(), 6u);
  for (const CaseProblem& p : d.problems) EXPECT_EQ(p.code, "E_NAME") << p.id;
}

TEST(Dataset, AFileEndingIsNoPath) {
  const DatasetFolder dir(R"({"channel_names": {"0": "CT"}, "file_ending": "/../../x.nii", )" + kLabels + "}");
  expect_error(ErrorKind::kInput, "file_ending", [&] { read_dataset(dir.path()); });
}

TEST(Dataset, TwoCasesOfOneNameDoNotOverwriteEachOther) {
  const DatasetFolder dir(R"({"modality": {"0": "CT"}, "labels": {"0": "background", "1": "x"}, "training": [
      {"image": "one/s.nii", "label": "b.nii"}, {"image": "two/s.nii", "label": "b.nii"}]})");
  for (const char* name : {"one/s.nii", "two/s.nii"}) write_bytes(dir.path() / name, "x");
  fs::remove_all(dir.path() / "imagesTr");
  const Dataset d = read_dataset(dir.path());
  EXPECT_THAT(case_ids(d.training), testing::ElementsAre("s"));
  ASSERT_EQ(d.problems.size(), 1u);
  EXPECT_EQ(d.problems[0].code, "E_DUPLICATE");
}

TEST(Dataset, FoldsNameCasesNotPaths) {
  ScratchFolder dir;
  write_bytes(dir.path() / "splits.json", R"([{"train": ["a"], "val": ["../b"]}])");
  expect_error(ErrorKind::kInput, "leads to another folder", [&] { read_splits(dir.path() / "splits.json"); });
}

TEST(Dataset, TheIgnoreLabelIsNoClass) {
  const DatasetFolder dir(kHead + R"("labels": {"background": 0, "liver": 1, "ignore": 2}})");
  Dataset d = read_dataset(dir.path());
  EXPECT_THAT(d.label_names, testing::ElementsAre("background", "liver"));
  EXPECT_EQ(d.ignore_label, 2);
  d.folder = dir.path() / "copy";
  fs::create_directories(d.folder);
  write_dataset_json(d);
  EXPECT_THAT(read_bytes(d.folder / "dataset.json"), HasSubstr("\"ignore\": 2"));
}

TEST(Dataset, AnIgnoreLabelThatIsNotTheHighestIsRefusedByName) {
  const DatasetFolder dir(kHead + R"("labels": {"background": 0, "ignore": 1, "liver": 2}})");
  expect_error(ErrorKind::kInput, "\"ignore\"", [&] { read_dataset(dir.path()); });
}

TEST(Dataset, NamesThatSteerAScreenAreRefusedAndItsOwnIsSpelledOut) {
  for (const char* name : {"liver\\u001b[2J", "liver\\n", "liver\\u009b", "liver\\u202e", "liver\\u2028"}) {
    const DatasetFolder dir(kHead + R"("labels": {"background": 0, ")" + name + R"(": 1}})");
    expect_error(ErrorKind::kInput, "holds a control character", [&] { read_dataset(dir.path()); });
  }
  const DatasetFolder dir(kHead + kLabels + R"(, "name": "a\u001b[2Jb\n"})");
  EXPECT_EQ(read_dataset(dir.path()).name, "a\\x1b[2Jb\\x0a");
}

TEST(Dataset, ErrorsShowNoNameOfACaseThatIsHidden) {
  const std::string broken[] = {
      kHead + kLabels + ",\n \"annotated\": {\"MEIER_ANNA\" [\"liver\"]}}",    // no JSON
      kHead + kLabels + ",\n \"annotated\": {\"MEIER\": [], \"MEIER\": []}}",  // a name twice
      kHead + kLabels +
          ", \"dataset\": {\"MEIER\": {\"images\": [\"MEIER.nii\"], \"label\": \"MEIER.nii\"}}}"};  // missing
  for (const std::string& text : broken) {
    const DatasetFolder dir(text);
    expect_error(&text == &broken[2] ? ErrorKind::kNoCase : ErrorKind::kInput,
                 &text == &broken[0] ? "is not valid JSON" : "MEIER", [&] { read_dataset(dir.path()); });
    try {
      read_dataset(dir.path(), IdsInErrors::kHidden);
      ADD_FAILURE() << text;
    } catch (const Error& e) {
      EXPECT_THAT(e.what(), testing::Not(HasSubstr("MEIER")));
      EXPECT_THAT(e.what(), testing::AnyOf(HasSubstr("in line 2; look there"), HasSubstr("has a name twice"),
                                           HasSubstr("the first of 1: its code is E_MISSING")));
    }
  }
}

TEST(Dataset, TheBackgroundIsZeroAndIgnoreIsWrittenSo) {
  const DatasetFolder turned(kHead + R"("labels": {"background": 1, "a": 0}})");
  expect_error(ErrorKind::kInput, "gives the background the number 1", [&] { read_dataset(turned.path()); });
  const DatasetFolder capital(kHead + R"("labels": {"background": 0, "a": 1, "Ignore": 2}})");
  expect_error(ErrorKind::kInput, "has the label \"Ignore\"", [&] { read_dataset(capital.path()); });
}

}  // namespace
}  // namespace voxshard
