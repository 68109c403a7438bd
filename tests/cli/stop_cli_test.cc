// Ctrl-C and SIGTERM, sent to a running command: it acknowledges them and stops within a step, a validation or a
// prediction; what it saves is whole and says so when something is missing; a second signal ends it at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "tests/cli/process.h"

namespace voxshard {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

/// A data set of images, and a detector that is slow on them.
class StopCli : public testing::Test {
 protected:
  static constexpr int kImages = 16;  // seconds of validation, far more than a signal needs
  static void SetUpTestSuite() {
    folder_ = new Folder("stop");
    ASSERT_EQ(run_voxshard("demo " + file("data") + " --task detection --cases 2 --test " + std::to_string(kImages) +
                           " --quiet")
                  .exit_code,
              0);
  }
  static void TearDownTestSuite() {
    delete folder_;
    folder_ = nullptr;
  }
  static std::string file(const std::string& name) { return *folder_ / name; }
  static std::string truth() { return file("data/annotations/instances_val.json"); }
  static std::string train(const std::string& run, const std::string& words, const std::string& crop = "64x64") {
    return "train " + file("data") + " -o " + file(run) +
           " --model retinanet --backbone resnet50 --base-filters 64 --precision f32 --pad-multiple 256 "
           "--partition 1x1x1x1 --crop " +
           crop + " " + words;
  }
  static std::string train_quick_model(const std::string& run, const std::string& words) {
    return "train " + file("data") + " -o " + file(run) +
           " --model retinanet --backbone resnet18 --base-filters 8 --pyramid-filters 16 --precision f32 "
           "--partition 1x1x1x1 --crop 64x64 " +
           words;
  }
  /// Writes a list of so many images, those of the truth again and again; 2000 take many minutes to predict.
  static std::string images_of_truth(int images) {
    json list = json::parse(file_text(truth()));
    const json once = list.at("images");
    list["annotations"] = json::array();
    list["images"] = json::array();
    for (int i = 0; i < images; ++i) {
      json image = once.at(i % once.size());
      image["id"] = 1 + i;
      list["images"].push_back(image);
    }
    const std::string path = file("data/val/" + std::to_string(images) + ".json");
    std::ofstream(path) << list.dump();
    return path;
  }
  inline static Folder* folder_ = nullptr;
};

TEST_F(StopCli, ADetectorsValidationIsLeftAndDoneByResume) {
  Process p(train("validated", "--steps 1"));
  ASSERT_TRUE(p.read_until("validate "));
  p.send(SIGTERM);
  const CommandResult stopped = p.wait();
  EXPECT_EQ(stopped.exit_code, 143) << stopped.err;
  EXPECT_THAT(stopped.err, HasSubstr("stopping: the step at hand is dropped"));
  const std::string images = std::to_string(kImages);
  EXPECT_THAT(stopped.err, Not(HasSubstr("validate " + images + "/" + images)));
  EXPECT_THAT(stopped.out, HasSubstr("INCOMPLETE: all steps are done, but the last validation was stopped"));
  EXPECT_THAT(stopped.out, Not(HasSubstr("--steps"))) << "there is none left to end the run before";
  EXPECT_THAT(stopped.out, HasSubstr("next: voxshard train --resume " + file("validated") + "\n"));
  EXPECT_EQ(json::parse(file_text(file("validated/run.json"))).at("report").at("interrupted"), true);
  EXPECT_FALSE(std::filesystem::exists(file("validated/checkpoints/best.safetensors")));
  const CommandResult resumed = run_voxshard("train --resume " + file("validated") + " --json");
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(resumed.json().at("interrupted"), false);
  EXPECT_TRUE(resumed.json().at("mean_ap50").is_number());
  EXPECT_TRUE(std::filesystem::exists(file("validated/checkpoints/best.safetensors")));
  const std::string rows = file_text(file("validated/results.csv"));
  EXPECT_EQ(std::count(rows.begin(), rows.end(), '\n'), 2) << rows;
  EXPECT_THAT(rows, Not(HasSubstr("nan")));

  // The predictions of a stopped run are no results.
  Process q("predict " + file("validated") + " " + images_of_truth(2000) + " -o " + file("found.json"));
  ASSERT_TRUE(q.read_until("/2000  ")) << "the name of the image follows the number once one is predicted";
  q.send(SIGINT);
  const CommandResult predicted = q.wait();
  EXPECT_EQ(predicted.exit_code, 130) << predicted.err;
  EXPECT_THAT(predicted.out, HasSubstr("INCOMPLETE"));
  EXPECT_THAT(predicted.out, HasSubstr("of 2000 not reached"));
  EXPECT_FALSE(std::filesystem::exists(file("found.json")));
  EXPECT_TRUE(json::parse(file_text(file("found.incomplete.json"))).is_array());
  EXPECT_THAT(file_text(file("found.quarantine.csv")), HasSubstr(",E_STOPPED,"));
}

TEST_F(StopCli, AKilledPredictionGoesOnToTheSameBytes) {
  const CommandResult trained = run_voxshard(train("killed", "--steps 1 --fold all --quiet"));
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const std::string predict = "predict " + file("killed") + " " + images_of_truth(4) + " -o ";
  ASSERT_EQ(run_voxshard(predict + file("whole.json") + " --quiet").exit_code, 0);
  {
    Process p(predict + file("killed.json"));
    ASSERT_TRUE(p.read_until(": predicted in ")) << p.seen();
    p.send(SIGKILL);
    p.wait();
  }
  EXPECT_FALSE(std::filesystem::exists(file("killed.json")));
  const CommandResult again = run_voxshard(predict + file("killed.json") + " --json");
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr(": kept, predicted by an earlier call"));
  EXPECT_GE(again.json().at("kept"), 1);
  EXPECT_TRUE(file_text(file("killed.json")) == file_text(file("whole.json")));
}

TEST_F(StopCli, AStepIsDroppedAndTheStateBeforeItSaved) {
  Process p(train("dropped", "--steps 3 --fold all --batch 2 --json", "256x256"));
  ASSERT_TRUE(p.read_until("train 0/3"));
  p.send(SIGTERM);
  const CommandResult r = p.wait();
  EXPECT_EQ(r.exit_code, 143) << r.err;
  EXPECT_EQ(r.json().at("steps"), 0);
  EXPECT_EQ(r.json().at("interrupted"), true);
  EXPECT_TRUE(std::filesystem::exists(file("dropped/checkpoints/last.safetensors")));
}

TEST_F(StopCli, ASecondSignalEndsAtOnceAndLeavesWholeFiles) {
  Process p(train("twice", "--steps 1"));
  ASSERT_TRUE(p.read_until("validate "));
  p.send(SIGINT), p.send(SIGTERM);
  const CommandResult r = p.wait();
  EXPECT_TRUE(r.exit_code == 130 || r.exit_code == 143) << r.exit_code;
  EXPECT_THAT(r.err, HasSubstr("ended at once"));
  EXPECT_FALSE(has_temporary_files(file("twice")));
  EXPECT_FALSE(json::parse(file_text(file("twice/run.json"))).contains("report"));
  EXPECT_TRUE(json::accept(file_text(file("twice/splits_final.json"))));
}

TEST_F(StopCli, AnEndAtOnceLeavesNoTemporaryFileAndNoDataSet) {
  Process p("demo " + file("volumes") + " --size medium --cases 60 --test 0 --json");
  ASSERT_TRUE(p.read_until("phantoms "));
  while (!has_temporary_files(file("volumes"))) ASSERT_FALSE(std::filesystem::exists(file("volumes/dataset.json")));
  p.send(SIGINT);
  const CommandResult r = p.wait();
  EXPECT_EQ(r.exit_code, 130);
  EXPECT_EQ(r.error_kind(), "interrupted");
  EXPECT_THAT(r.err, HasSubstr("interrupted: files that are whole stay"));
  EXPECT_FALSE(has_temporary_files(file("volumes")));
  EXPECT_FALSE(std::filesystem::exists(file("volumes/dataset.json")));
  for (const auto& entry : std::filesystem::directory_iterator(file("volumes/imagesTr")))
    EXPECT_EQ(run_voxshard("info " + entry.path().string()).exit_code, 0) << entry.path();
}

/// mpirun sends SIGTERM to the other ranks as soon as one has ended with another code than 0, as one of a partial
/// result does.
TEST_F(StopCli, ASignalWhileTheResultIsPrintedAddsNoSecondDocument) {
  const std::string fifo = file("fifo");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  Process p("explain --model unet3d --size 64x64x64 --stage program --json > " + fifo + " #");
  const int reader = ::open(fifo.c_str(), O_RDONLY);
  const int capacity = ::fcntl(reader, F_SETPIPE_SZ, 4096);
  ASSERT_EQ(capacity, 4096);
  for (int waiting = 0; waiting < capacity; ::ioctl(reader, FIONREAD, &waiting)) {
    pollfd ready{.fd = reader, .events = POLLIN, .revents = 0};
    ASSERT_GT(::poll(&ready, 1, 120'000), 0);
  }
  p.send(SIGTERM);  // the program waits for the reader within its result
  std::string out;
  char buffer[4096];
  for (ssize_t n; (n = ::read(reader, buffer, sizeof buffer)) > 0;) out.append(buffer, static_cast<std::size_t>(n));
  ::close(reader);
  EXPECT_EQ(p.wait().exit_code, 0);
  EXPECT_TRUE(json::accept(out)) << out.substr(out.size() - std::min<std::size_t>(out.size(), 400));
}

TEST_F(StopCli, WhatSavesNothingEndsAtTheFirstSignal) {
  Process p("bench step --size 32x32x32 --base-filters 4 --steps 1000 --json");
  ASSERT_TRUE(p.read_until("bench step 0/"));
  p.send(SIGINT);
  const CommandResult r = p.wait();
  EXPECT_EQ(r.exit_code, 130);
  EXPECT_EQ(r.error_kind(), "interrupted");
  EXPECT_EQ(r.json().at("error").at("exit_code"), 130);
  EXPECT_THAT(r.err, HasSubstr("interrupted: no file is left half-written"));
}

TEST_F(StopCli, ALostTerminalStopsAsASignalToEndDoes) {
  Process p(train("hung", "--steps 3 --fold all --batch 2 --json", "256x256"));
  ASSERT_TRUE(p.read_until("train 0/3"));
  p.send(SIGHUP);
  const CommandResult r = p.wait();
  EXPECT_EQ(r.exit_code, 129) << r.err;
  EXPECT_EQ(r.json().at("interrupted"), true);
  EXPECT_TRUE(std::filesystem::exists(file("hung/checkpoints/last.safetensors")));
}

TEST_F(StopCli, AReaderThatGoesAwayStopsAndWhatIsWholeIsSaved) {
  const std::string words = train("unread", "--steps 2 --fold all --checkpoint-every 1", "64x64");
  const int status = std::system(("bash -c '" + std::string(VOXSHARD_BINARY) + " " + words + " 2>&1 | head -n 1 >" +
                                  file("line") + "; exit ${PIPESTATUS[0]}'")
                                     .c_str());
  EXPECT_EQ(WEXITSTATUS(status), 141);
  EXPECT_THAT(file_text(file("line")), HasSubstr("train ..."));
  EXPECT_FALSE(has_temporary_files(file("unread")));
  const CommandResult resumed = run_voxshard("train --json -q --resume " + file("unread"));
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(resumed.json().at("steps"), 2);
}

TEST_F(StopCli, AFileBeyondTheLimitOfTheProcessIsAnOutputThatCannotBeWritten) {
  const std::string command =
      std::string(VOXSHARD_BINARY) + " " + train_quick_model("limited", "--steps 1 --fold all -q");
  const int status = std::system(("bash -c 'ulimit -f 64; " + command + " 2>" + file("err") + "'").c_str());
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 6) << file_text(file("err"));
  EXPECT_THAT(file_text(file("err")), HasSubstr("File too large"));
  EXPECT_FALSE(has_temporary_files(file("limited")));
  const CommandResult resumed = run_voxshard("train --json -q --resume " + file("limited"));
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(resumed.json().at("steps"), 1);
}

TEST_F(StopCli, AProfileThatCannotBeWrittenLeavesNoneBehind) {
  const std::string bench = std::string(VOXSHARD_BINARY) +
                            " bench step --size 16x16x16 --base-filters 4 --depth 3 --steps 2 -q --trace " +
                            file("profile.json");
  const int status = std::system(("bash -c 'ulimit -f 1; " + bench + " 2>" + file("bench_err") + "'").c_str());
  EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 6) << file_text(file("bench_err"));
  EXPECT_FALSE(std::filesystem::exists(file("profile.json"))) << "an empty one looks like one of a run without steps";
  EXPECT_EQ(std::system((bench + " 2>/dev/null >/dev/null").c_str()), 0);
  EXPECT_THAT(file_text(file("profile.json")), HasSubstr("encoder0/conv0")) << "a whole one";
}

}  // namespace
}  // namespace voxshard
