// The last words of a process that crashes inside a library name the file that it was reading.
#include "io/files/now_reading.h"

#include <signal.h>
#include <unistd.h>

#include <optional>
#include <thread>

#include "tests/io/test_files.h"

namespace voxshard {
namespace {

#ifndef __SANITIZE_ADDRESS__

class NowReadingDeath : public testing::Test {
 protected:
  NowReadingDeath() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(NowReadingDeath, ACrashNamesTheFileOfItsThread) {
  const auto crash = [] {
    note_crashes(STDERR_FILENO);
    const NowReading mine("images/liver_03.nii.gz");
    std::optional<NowReading> other;
    std::thread([&] { other.emplace("images/liver_04.nii.gz"); }).join();
    ::raise(SIGSEGV);
  };
  EXPECT_EXIT(crash(), testing::KilledBySignal(SIGSEGV), "while reading images/liver_03.nii.gz; files are decoded");
}

TEST_F(NowReadingDeath, ACrashInALibrarysOwnThreadNamesAllThatAreRead) {
  const auto crash = [] {
    note_crashes(STDERR_FILENO);
    const NowReading one("a.mp4"), two("b.mp4");
    std::thread([] { std::abort(); }).join();
  };
  EXPECT_EXIT(crash(), testing::KilledBySignal(SIGABRT), "while reading a.mp4, b.mp4; files");
}

TEST_F(NowReadingDeath, ACrashShowsWhatSteersAScreenInLetters) {
  const auto crash = [] {
    note_crashes(STDERR_FILENO);
    const NowReading mine("a\x1b[2J\xff.mp4");
    ::raise(SIGSEGV);
  };
  EXPECT_EXIT(crash(), testing::KilledBySignal(SIGSEGV), R"(while reading a\\x1b\[2J\\xff\.mp4; files)");
}

TEST_F(NowReadingDeath, ACrashWithoutAFileSaysWhichItWas) {
  const auto crash = [] {
    note_crashes(STDERR_FILENO);
    { const NowReading done("a.mp4"); }
    ::raise(SIGFPE);
  };
  EXPECT_EXIT(crash(), testing::KilledBySignal(SIGFPE),
              "^\nvoxshard: .crash. an impossible division .SIGFPE., while no file was read");
}

TEST_F(NowReadingDeath, AfterMoreFilesThanCanBeNotedTheNextIsNamed) {
  const auto crash = [] {
    note_crashes(STDERR_FILENO);
    std::vector<std::unique_ptr<NowReading>> many;
    for (int i = 0; i < 200; ++i) many.push_back(std::make_unique<NowReading>(std::string(5000, 'x')));
    many.clear();
    const NowReading again("a.mp4");
    ::raise(SIGSEGV);
  };
  EXPECT_EXIT(crash(), testing::KilledBySignal(SIGSEGV), "while reading a.mp4; files");
}

#endif

}  // namespace
}  // namespace voxshard
