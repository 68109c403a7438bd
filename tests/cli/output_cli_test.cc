// Standard output that cannot be written is reported, and no text from outside controls the terminal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/run_voxshard.h"

namespace voxshard {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(StandardOutput, AFullDiskIsAnOutputThatCannotBeWritten) {
  const std::string model = "--size 16x16x16 --base-filters 2";
  for (const std::string& words : std::vector<std::string>{"--help", "--version", "--version --json", "train --help",
                                                           "explain " + model, "explain " + model + " --json"}) {
    Folder folder("full");
    const int status =
        std::system((std::string(VOXSHARD_BINARY) + " " + words + " >/dev/full 2>" + (folder / "err")).c_str());
    EXPECT_EQ(WEXITSTATUS(status), 6) << words;
    EXPECT_THAT(file_text(folder / "err"), HasSubstr("standard output")) << words;
  }
}

TEST(Screen, NothingFromOutsideSteersIt) {
  Folder folder("steer");
  folder.write("a.json", R"({"images": [{"id": 1, "file_name": "p\u001b]0;x\u0007\u202e.png"}],
      "categories": [{"id": 1, "name": "c"}], "annotations": []})");
  folder.write("b\x1b[2J\xc2\x9b.nii", "x");
  for (const std::string& words : {"info '" + (folder / "a.json") + "'", "info \"" + (folder / "b") + "\"*",
                                   "info \"" + (folder / "b") + "\"* --json"}) {
    const CommandResult r = run_voxshard(words);
    EXPECT_NE(r.exit_code, 0);
    for (const std::string& text : {r.out, r.err}) {
      EXPECT_THAT(text, Not(HasSubstr("\x1b")));
      EXPECT_THAT(text, Not(HasSubstr("\x07")));
      EXPECT_THAT(text, Not(HasSubstr("\u202e")));
      EXPECT_THAT(text, Not(HasSubstr("\u009b")));
    }
  }
}

TEST(OutputFile, NoCommandReplacesWhatIsNotItsOwn) {
  Folder folder("foreign");
  folder.write("mine.json", "{\"mine\": 1}");
  const std::string mine = folder / "mine.json", other = folder / "good.nii.gz";
  folder.write("good.nii.gz", "voxels");
  for (const std::string& words :
       {"doctor --quick -o " + mine, "bench step --size 16x16x16 --base-filters 2 --trace " + mine}) {
    const CommandResult r = run_voxshard(words);
    EXPECT_EQ(r.exit_code, 6) << words << r.err;
    EXPECT_THAT(r.err, HasSubstr("is there and is not")) << words;
  }
  EXPECT_EQ(run_voxshard("bench step --size 16x16x16 --base-filters 2 --trace " + other).exit_code, 2);
  EXPECT_EQ(file_text(mine), "{\"mine\": 1}");
  EXPECT_EQ(file_text(other), "voxels");
}

}  // namespace
}  // namespace voxshard
