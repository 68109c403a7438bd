// What lies below a folder, and what outputs call it.
#include "pipelines/tasks/input_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "pipelines/tasks/volume_files.h"
#include "tests/expect_error.h"
#include "tests/scratch_folder.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

class InputTreeTest : public ::testing::Test {
 protected:
  void put(const std::string& place) const {
    fs::create_directories((root_ / place).parent_path());
    std::ofstream(root_ / place) << place;
  }
  ScratchFolder folder_{"input_tree"};
  fs::path root_ = folder_.path() / "in";
};

TEST_F(InputTreeTest, HiddenFilesAndLinksOutOfTheFolderAreLeftOut) {
  put("b/deep/er/x.png"), put("a.png"), put(".hidden/x.png"), put("b/.x.png"), put("../out/y.png");
  fs::create_symlink(folder_.path() / "out/y.png", root_ / "b/out.png");
  fs::create_symlink(root_ / "a.png", root_ / "b/inside.png");
  fs::create_directory_symlink(folder_.path() / "out", root_ / "b/folder");
  fs::create_directory_symlink(root_, root_ / "b/circle");
  const InputTree tree = files_below(root_);
  EXPECT_THAT(tree.files, ElementsAre(root_ / "a.png", root_ / "b/deep/er/x.png", root_ / "b/inside.png"));
  EXPECT_EQ(tree.links, 1);
}

TEST_F(InputTreeTest, FoldersThatAreTooDeepAreNotEnteredAndCounted) {
  std::string deep;
  for (int i = 0; i < 20; ++i) deep += "d/";
  put(deep + "x.png"), put("d/y.png");
  const InputTree tree = files_below(root_);
  EXPECT_THAT(tree.files, ElementsAre(root_ / "d/y.png"));
  EXPECT_EQ(tree.folders, 1);
  ForeignFiles foreign;
  inputs_below(
      root_, "picture", [](const fs::path&) { return true; }, foreign);
  EXPECT_EQ(text_of(foreign), "1 folder that was not entered, too deep or not to be read");
}

TEST_F(InputTreeTest, NamesAreNumbersThatALaterCallKeeps) {
  const std::vector<fs::path> two = {root_ / "a/x.png", root_ / "b/x.png"};
  const InputNaming naming{.folder = root_, .earlier = folder_.path() / "names.json"};
  const NamedInputs first = name_inputs(two, naming);
  EXPECT_THAT(first.names, testing::UnorderedElementsAre("case_0001", "case_0002"));
  write_case_names_file(naming.earlier, first.paths);
  const std::vector<fs::path> three = {root_ / "a/a.png", two[0], two[1]};
  const NamedInputs later = name_inputs(three, naming);
  EXPECT_THAT(later.names, ElementsAre("case_0003", first.names[0], first.names[1]));
  EXPECT_EQ(later.paths.at("case_0003").files, std::vector<fs::path>{three[0]});
  const NamedInputs kept = name_inputs(three, {.folder = root_, .keep_names = true});
  EXPECT_THAT(kept.names, ElementsAre("a/a.png", "a/x.png", "b/x.png"));
  EXPECT_TRUE(kept.paths.empty());
}

TEST_F(InputTreeTest, ANameThatIsNoTextIsAHashOfIt) {
  const std::string name = name_below(root_ / "a\xff.png", root_);
  EXPECT_TRUE(name.starts_with("name_")) << name;
  EXPECT_EQ(name, name_below(root_ / "a\xff.png", root_));
  EXPECT_NE(name, name_below(root_ / "b\xff.png", root_));
}

TEST_F(InputTreeTest, ForeignFilesAreCountedByKindAndNamedWhereNamesAreShown) {
  put("a/MEIER.txt"), put("b.TXT"), put("scan.MEIER"), put("without"), put("x.png");
  ForeignFiles foreign;
  const auto is_png = [](const fs::path& file) { return file.extension() == ".png"; };
  EXPECT_THAT(inputs_below(root_, "picture", is_png, foreign), ElementsAre(root_ / "x.png"));
  EXPECT_EQ(text_of(foreign), "4 files that are no inputs (2 .txt, 1 of another kind, 1 without an ending)");
  EXPECT_FALSE(to_json(foreign).contains("names"));
  EXPECT_EQ(to_json(foreign).at("kinds").at(".txt"), 2);
  foreign.shows_names = true;
  EXPECT_EQ(text_of(foreign), "4 files that are no inputs (a/MEIER.txt, b.TXT, scan.MEIER, without)");
  expect_error(ErrorKind::kNoCase, "hold no video (but 5 files", [&] {
    inputs_below(
        root_, "video", [](const fs::path&) { return false; }, foreign);
  });
}

TEST_F(InputTreeTest, AFolderWithoutAVolumeSaysWhatItHoldsAndWhatIsRead) {
  put("notes.txt"), put("a/MEIER.txt");
  expect_error(ErrorKind::kNoCase, "(but 1 file that is no input (1 .txt)); what is read: voxshard help formats",
               [&] { list_volumes(root_); });
  expect_error(ErrorKind::kNoCase, "(but 2 files that are no inputs (2 .txt)); what is read: voxshard help formats",
               [&] {
                 ForeignFiles foreign;
                 list_volumes_below(root_, volume_formats(), foreign);
               });
  fs::remove(root_ / "notes.txt");
  expect_error(ErrorKind::kNoCase, "no archive of such; what is read: voxshard help formats",
               [&] { list_volumes(root_); });
}

}  // namespace
}  // namespace voxshard
