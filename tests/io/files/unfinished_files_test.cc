// Tests of what a process that must end at once removes: its temporary files, and no file under a final name.
#include "io/files/unfinished_files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "io/files/atomic_file.h"
#include "tests/scratch_folder.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// Returns the number of files in a folder whose name is that of a temporary file.
std::ptrdiff_t temporaries_in(const fs::path& folder) {
  return std::ranges::count_if(fs::directory_iterator(folder), fs::directory_iterator(),
                               [](const auto& entry) { return is_temporary(entry.path()); });
}

TEST(UnfinishedFiles, AreRemovedAndWholeOnesStay) {
  const ScratchFolder scratch("unfinished");
  const fs::path& folder = scratch.path();
  write_text_atomically(folder / "whole", "1");
  AtomicFile open(folder / "open");
  open.stream() << "half" << std::flush;
  EXPECT_EQ(temporaries_in(folder), 1);
  remove_unfinished_files();
  EXPECT_EQ(temporaries_in(folder), 0);
  EXPECT_TRUE(fs::exists(folder / "whole"));
}

TEST(UnfinishedFiles, MoreThanCanBeNotedAreWrittenAllTheSame) {
  const ScratchFolder scratch("many_unfinished");
  const fs::path& folder = scratch.path();
  std::vector<std::unique_ptr<AtomicFile>> files;
  for (int i = 0; i < 100; ++i) files.push_back(std::make_unique<AtomicFile>(folder / std::to_string(i)));
  for (auto& file : files) file->commit();
  files.clear();
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 100);
  AtomicFile later(folder / "later");  // there is room again
  remove_unfinished_files();
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 100);
}

TEST(AtomicFile, OnlyNamesOfTemporaryFilesAreTemporary) {
  const ScratchFolder scratch("temporary");
  const fs::path& folder = scratch.path();
  const fs::path mine = make_temporary_file(folder / "found.json").path,
                 other = make_temporary_file(folder / "found.json").path;
  EXPECT_TRUE(is_temporary(mine));
  EXPECT_NE(mine, other);
  EXPECT_TRUE(mine.string().ends_with(".found.json"));
  for (const char* name : {".tmp.notes.txt", "found.json", ".tmp.1-2.", "tmp.node-1.x", "a/.tmp.123.case.nii"})
    EXPECT_FALSE(is_temporary(name)) << name;
  const fs::path long_name = folder / (std::string(240, 'x') + "\u00e4.nii.gz");
  write_text_atomically(long_name, "whole");
  EXPECT_TRUE(fs::exists(long_name)) << "the temporary name is cut, not the file's";
  for (const fs::path& file : {mine, other}) discard_file(file);
}

TEST(AtomicFile, WhatAStopCutShortHasAnotherName) {
  EXPECT_EQ(incomplete_path("out/found.json"), "out/found.incomplete.json");
  EXPECT_EQ(incomplete_path("found"), "found.incomplete");
}

}  // namespace
}  // namespace voxshard
