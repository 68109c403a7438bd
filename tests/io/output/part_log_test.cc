// Several ranks of a command fill one folder: rank 0 owns it, the others log what they made beside its manifest.
#include "io/output/part_log.h"

#include <regex>

#include "io/output/output_folder.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

struct RankLogs : testing::Test {
  fs::path path() const { return dir.path() / "out"; }
  FolderUse use() const { return {.folder = path(), .command = "toy", .inputs = {}}; }
  bool there(const std::string& name) const { return fs::exists(path() / name); }
  ScratchFolder dir;
};

/// Makes a part of one file, as any rank of the command does.
void make(PartLog& log, const fs::path& folder, const std::string& part, const std::string& bytes) {
  log.begin(part, {part + ".txt"});
  write_bytes(folder / (part + ".txt"), bytes);
  log.commit(part, "d");
}

/// Returns the manifest without the times of files.
std::string manifest_of(const fs::path& folder) {
  return std::regex_replace(read_bytes(folder / kManifestName), std::regex("\"time_ns\":[0-9]+"), "");
}

TEST_F(RankLogs, WhatRanksFinishedCountsThoughTheRunWasKilled) {
  const FolderParts parts{.options = "o", .parts = {"a", "b", "c"}, .resume = true};
  {
    OutputFolder folder(use());
    folder.start(parts);
    make(folder.log(), path(), "a", "1");
    PartLog rank(path(), 12);
    EXPECT_TRUE(rank.holds("a", "d")) << "a rank knows what the manifest says";
    make(rank, path(), "b", "2");
    EXPECT_FALSE(rank.knows("c"));
    rank.begin("c", {"c.txt"});
    EXPECT_TRUE(rank.knows("c")) << "whole or not";
    write_bytes(path() / "c.txt", "half of");
  }
  OutputFolder folder(use());
  folder.start(parts);
  EXPECT_TRUE(folder.holds("a", "d"));
  EXPECT_TRUE(folder.holds("b", "d"));
  EXPECT_FALSE(folder.holds("c", "d"));
  EXPECT_FALSE(there("c.txt"));
  EXPECT_FALSE(there("manifest_rank12.jsonl")) << "the manifest says it now";
}

TEST_F(RankLogs, TheFinishedManifestIsTheSameWhoeverMadeItsPartsInWhateverOrder) {
  const std::vector<std::string> order = {"a", "b", "c"};
  const FolderParts parts{.options = "o", .parts = {"a", "b", "c"}};
  std::string alone;
  {
    OutputFolder folder(use());
    folder.start(parts);
    for (const std::string& part : order) make(folder.log(), path(), part, part);
    folder.finish(order);
    alone = manifest_of(path());
  }
  OutputFolder folder(use());
  folder.start(parts);
  PartLog one(path(), 1), two(path(), 2);
  make(two, path(), "c", "c");
  make(one, path(), "b", "b");
  make(folder.log(), path(), "a", "a");
  EXPECT_TRUE(read_manifest(path())->parts.at("c").whole) << "readers see what ranks wrote";
  folder.finish(order);
  EXPECT_EQ(manifest_of(path()), alone);
  EXPECT_FALSE(there("manifest_rank1.jsonl"));
}

}  // namespace
}  // namespace voxshard
