// voxshard convert on the command line: both directions, its exit codes, and a data set that prepare takes.
#include "tests/cli/trained_cli.h"

namespace voxshard {
namespace {

using ::testing::HasSubstr;

class ConvertCli : public TrainedCli {};

TEST_F(ConvertCli, ADataSetBecomesRecordsAndAgainADataSetThatIsPrepared) {
  Folder folder("convert");
  const CommandResult out = run_voxshard("convert " + data() + " -o " + (folder / "records") + " --json");
  ASSERT_EQ(out.exit_code, 0) << out.err;
  EXPECT_EQ(out.json().at("converted"), 2);
  EXPECT_TRUE(std::filesystem::exists(folder / "records/instance-phantom_000-0.tfrecords"));
  const CommandResult back = run_voxshard("convert " + (folder / "records") + " -o " + (folder / "back"));
  ASSERT_EQ(back.exit_code, 0) << back.err;
  EXPECT_THAT(back.out, HasSubstr("2 volumes\nnext: voxshard prepare "));
  const CommandResult prepared =
      run_voxshard("prepare " + (folder / "back") + " -o " + (folder / "work") + " --spacing 8,8,8 --json");
  EXPECT_EQ(prepared.exit_code, 0) << prepared.err;
  EXPECT_EQ(prepared.json().at("prepared"), 2);
  EXPECT_EQ(run_voxshard("convert " + work() + " -o " + (folder / "prepared") + " --labels index").exit_code, 0)
      << "what prepare made";
}

TEST_F(ConvertCli, ADamagedFileExitsWithPartialAndIsQuarantined) {
  Folder folder("convert_damaged");
  ASSERT_EQ(run_voxshard("convert " + data() + " -o " + (folder / "records")).exit_code, 0);
  std::string bytes = file_text(folder / "records/instance-phantom_001-0.tfrecords");
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  folder.write("records/instance-phantom_001-0.tfrecords", bytes);
  const CommandResult r = run_voxshard("convert " + (folder / "records") + " -o " + (folder / "back"));
  EXPECT_EQ(r.exit_code, 8) << r.err;
  EXPECT_THAT(r.err, HasSubstr("instance-phantom_001-0.tfrecords"));
  EXPECT_THAT(r.out, HasSubstr("1 volume, 1 quarantined"));
  EXPECT_THAT(file_text(folder / "back/quarantine.csv"), HasSubstr("instance-phantom_001-0.tfrecords record 1,"));
}

TEST_F(ConvertCli, SizeIsThatOfTheVolumesWhereItFits) {
  Folder folder("convert_size");
  ASSERT_EQ(run_voxshard("convert " + data() + " -o " + (folder / "records")).exit_code, 0);
  const auto size_of = [&](const std::string& to, const std::string& options) {
    EXPECT_EQ(run_voxshard("convert " + (folder / "records") + " -o " + (folder / to) + options).exit_code, 0);
    const auto info =
        run_voxshard("info --json " + (folder / to) + "/imagesTr/instance-phantom_000-0_0000.nii.gz").json();
    return info.at("files").at(0).at("size").get<std::vector<std::int64_t>>();
  };
  const auto own = size_of("own", "");
  const std::string turned = std::to_string(own[1]) + "x" + std::to_string(own[2]) + "x" + std::to_string(own[0]);
  EXPECT_EQ(size_of("turned", " --size " + turned), (std::vector<std::int64_t>{own[0], own[2], own[1]})) << "D x H x W";
  EXPECT_EQ(size_of("other", " --size 3x5x7"), own) << "that of the record";
  expect_refusal("convert " + (folder / "records") + " -o " + (folder / "none") + " --size 0x1x2", 5, "config",
                 "0x1x2");
}

TEST_F(ConvertCli, ToSaysWhatIsWritten) {
  Folder folder("convert_to");
  ASSERT_EQ(run_voxshard("convert " + data() + " --to tfrecord -o " + (folder / "records")).exit_code, 0);
  ASSERT_EQ(run_voxshard("convert " + (folder / "records") + " --to folder -o " + (folder / "back")).exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(folder / "back/dataset.json"));
  expect_refusal("convert " + data() + " --to folder -o " + (folder / "a"), 4, "no_case", "has no TFRecord file");
  expect_refusal("convert " + (folder / "records") + " --to tfrecord -o " + (folder / "a"), 3, "input",
                 "holds no annotations");
  expect_refusal("convert " + data() + " --to zip -o " + (folder / "a"), 2, "usage", "--to");
}

TEST_F(ConvertCli, RecordsAreGzipOrPlainAndReadBackEitherWay) {
  Folder folder("convert_compression");
  for (const std::string compression : {"gzip", "none"}) {
    const std::string records = folder / compression;
    ASSERT_EQ(run_voxshard("convert " + data() + " --compression " + compression + " -o " + records).exit_code, 0);
    const std::string bytes = file_text(records + "/instance-phantom_000-0.tfrecords");
    ASSERT_GT(bytes.size(), 2u);
    EXPECT_EQ(bytes.substr(0, 2) == "\x1f\x8b", compression == "gzip");
    ASSERT_EQ(run_voxshard("convert " + records + " -o " + records + "_back").exit_code, 0);
  }
  const std::string volume = "_back/imagesTr/instance-phantom_001-0_0000.nii.gz";
  EXPECT_TRUE(file_text((folder / "gzip") + volume) == file_text((folder / "none") + volume)) << "to the byte";
  expect_refusal("convert " + data() + " --compression zip -o " + (folder / "a"), 2, "usage", "--compression");
}

TEST_F(ConvertCli, ImagesAreSpreadOverFiles) {
  Folder folder("convert_files");
  ASSERT_EQ(run_voxshard("demo " + (folder / "p") + " --task detection --cases 4 --test 2 --quiet").exit_code, 0);
  const std::string convert = "convert " + (folder / "p/annotations/instances_train.json") + " -o ";
  ASSERT_EQ(run_voxshard(convert + (folder / "r") + " --files 3").exit_code, 0);
  for (const char* name : {"00000", "00001", "00002"})
    EXPECT_TRUE(std::filesystem::exists(folder / ("r/instances_train-" + std::string(name) + "-of-00003.tfrecord")));
  const CommandResult back = run_voxshard("convert " + (folder / "r") + " -o " + (folder / "back") + " --json");
  ASSERT_EQ(back.exit_code, 0) << back.err;
  EXPECT_EQ(back.json().at("converted"), 4);
  expect_refusal(convert + (folder / "a") + " --files 0", 2, "usage", "--files");
}

TEST_F(ConvertCli, WrongUseIsRefused) {
  Folder folder("convert_wrong");
  folder.write("a.tfrecord", "no record at all");
  expect_refusal("convert " + (folder / "a.tfrecord") + " -o " + (folder / "out"), 4, "no_case",
                 "this is no TFRecord file");
  expect_refusal("convert " + (folder / "none") + " -o " + (folder / "out"), 3, "input", "does not exist");
  expect_refusal("convert " + data() + " -o " + data() + "/records", 2, "usage", "lie one in the other");
  expect_refusal("convert " + data() + " -o " + (folder / "out") + " --labels both", 2, "usage", "--labels");
  expect_refusal("convert " + data() + " -o " + work(), 6, "output", "was made by voxshard prepare");
  EXPECT_FALSE(std::filesystem::exists(folder / "out"));
}

}  // namespace
}  // namespace voxshard
