// A folder that comes again: equal, changed or with more files, and joined with its earlier files from every state in
// which a kill may have left them.
#include "io/inbox/repeated_entry.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "tests/scratch_folder.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using Files = std::map<std::string, std::string>;  // text by path

class RepeatedEntry : public testing::Test {
 protected:
  fs::path again() const { return folder_.path() / "in/st"; }
  fs::path earlier() const { return folder_.path() / "done/st"; }
  static void fill(const fs::path& entry, const Files& files) {
    fs::remove_all(entry);
    fs::create_directories(entry);
    for (const auto& [name, text] : files) {
      fs::create_directories((entry / name).parent_path());
      std::ofstream(entry / name) << text;
    }
  }
  static Files in(const fs::path& entry) {
    Files files;
    std::error_code error;
    for (const auto& one : fs::recursive_directory_iterator(entry, error))
      if (one.is_regular_file()) files[one.path().lexically_relative(entry).string()] = read_bytes(one.path());
    return files;
  }
  ScratchFolder folder_{"repeated"};
};

TEST_F(RepeatedEntry, CountsFilesThatAreNewOrDifferAndThoseThatAreMissing) {
  fill(earlier(), {{"1", "a"}, {"2", "b"}, {"deep/3", "c"}});
  fill(again(), {{"1", "a"}, {"2", "B"}, {"4", "d"}});
  const Repetition found = compare_entries(again(), earlier());
  EXPECT_TRUE(found.is_plain);
  EXPECT_EQ(found.files, 3u);
  EXPECT_EQ(found.changed, 2u);
  EXPECT_EQ(found.missing, 1u);
  fill(again(), {{"deep/3", "c"}});
  EXPECT_EQ(compare_entries(again(), earlier()).changed, 0u) << "a part of it, unchanged";
}

TEST_F(RepeatedEntry, LinksAreNotCompared) {
  fill(earlier(), {{"1", "a"}}), fill(again(), {{"1", "a"}});
  fs::create_symlink("/etc/hostname", again() / "2");
  EXPECT_FALSE(compare_entries(again(), earlier()).is_plain);
  fs::remove(again() / "2");
  fs::create_directory_symlink("/etc", earlier() / "deep");
  EXPECT_FALSE(compare_entries(again(), earlier()).is_plain);
}

TEST_F(RepeatedEntry, WhatIsEqualIsRemovedAndWhatCameInBetweenStays) {
  fill(earlier(), {{"1", "a"}, {"deep/2", "b"}});
  fill(again(), {{"1", "a"}, {"deep/2", "b"}});
  remove_repeated(again(), earlier());
  EXPECT_FALSE(fs::exists(again()));
  fill(again(), {{"1", "a"}, {"deep/3", "late"}});
  remove_repeated(again(), earlier());
  EXPECT_EQ(in(again()), (Files{{"deep/3", "late"}}));
  EXPECT_EQ(in(earlier()), (Files{{"1", "a"}, {"deep/2", "b"}}));
}

TEST_F(RepeatedEntry, IsJoinedToTheSameFilesFromWhereverAKillLeftIt) {
  const Files before = {{"1", "old"}, {"2", "b"}, {"3", "c"}, {"deep/4", "d"}};
  const Files late = {{"1", "corrected"}, {"5", "e"}};
  const Files all = {{"1", "corrected"}, {"2", "b"}, {"3", "c"}, {"deep/4", "d"}, {"5", "e"}};
  // Files are moved in their order, each by a second name before the first goes; then the earlier folder goes.
  const std::vector<std::string> moved = {"2", "3", "deep/4"};
  for (std::size_t steps = 0; steps <= 2 * moved.size(); ++steps) {
    Files now = late, rest = before;
    for (std::size_t i = 0; i < steps; ++i) {
      const std::string& file = moved[i / 2];
      if (i % 2 == 0)
        now[file] = before.at(file);
      else
        rest.erase(file);
    }
    fill(again(), now), fill(earlier(), rest);
    EXPECT_GT(compare_entries(again(), earlier()).changed, 0u) << steps << ": must not count as sent again unchanged";
    join_entries(again(), earlier());
    EXPECT_EQ(in(again()), all) << steps;
    EXPECT_FALSE(fs::exists(earlier())) << steps;
    EXPECT_TRUE(fs::is_empty(earlier().parent_path())) << steps;
  }
}

TEST_F(RepeatedEntry, ItsReasonGoesWithTheEarlierOne) {
  fill(again(), {{"2", "b"}}), fill(earlier(), {{"1", "a"}});
  std::ofstream(earlier().string() + ".reason.json") << "{}";
  join_entries(again(), earlier());
  EXPECT_TRUE(fs::is_empty(earlier().parent_path()));
  EXPECT_EQ(in(again()), (Files{{"1", "a"}, {"2", "b"}}));
}

}  // namespace
}  // namespace voxshard
