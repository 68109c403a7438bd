// Folders are owned: outputs never lie where inputs lie, there is one writer at a time, and results of an earlier call
// with other options are made anew or refused, never mixed with new ones.
#include "io/output/output_folder.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include "io/files/file_name.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

/// Makes a part of one file and records it in the manifest, as a command would.
void make(OutputFolder& folder, const std::string& part, const std::string& bytes, const std::string& data = "d") {
  folder.begin(part, {part + ".txt"});
  write_bytes(folder.path() / (part + ".txt"), bytes);
  folder.commit(part, data);
}

/// Limits the size of the files that this process writes during its lifetime.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(std::uintmax_t bytes) : handler_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{static_cast<rlim_t>(bytes), before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

struct OwnedFolder : testing::Test {
  fs::path path() const { return dir.path() / "out"; }
  FolderUse use(const std::string& command = "toy") const {
    return {.folder = path(), .command = command, .inputs = {}};
  }
  bool there(const std::string& name) const { return fs::exists(path() / name); }
  ScratchFolder dir;
};

TEST_F(OwnedFolder, AnOutputIsNoInputNorInsideOneByAnyName) {
  const fs::path in = dir.path() / "in";
  fs::create_directories(in / "deep");
  fs::create_directory_symlink(in, dir.path() / "link");
  for (const fs::path& out : {in, in / ".", in / "deep", in / "new/folder", dir.path() / "link",
                              dir.path() / "link/new", dir.path() / "out/../in"}) {
    expect_error(ErrorKind::kUsage, "could overwrite", [&] { require_outside(out, {in}); });
    expect_error(ErrorKind::kUsage, "{output}",
                 [&] { OutputFolder({.folder = out, .command = "toy", .inputs = {in}}); });
  }
  expect_error(ErrorKind::kUsage, "could overwrite", [&] { require_outside(in / "new", {dir.path() / "link"}); });
  expect_error(ErrorKind::kUsage, "could overwrite",
               [&] { OutputFolder({.folder = in, .command = "toy", .inputs = {in / "deep"}}); });
  EXPECT_EQ(std::distance(fs::recursive_directory_iterator(in), {}), 1) << "nothing was written";
  for (const char* unmade : {"unmade", "unmade/"})
    expect_error(ErrorKind::kUsage, "could overwrite",
                 [&] { require_outside(dir.path() / "unmade/new", {dir.path() / unmade}); });
  require_outside(dir.path() / "input", {in, {}});
  write_bytes(dir.path() / "a.txt", "a");
  require_outside(dir.path() / "b.txt", {dir.path() / "a.txt"});
  expect_error(ErrorKind::kUsage, "a.txt", [&] { require_outside(dir.path() / "a.txt", {dir.path() / "a.txt"}); });
}

TEST_F(OwnedFolder, AFolderOfOthersIsRefusedAndStaysAsItIs) {
  write_bytes(path() / "results.csv", "mine");
  expect_error(ErrorKind::kOutput, "holds results.csv", [&] { OutputFolder folder(use()); });
  EXPECT_EQ(read_bytes(path() / "results.csv"), "mine");
  EXPECT_EQ(std::distance(fs::directory_iterator(path()), {}), 1);
  fs::remove_all(path());
  OutputFolder(use("other")).start({.options = "a", .parts = {}});
  expect_error(ErrorKind::kOutput, "made by voxshard other", [&] { OutputFolder folder(use()); });
}

TEST_F(OwnedFolder, WhatDidNotBeginLeavesNothingBehind) {
  { OutputFolder folder({.folder = path() / "a/b", .command = "toy", .inputs = {}}); }
  EXPECT_FALSE(fs::exists(path()));
  fs::create_directories(path());
  { OutputFolder folder(use()); }
  EXPECT_TRUE(fs::is_empty(path()));
}

TEST_F(OwnedFolder, AStartThatIsRefusedByTheDiskLeavesNothingBehind) {
  {
    const FileSizeLimit none(0);  // as on a full disk: files can be made, but hold nothing
    expect_error(ErrorKind::kOutput, "check that the disk has space",
                 [&] { OutputFolder folder({.folder = path() / "a/b", .command = "toy", .inputs = {}}); });
  }
  EXPECT_FALSE(fs::exists(path()));
}

TEST_F(OwnedFolder, HasOneWriter) {
  OutputFolder first(use());
  expect_error(ErrorKind::kOutput, "in use by another voxshard (process " + std::to_string(::getpid()) + ", toy)",
               [&] { OutputFolder second(use()); });
  first.start({.options = "a", .parts = {}});
  expect_error(ErrorKind::kInput, "being written", [&] { FolderLock::reading(path()); });
}

TEST_F(OwnedFolder, IsNotWrittenWhileItIsRead) {
  OutputFolder(use()).start({.options = "a", .parts = {}});
  const FolderLock one = FolderLock::reading(path()), two = FolderLock::reading(path());
  expect_error(ErrorKind::kOutput, "in use", [&] { OutputFolder folder(use()); });
}

TEST_F(OwnedFolder, ADeadOwnerDoesNotKeepIt) {
  const pid_t child = ::fork();
  if (child == 0) {
    OutputFolder folder(use());
    folder.start({.options = "a", .parts = {"one"}});
    folder.begin("one", {"one.txt"});
    write_bytes(folder.path() / "one.txt", "half");
    ::raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  ASSERT_TRUE(there("one.txt"));
  OutputFolder folder(use());
  folder.start({.options = "a", .parts = {"one"}, .resume = true});
  EXPECT_FALSE(folder.holds("one", "d"));
  EXPECT_FALSE(there("one.txt")) << "what was begun and not finished is nobody's";
}

TEST_F(OwnedFolder, AResumedCallKeepsWhatMatchesAndOnlyThat) {
  {
    OutputFolder folder(use());
    folder.start({.options = "a", .parts = {"same", "damaged", "newer"}});
    for (const char* part : {"same", "damaged", "newer"}) make(folder, part, part);
  }
  write_bytes(path() / "damaged.txt", "dmaaged");
  OutputFolder folder(use());
  folder.start({.options = "a", .parts = {"same", "damaged", "newer"}, .resume = true});
  EXPECT_TRUE(folder.holds("same", "d"));
  EXPECT_FALSE(folder.holds("damaged", "d"));
  EXPECT_FALSE(folder.holds("newer", "other data"));
  EXPECT_FALSE(folder.holds("unknown", "d"));
  folder.begin("same", {"other.txt"});
  EXPECT_FALSE(folder.holds("same", "d"));
  EXPECT_FALSE(there("same.txt")) << "a part that is begun anew has its new files only";
}

TEST_F(OwnedFolder, PartsOfOtherOptionsGoBeforeTheFirstNewOne) {
  for (const bool resume : {false, true}) {
    {
      OutputFolder folder(use());
      folder.start({.options = "a", .parts = {"one", "two"}});
      make(folder, "one", "1"), make(folder, "two", "2");
    }
    OutputFolder folder(use());
    folder.start({.options = "b", .parts = {"one", "two"}, .resume = resume});
    EXPECT_FALSE(there("one.txt") || there("two.txt"));
    const Manifest manifest = read_manifest(path()).value();
    EXPECT_EQ(manifest.options, "b");
    for (const auto& [name, part] : manifest.parts) EXPECT_FALSE(part.whole) << name;
  }
}

TEST_F(OwnedFolder, APartThatWouldBeLeftBesideNewOnesIsRefused) {
  {
    OutputFolder folder(use());
    folder.start({.options = "a", .parts = {"one", "two"}});
    make(folder, "one", "1"), make(folder, "two", "2");
  }
  const std::string before = read_bytes(path() / kManifestName);
  expect_error(ErrorKind::kOutput, "holds two of an earlier", [&] {
    OutputFolder(use()).start({.options = "b", .parts = {"one", "three"}});
  });
  EXPECT_TRUE(there("one.txt") && there("two.txt"));
  EXPECT_EQ(read_bytes(path() / kManifestName), before);
  OutputFolder(use()).start({.options = "a", .parts = {"three"}});
  EXPECT_TRUE(there("one.txt") && there("two.txt")) << "made in the same way, they may stay";
}

TEST_F(OwnedFolder, AProtectedFileThatSomebodyChangedIsNotReplaced) {
  {
    OutputFolder folder(use());
    folder.start({.options = "a", .parts = {"one"}});
    make(folder, "one", "1");
  }
  const FolderParts again{.options = "a", .parts = {"one"}, .protect = true};
  OutputFolder(use()).start(again);
  EXPECT_FALSE(there("one.txt")) << "as it was written, it may be made anew";
  {
    OutputFolder folder(use());
    folder.start(again);
    make(folder, "one", "1");
  }
  write_bytes(path() / "one.txt", "corrected by hand");
  expect_error(ErrorKind::kOutput, "one.txt, which somebody changed", [&] { OutputFolder(use()).start(again); });
  EXPECT_EQ(read_bytes(path() / "one.txt"), "corrected by hand");
}

TEST_F(OwnedFolder, TheManifestHasSizeAndHashAndATornLastLineIsLeftOut) {
  {
    OutputFolder folder(use());
    folder.start({.options = "a", .parts = {"one", "two"}});
    make(folder, "one", "12345"), make(folder, "two", "2");
  }
  std::string text = read_bytes(path() / kManifestName);
  const ManifestPart one = read_manifest(path()).value().parts.at("one");
  EXPECT_EQ(one.files.at("one.txt").bytes, 5u);
  EXPECT_EQ(one.files.at("one.txt").hash, manifest_file(path() / "one.txt").hash);
  EXPECT_TRUE(is_unchanged(path() / "one.txt", one.files.at("one.txt")));
  write_bytes(path() / kManifestName, text.substr(0, text.size() - 20));
  const Manifest torn = read_manifest(path()).value();
  EXPECT_TRUE(torn.parts.at("one").whole);
  EXPECT_FALSE(torn.parts.at("two").whole);
}

TEST_F(OwnedFolder, AManifestCannotLeadOutside) {
  write_bytes(dir.path() / "precious.txt", "mine");
  for (const std::string& name :
       std::vector<std::string>{"../precious.txt", (dir.path() / "precious.txt").string(), "a/../../precious.txt"}) {
    write_bytes(path() / kManifestName, head_line({.command = "toy", .options = "a", .parts = {}}).dump() +
                                            "\n{\"begin\":\"x\",\"files\":[\"" + name + "\"]}\n");
    expect_error(ErrorKind::kInput, "outside", [&] { OutputFolder folder(use()); });
  }
  fs::create_directory_symlink(dir.path(), path() / "link");
  write_bytes(path() / kManifestName, head_line({.command = "toy", .options = "a", .parts = {}}).dump() +
                                          "\n{\"begin\":\"x\",\"files\":[\"link/precious.txt\"]}\n");
  OutputFolder(use()).start({.options = "b", .parts = {}});
  EXPECT_EQ(read_bytes(dir.path() / "precious.txt"), "mine");
  for (const std::string& broken :
       {std::string("nonsense\n"), std::string("{}\n"),
        head_line({.command = "toy", .options = "a", .parts = {}}).dump() + "\n{\"part\":\"x\"}\n"}) {
    write_bytes(path() / kManifestName, broken);
    expect_error(ErrorKind::kInput, kManifestName, [&] { OutputFolder folder(use()); });
  }
}

TEST_F(OwnedFolder, TemporaryFilesOfKilledCallsGo) {
  OutputFolder(use()).start({.options = "a", .parts = {}});
  write_bytes(path() / "images/.tmp.node_1-123-0123456789abcdef.case.nii", "half");
  write_bytes(path() / ".tmp.node_1-7-0123456789abcdef.plans.json", "half");
  write_bytes(path() / ".tmp.notes.txt", "mine");
  OutputFolder(use()).start({.options = "a", .parts = {}});
  EXPECT_FALSE(there("images/.tmp.node_1-123-0123456789abcdef.case.nii"));
  EXPECT_FALSE(there(".tmp.node_1-7-0123456789abcdef.plans.json"));
  EXPECT_TRUE(there(".tmp.notes.txt"));
}

TEST_F(OwnedFolder, AResumedCallDoesNotReplaceAProtectedFileThatSomebodyChanged) {
  const FolderParts call{.options = "a", .parts = {"one"}, .resume = true, .protect = true};
  {
    OutputFolder folder(use());
    folder.start(call);
    make(folder, "one", "1");
  }
  {
    OutputFolder folder(use());
    folder.start(call);
    EXPECT_TRUE(folder.holds("one", "d"));
  }
  write_bytes(path() / "one.txt", "corrected by hand");
  expect_error(ErrorKind::kOutput, "one.txt, which somebody changed", [&] { OutputFolder(use()).start(call); });
}

TEST_F(OwnedFolder, APartThatIsDroppedIsNobodys) {
  OutputFolder folder(use());
  folder.start({.options = "a", .parts = {"one", "two"}});
  make(folder, "one", "1"), make(folder, "two", "2");
  folder.drop("one"), folder.drop("never made");
  EXPECT_FALSE(there("one.txt"));
  EXPECT_TRUE(there("two.txt"));
  EXPECT_FALSE(folder.holds("one", "d"));
  EXPECT_FALSE(read_manifest(path()).value().parts.at("one").whole);
}

TEST_F(OwnedFolder, AShortWriteToTheManifestIsTakenBack) {
  OutputFolder folder(use());
  folder.start({.options = "a", .parts = {"one", "two", "three"}});
  make(folder, "one", "1");
  const auto before = fs::file_size(path() / kManifestName);
  {
    const FileSizeLimit limit(before + 7);  // the next line does not fit
    expect_error(ErrorKind::kOutput, "No space left", [&] { folder.begin("two", {"two.txt"}); });
  }
  EXPECT_EQ(fs::file_size(path() / kManifestName), before);
  make(folder, "three", "3");
  const Manifest manifest = read_manifest(path()).value();
  EXPECT_TRUE(manifest.parts.at("one").whole && manifest.parts.at("three").whole);
  EXPECT_FALSE(manifest.parts.contains("two"));
}

TEST_F(OwnedFolder, APartOfTheLongestNameIsReadBack) {
  const std::string longest(kMostNameBytes, 'x'), file = longest + ".safetensors";
  {
    OutputFolder folder(use());
    folder.start({.options = "a", .parts = {longest}});
    folder.begin(longest, {file});
    write_bytes(path() / file, "1");
    folder.commit(longest, "d");
  }
  OutputFolder folder(use());
  folder.start({.options = "a", .parts = {longest}, .resume = true});
  EXPECT_TRUE(folder.holds(longest, "d"));
}

}  // namespace
}  // namespace voxshard
