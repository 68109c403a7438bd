// The list of what is left out while a batch goes on: whole when it is begun, and added to from then on. The file of
// what was found, of which bytes may be damaged.
#include "pipelines/engine/predicted_file.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <map>

#include "io/files/csv.h"
#include "io/files/json_lines.h"
#include "tests/pipelines/pipeline_scene.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

const CaseFailure kUnread = {"a", "E_READ", "[input] a, \"torn\""}, kTooLarge = {"b", "E_SIZE", "[input] b"},
                  kUnreadToo = {"c", "E_READ", "[input] c"};

ino_t inode_of(const fs::path& file) {
  struct stat about {};
  EXPECT_EQ(::stat(file.c_str(), &about), 0) << file;
  return about.st_ino;
}

/// Returns what the list has when it is written at once.
std::string list_at_once(const std::vector<CaseFailure>& failures) {
  const ScratchFolder folder("quarantine_whole");
  write_quarantine(folder.path(), failures);
  return read_bytes(folder.path() / "quarantine.csv");
}

TEST(QuarantineListTest, RowsAreAddedAndNoneIsWrittenAgain) {
  const ScratchFolder folder("quarantine");
  const fs::path file = folder.path() / "quarantine.csv";
  folder.write("quarantine.csv", "case,code,message\nold,E_READ,x\ntor");  // of a call that was killed
  QuarantineList list(folder.path());
  list.write({kUnread});
  EXPECT_EQ(read_bytes(file), list_at_once({kUnread})) << "nothing of the old list survives";
  const ino_t number = inode_of(file);
  list.write({kUnread, kTooLarge, kUnreadToo});
  list.write({kUnread, kTooLarge, kUnreadToo});
  EXPECT_EQ(read_bytes(file), list_at_once({kUnread, kTooLarge, kUnreadToo}));
  EXPECT_EQ(inode_of(file), number) << "it was written anew";
}

TEST(QuarantineListTest, RowsThatAreOutOfDateLeaveTheFile) {
  const ScratchFolder folder("quarantine_dropped");
  QuarantineList list(folder.path());
  list.write({kUnread, kTooLarge});
  list.write({kTooLarge, kUnreadToo}, 1);
  EXPECT_EQ(read_bytes(folder.path() / "quarantine.csv"), list_at_once({kTooLarge, kUnreadToo}));
  list.write({kTooLarge, kUnreadToo, kUnread}, 1);
  EXPECT_EQ(read_bytes(folder.path() / "quarantine.csv"), list_at_once({kTooLarge, kUnreadToo, kUnread}));
}

TEST(QuarantineListTest, AFileThatCannotBeAddedToIsWrittenWhole) {
  const ScratchFolder folder("quarantine_gone");
  QuarantineList list(folder.path());
  list.write({});
  EXPECT_EQ(read_bytes(folder.path() / "quarantine.csv"), list_at_once({}));
  fs::remove(folder.path() / "quarantine.csv");
  list.write({kUnread, kTooLarge});
  EXPECT_EQ(read_bytes(folder.path() / "quarantine.csv"), list_at_once({kUnread, kTooLarge}));
}

TEST(QuarantineListTest, ARowThatAKillCutShortIsNotRead) {
  const ScratchFolder folder("quarantine_torn");
  QuarantineList(folder.path()).write({kUnread, kTooLarge});
  const fs::path file = folder.path() / "quarantine.csv";
  fs::resize_file(file, fs::file_size(file) - 3);
  std::vector<std::string> read;
  read_csv(file, [&](const std::vector<std::string>& row) { read.push_back(row.at(0)); });
  EXPECT_EQ(read, std::vector<std::string>{"a"});
}

using FoundParts = std::map<std::string, nlohmann::json>;

/// Returns what a call with these options finds in the file, and mends it.
FoundParts found_in(const fs::path& file, const std::string& options, RecordingProgress& progress) {
  FoundParts found;
  PartsFile parts(file, options);
  parts.read([&](const std::string& part, const nlohmann::json& value) {
    found[part] = value;
    return true;
  });
  parts.mend(progress);
  return found;
}

const nlohmann::json kRowOfClasses = {0.1, 1.0, -0.0, 1e-300}, kRowsOfObjects = {{3, 0.25, 1.5}, {4, 0.125, 2}};

/// Writes the file of two calls, with other options.
fs::path two_calls(const ScratchFolder& folder) {
  const fs::path file = folder.path() / "found.parts.jsonl";
  PartsFile first(file, "one"), second(file, "two");
  first.add("a", kRowOfClasses), first.add("b", kRowsOfObjects), first.add("b", kRowsOfObjects),
      second.add("a", kRowsOfObjects);
  return file;
}

TEST(PartsFileTest, WhatIsAddedIsFoundAgainWithTheSameOptions) {
  const ScratchFolder folder("parts");
  RecordingProgress progress;
  EXPECT_EQ(found_in(folder.path() / "found.parts.jsonl", "one", progress), FoundParts()) << "there is none yet";
  EXPECT_EQ(folder.files(), 0u);
  const fs::path file = two_calls(folder);
  const std::string bytes = read_bytes(file);
  EXPECT_EQ(std::ranges::count(bytes, '\n'), 3);
  const FoundParts found = found_in(file, "one", progress);
  EXPECT_EQ(found, (FoundParts{{"a", kRowOfClasses}, {"b", kRowsOfObjects}}));
  EXPECT_EQ(found.at("a").dump(), kRowOfClasses.dump()) << "to the last bit";
  EXPECT_EQ(found_in(file, "two", progress), (FoundParts{{"a", kRowsOfObjects}}));
  EXPECT_EQ(read_bytes(file), bytes);
  EXPECT_TRUE(progress.lines.empty());
}

TEST(PartsFileTest, WhatIsNotOfTheCallGoesWhenItEnds) {
  const ScratchFolder folder("parts_others");
  const fs::path file = two_calls(folder);
  PartsFile parts(file, "one");
  parts.read([](const std::string& part, const nlohmann::json&) { return part == "b"; });
  parts.add("b", kRowOfClasses), parts.add("c", kRowOfClasses);
  parts.drop_others();
  RecordingProgress progress;
  EXPECT_EQ(found_in(file, "one", progress), (FoundParts{{"b", kRowsOfObjects}, {"c", kRowOfClasses}}));
  EXPECT_EQ(found_in(file, "two", progress), FoundParts());
}

TEST(PartsFileTest, APartThatCouldNotBeTakenIsReplaced) {
  const ScratchFolder folder("parts_replaced");
  const fs::path file = two_calls(folder);
  PartsFile parts(file, "one");
  parts.read([](const std::string&, const nlohmann::json&) { return false; });
  parts.add("b", kRowOfClasses);
  parts.drop_others();
  RecordingProgress progress;
  EXPECT_EQ(found_in(file, "one", progress), (FoundParts{{"b", kRowOfClasses}}));
}

TEST(PartsFileTest, ALastLineThatAKillCutShortIsDropped) {
  const ScratchFolder folder("parts_torn");
  const fs::path file = two_calls(folder);
  fs::resize_file(file, fs::file_size(file) - 5);
  RecordingProgress progress;
  EXPECT_EQ(found_in(file, "two", progress), FoundParts());
  PartsFile(file, "two").add("a", kRowOfClasses);
  EXPECT_EQ(found_in(file, "two", progress), (FoundParts{{"a", kRowOfClasses}})) << "the next line begins as one";
  EXPECT_EQ(found_in(file, "one", progress).size(), 2u);
  EXPECT_EQ(folder.files(), 1u);
  EXPECT_TRUE(progress.lines.empty());
}

TEST(PartsFileTest, ADamagedFileIsSetAsideAndItsGoodLinesStay) {
  for (const std::string damage : {"0.1", "found", "options", "\"b\"", "{"}) {
    const ScratchFolder folder("parts_damaged");
    const fs::path file = two_calls(folder);
    std::string bytes = read_bytes(file);
    bytes[bytes.find(damage) + damage.size() - 1] = '\0';
    folder.write("found.parts.jsonl", bytes);
    RecordingProgress progress;
    EXPECT_EQ(found_in(file, "one", progress).size(), 1u) << damage;
    ASSERT_EQ(progress.lines.size(), 1u) << damage;
    EXPECT_THAT(progress.lines[0], testing::HasSubstr("1 of its lines are no results"));
    EXPECT_EQ(read_bytes(folder.path() / "found.parts.damaged.jsonl"), bytes);
    EXPECT_EQ(found_in(file, "one", progress).size(), 1u) << damage;
    EXPECT_EQ(progress.lines.size(), 1u) << "it is said once";
  }
}

TEST(PartsFileTest, AnotherFileOfTheNameIsSetAside) {
  const ScratchFolder folder("parts_other");
  std::string bytes;
  for (int line = 0; line < 1500; ++line) bytes += "line " + std::to_string(line) + "\n";
  folder.write("found.parts.jsonl", bytes);
  RecordingProgress progress;
  EXPECT_EQ(found_in(folder.path() / "found.parts.jsonl", "one", progress), FoundParts());
  EXPECT_EQ(read_bytes(folder.path() / "found.parts.damaged.jsonl"), bytes);
  EXPECT_EQ(fs::file_size(folder.path() / "found.parts.jsonl"), 0u);
}

TEST(PartsFileTest, WhatIsTooLongForALineIsNotKept) {
  const ScratchFolder folder("parts_long");
  PartsFile(folder.path() / "found.parts.jsonl", "one")
      .add("a", std::string(static_cast<std::size_t>(JsonLines::kMostLineBytes), 'x'));
  EXPECT_EQ(folder.files(), 0u);
}

}  // namespace
}  // namespace voxshard
