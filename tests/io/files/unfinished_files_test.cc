// What a process that must end at once takes away: temporary files, and nothing that has its name.
#include "io/files/unfinished_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <vector>

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
  const fs::path folder = fs::temp_directory_path() / ("voxshard_many_unfinished_" + std::to_string(::getpid()));
  fs::create_directories(folder);
  std::vector<std::unique_ptr<AtomicFile>> files;
  for (int i = 0; i < 100; ++i) files.push_back(std::make_unique<AtomicFile>(folder / std::to_string(i)));
  for (auto& file : files) file->commit();
  files.clear();
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 100);
  AtomicFile later(folder / "later");  // there is room again
  remove_unfinished_files();
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 100);
  fs::remove_all(folder);
}

TEST(AtomicFile, OnlyNamesOfTemporaryFilesAreTemporary) {
  const fs::path mine = temporary_path("out/found.json");
  forget_unfinished(mine);
  EXPECT_TRUE(is_temporary(mine));
  EXPECT_TRUE(is_temporary("a/.tmp.123.case.nii")) << "of an older version";
  for (const char* other : {".tmp.notes.txt", "found.json", ".tmp.1-2.", "tmp.node-1.x"})
    EXPECT_FALSE(is_temporary(other)) << other;
}

TEST(AtomicFile, WhatAStopCutShortHasAnotherName) {
  EXPECT_EQ(incomplete_path("out/found.json"), "out/found.incomplete.json");
  EXPECT_EQ(incomplete_path("found"), "found.incomplete");
}

}  // namespace
}  // namespace voxshard
