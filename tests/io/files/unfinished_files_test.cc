// What a process that must end at once takes away: temporary files, and nothing that has its name.
#include "io/files/unfinished_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "io/files/atomic_file.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

TEST(UnfinishedFiles, AreRemovedAndWholeOnesStay) {
  const fs::path folder = fs::temp_directory_path() / ("voxshard_unfinished_" + std::to_string(::getpid()));
  fs::create_directories(folder);
  write_text_atomically(folder / "whole", "1");
  AtomicFile open(folder / "open");
  open.stream() << "half" << std::flush;
  EXPECT_TRUE(fs::exists(temporary_path(folder / "open")));
  remove_unfinished_files();
  EXPECT_FALSE(fs::exists(temporary_path(folder / "open")));
  EXPECT_TRUE(fs::exists(folder / "whole"));
  fs::remove_all(folder);
}

TEST(UnfinishedFiles, MoreThanCanBeNotedAreWrittenAllTheSame) {
  for (int i = 0; i < 200; ++i) note_unfinished("/nowhere/" + std::to_string(i));
  for (int i = 0; i < 200; ++i) forget_unfinished("/nowhere/" + std::to_string(i));
  remove_unfinished_files();
}

TEST(AtomicFile, WhatAStopCutShortHasAnotherName) {
  EXPECT_EQ(incomplete_path("out/found.json"), "out/found.incomplete.json");
  EXPECT_EQ(incomplete_path("found"), "found.incomplete");
}

}  // namespace
}  // namespace voxshard
