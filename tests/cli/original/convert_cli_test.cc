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
