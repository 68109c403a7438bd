// Named pipes and devices where a file is expected, and links where a temporary file will be: no command waits for a
// writer of a pipe or reads a device without end, and none writes through a link that somebody else put there.
#include <sys/stat.h>

#include <cctype>

#include "tests/cli/trained_cli.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using testing::AnyOf;
using testing::HasSubstr;

/// Runs voxshard with a limit of 120 s: a command that waits for ever is ended, with exit code 124.
CommandResult run_bounded(const std::string& words) { return run_voxshard(words, "", "exec timeout -k 5 120"); }

/// Puts a named pipe in the place of a file, and makes its parent folders.
void put_pipe(const std::string& path) {
  fs::create_directories(fs::path(path).parent_path());
  fs::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0) << path;
}

class SpecialFiles : public TrainedCli {
 protected:
  /// Expects `words` to be refused in time because `pipe` is a named pipe.
  static void expect_refused(const std::string& pipe, const std::string& words,
                             const std::string& piece = "is a named pipe") {
    put_pipe(pipe);
    const CommandResult r = run_bounded(words);
    EXPECT_THAT(r.exit_code, AnyOf(3, 4, 5, 6, 8, 10)) << words << "\n" << r.err;
    EXPECT_THAT(r.err + r.out, HasSubstr(piece)) << words;
    fs::remove(pipe);
  }
  /// Returns a copy of the run, to be damaged.
  static std::string copy_of(const std::string& from, const std::string& to) {
    fs::copy(from, to, fs::copy_options::recursive);
    return to;
  }
};

TEST_F(SpecialFiles, ANamedPipeIsNoInput) {
  Folder f("pipes");
  const std::string image = data() + "/imagesTr/phantom_000_0000.nii.gz", predict = "predict " + run() + " ";
  const std::string plan = "plan --size 32x32x32 --base-filters 4 ";
  expect_refused(f / "c.toml", "info " + image + " --config " + (f / "c.toml"));
  expect_refused(f / "c.yaml", "info " + image + " --config " + (f / "c.yaml"));
  expect_refused(f / "x.nii.gz", "info " + (f / "x.nii.gz"), "is not a file");
  expect_refused(f / "x.nii", predict + (f / "x.nii") + " -o " + (f / "pred"));
  expect_refused(f / "x.mp4", "info " + (f / "x.mp4"), "is a named pipe");
  expect_refused(f / "x.png", "info " + (f / "x.png"));
  expect_refused(f / "x.tif", "info " + (f / "x.tif"));
  expect_refused(f / "x.tfrecords", "convert " + (f / "x.tfrecords") + " -o " + (f / "out"));
  expect_refused(f / "tpu.json", plan + "--device " + (f / "tpu.json"));
  expect_refused(f / "x.nii.gz",
                 "explain --size 32x32x32 --base-filters 4 --draw " + (f / "d.png") + " --sample " + (f / "x.nii.gz"),
                 "is not a file");
  expect_refused(f / "set/dataset.json", "prepare " + (f / "set") + " -o " + (f / "work"), "has no dataset.json");
  expect_refused(f / "found.json", "evaluate " + (f / "found.json") + " " + data() + "/labelsTr", "");
}

/// /dev/zero, which has no end, stands behind the names of files: it is refused before it is read.
TEST_F(SpecialFiles, ADeviceIsNoInput) {
  Folder f("devices");
  fs::create_symlink("/dev/zero", f / "zero.toml");
  fs::create_symlink("/dev/zero", f / "zero.png");
  std::string before = "exec timeout -k 5 120";
#ifndef __SANITIZE_ADDRESS__  // the sanitizer itself takes all of the address space
  before = "ulimit -v 3000000 && " + before;
#endif
  const std::string image = data() + "/imagesTr/phantom_000_0000.nii.gz";
  const CommandResult config = run_voxshard("info " + image + " --config " + (f / "zero.toml"), "", before);
  EXPECT_EQ(config.exit_code, 5) << config.err;
  EXPECT_THAT(config.err, HasSubstr("it is a device"));
  const CommandResult input = run_voxshard("info " + (f / "zero.png"), "", before);
  EXPECT_EQ(input.exit_code, 3) << input.err;
  EXPECT_THAT(input.err, HasSubstr("it is a device"));
}

TEST_F(SpecialFiles, ANamedPipeIsNoPartOfADetectionSet) {
  Folder f("boxes");
  const std::string train = " --model retinanet --backbone resnet18 --steps 1 -o " + (f / "run");
  expect_refused(f / "coco/annotations.json", "train " + (f / "coco/annotations.json") + train);
  fs::create_directories(f / "voc/JPEGImages");
  expect_refused(f / "voc/Annotations/a.xml", "train " + (f / "voc") + train);
  fs::create_directories(f / "kitti/image_2");
  expect_refused(f / "kitti/label_2/a.txt", "train " + (f / "kitti") + train);
  fs::create_directories(f / "mot/gt");
  f.write("mot/gt/gt.txt", "1,1,1,1,9,9,1,1,1\n");
  expect_refused(f / "mot/seqinfo.ini", "train " + (f / "mot") + train);
  fs::remove_all(f / "mot");
  expect_refused(f / "gt.txt", "train " + (f / "gt.txt") + train, "");
}

TEST_F(SpecialFiles, ANamedPipeIsNoPartOfAClassesSet) {
  Folder f("classes");
  const std::string train = " --model digits --steps 1 -o " + (f / "run");
  ASSERT_EQ(run_voxshard("demo " + (f / "digits") + " --task classification --cases 30 --test 10 -q").exit_code, 0);
  expect_refused(f / "list.csv", "train " + (f / "list.csv") + train, "");
  expect_refused(f / "digits/train-images-idx3-ubyte", "train " + (f / "digits") + train, "");
}

TEST_F(SpecialFiles, ANamedPipeIsNoPartOfARun) {
  Folder f("run");
  for (const std::string file : {"checkpoints/last.safetensors", "checkpoints/last.json", "run.json", "results.csv",
                                 "metrics.jsonl", "manifest.jsonl", ".voxshard.lock"}) {
    const std::string copy = copy_of(run(), f / "run");
    fs::remove(copy + "/checkpoints/best.safetensors");
    put_pipe(copy + "/" + file);
    for (const std::string& words : {"status " + copy, "train --resume " + copy + " --steps 4",
                                     "predict " + copy + " " + data() + "/imagesTs -o " + (f / "pred")}) {
      const CommandResult r = run_bounded(words);
      EXPECT_NE(r.exit_code, 124) << file << ": " << words;
      EXPECT_NE(r.exit_code, 1) << file << ": " << words << r.err;
    }
    fs::remove_all(copy);
  }
}

TEST_F(SpecialFiles, ANamedPipeIsNoPartOfAPreparedFolder) {
  Folder f("work");
  for (const std::string file :
       {"plans.json", "dataset.json", "manifest.jsonl", ".voxshard.lock", "splits.json", "cases/phantom_000.json"}) {
    const std::string copy = copy_of(work(), f / "work");
    put_pipe(copy + "/" + file);
    for (const std::string& words : {"train " + copy + " -o " + (f / "run") + kModel + kTraining + " --restart",
                                     "prepare " + data() + " -o " + copy + " --spacing 8,8,8"}) {
      const CommandResult r = run_bounded(words);
      EXPECT_NE(r.exit_code, 124) << file << ": " << words;
      EXPECT_NE(r.exit_code, 1) << file << ": " << words << r.err;
    }
    fs::remove_all(copy);
  }
}

TEST_F(SpecialFiles, ANamedPipeIsNoOutput) {
  Folder f("outputs");
  const std::string labels = data() + "/labelsTr";
  expect_refused(f / "s.json", "evaluate " + labels + " " + labels + " -o " + (f / "s.json"), "is there and is not");
  expect_refused(f / "t.json", "bench step --size 16x16x16 --base-filters 2 --trace " + (f / "t.json"),
                 "is there and is not");
  expect_refused(f / "d.png", "explain --size 32x32x32 --base-filters 4 --draw " + (f / "d.png"),
                 "is there and is not");
}

/// Returns the name of a temporary file where getrandom gives zeros: ".tmp.HOST-PID-0000000000000000.", with the
/// shell's own process id, which the command keeps.
std::string guessed(const std::string& folder, const std::string& name) {
  char text[256] = {};
  ::gethostname(text, sizeof text - 1);
  std::string host;
  for (const char* at = text; *at != 0 && host.size() < 16; ++at)
    host += std::isalnum(static_cast<unsigned char>(*at)) ? *at : '_';
  return folder + "/.tmp." + host + "-$$-" + std::string(16, '0') + "." + name;
}

/// The exit code proves that the link had the name of the temporary file: one of another name is not in the way.
TEST_F(SpecialFiles, APlantedLinkIsNotFollowed) {
  Folder f("links");
  f.write("target", "precious");
  fs::create_directories(f / "pred");
  const std::string labels = data() + "/labelsTr";
  const std::string zeros =
      "ASAN_OPTIONS=verify_asan_link_order=0 LD_PRELOAD=" VOXSHARD_DISK_FAULTS " VOXSHARD_RANDOM_ZERO=1 exec";
  for (const auto& [words, place] :
       {std::pair{"evaluate " + labels + " " + labels + " -o " + (f / "s.json"), guessed(f / "", "s.json")},
        std::pair{"predict " + run() + " " + data() + "/imagesTs -o " + (f / "pred"),
                  guessed(f / "pred", "manifest.jsonl")},
        std::pair{"explain --size 32x32x32 --base-filters 4 --draw " + (f / "d.png"), guessed(f / "", "d.png")},
        std::pair{"bench step --size 16x16x16 --base-filters 2 --trace " + (f / "t.json"),
                  guessed(f / "", "t.json")}}) {
    const CommandResult r = run_voxshard(words, "", "ln -s " + (f / "target") + " " + place + " && " + zeros);
    EXPECT_EQ(r.exit_code, 6) << words << "\n" << r.err;
    EXPECT_THAT(r.err, HasSubstr("cannot write")) << words;
    EXPECT_EQ(file_text(f / "target"), "precious") << words;
  }
  for (const char* output : {"s.json", "pred/manifest.jsonl", "d.png", "t.json"})
    EXPECT_FALSE(fs::exists(fs::symlink_status(f / output))) << output;
}

}  // namespace
}  // namespace voxshard
