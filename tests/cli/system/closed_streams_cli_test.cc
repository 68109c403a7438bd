// Standard input, output and error that are closed when a command begins, as some schedulers leave them: the next file
// that is opened must not become one of them.
#include <map>

#include "tests/cli/trained_cli.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// The redirections by which the shell closes streams; `output`: standard output is one of them.
struct Closing {
  const char* words;
  bool output;
};
constexpr Closing kClosings[] = {{"<&-", false}, {"2>&-", false}, {">&-", true}, {"<&- >&- 2>&-", true}};

/// Returns the bytes of all files below a folder whose content depends on the inputs alone: files with times are left
/// out, lock files are included.
std::map<std::string, std::string> bytes_of(const std::string& folder) {
  std::map<std::string, std::string> bytes;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_regular_file() || name == "run.json" || name == "results.csv" || name == "metrics.jsonl" ||
        name == "report.html" || name.starts_with("events.out.tfevents") || name.starts_with("manifest"))
      continue;
    bytes[entry.path().lexically_relative(folder).string()] = file_text(entry.path().string());
  }
  return bytes;
}

/// Tests of commands in which OUT stands for the folder of their outputs.
class ClosedStreams : public TrainedCli {
 protected:
  static std::string words(std::string text, const std::string& out) {
    for (std::size_t at = 0; (at = text.find("OUT", at)) != std::string::npos; at += out.size())
      text.replace(at, 3, out);
    return text;
  }
  /// Expects the outputs of a call with all streams open, byte for byte.
  static void expect_same_outputs(const std::string& command) {
    Folder folder("closed");
    const std::string out = folder / "out";
    fs::create_directories(out);
    const CommandResult open = run_voxshard(words(command, out));
    ASSERT_EQ(open.exit_code, 0) << command << "\n" << open.err;
    const auto expected = bytes_of(out);
    ASSERT_FALSE(expected.empty());
    for (const Closing& closing : kClosings) {
      fs::remove_all(out), fs::create_directories(out);
      const CommandResult r = run_voxshard(words(command, out), closing.words);
      EXPECT_EQ(r.exit_code, closing.output ? 6 : 0) << closing.words << ": " << command << "\n" << r.err;
      const auto found = bytes_of(out);
      EXPECT_EQ(found.size(), expected.size()) << closing.words << ": " << command;
      for (const auto& [name, bytes] : expected)
        EXPECT_TRUE(found.contains(name) && found.at(name) == bytes)
            << closing.words << ": " << name << " of " << command;
    }
  }
};

TEST_F(ClosedStreams, OutputsHaveTheBytesOfOpenOnes) {
  expect_same_outputs("prepare " + data() + " -o OUT/work --spacing 8,8,8");
  expect_same_outputs("train " + work() + " -o OUT/run" + kModel + kTraining);
  expect_same_outputs("predict " + run() + " " + data() + "/imagesTs -o OUT/pred");
  expect_same_outputs("evaluate " + data() + "/labelsTr " + data() + "/labelsTr -o OUT/summary.json");
}

/// The results for clips are written piece by piece while progress is shown.
TEST_F(ClosedStreams, NoProgressIsWrittenIntoTheClipsThatAreFound) {
  Folder f("clips");
  ASSERT_EQ(
      run_voxshard("demo " + (f / "set") + " --task classification --kind motion --cases 12 --test 6 -q").exit_code, 0);
  ASSERT_EQ(run_voxshard("train " + (f / "set") + " -o " + (f / "run") +
                         " --model resnet3d18 --base-filters 2 --steps 1 --precision f32 -q")
                .exit_code,
            0);
  expect_same_outputs("predict " + (f / "run") + " " + (f / "set") + " -o OUT/found.json --hop 8");
}

TEST_F(ClosedStreams, ARunThatWasKilledWithoutStandardErrorIsResumed) {
  Folder folder("resumed");
  ASSERT_EQ(run_voxshard("demo " + (folder / "data") + " --task classification --cases 30 --test 10 -q").exit_code, 0);
  const std::string train = "train " + (folder / "data") + " -o " + (folder / "run") +
                            " --model digits --batch 8 --precision f32 --steps 6 --checkpoint-every 1 --restart";
  const std::string fault =
      "ASAN_OPTIONS=verify_asan_link_order=0 LD_PRELOAD=" VOXSHARD_DISK_FAULTS " VOXSHARD_KILL_AT_FSYNC=18 exec";
  for (const Closing& closing : kClosings) {
    ASSERT_EQ(run_voxshard(train, closing.words, fault).exit_code, 137) << closing.words;
    EXPECT_LE(fs::file_size(folder / "run/.voxshard.lock"), 96u) << file_text(folder / "run/.voxshard.lock");
    const CommandResult r = run_voxshard("train --resume " + (folder / "run"));
    EXPECT_EQ(r.exit_code, 0) << closing.words << r.err;
  }
}

TEST_F(ClosedStreams, AResultWithoutAPlaceToGoIsNoSuccess) {
  for (const std::string words : {"--version", "--help", "explain --size 16x16x16 --base-filters 2 --json"}) {
    const CommandResult r = run_voxshard(words, ">&-");
    EXPECT_EQ(r.exit_code, 6) << words;
    EXPECT_THAT(r.err, HasSubstr("cannot write to standard output: Bad file descriptor")) << words;
  }
}

}  // namespace
}  // namespace voxshard
