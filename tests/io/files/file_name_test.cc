#include "io/files/file_name.h"

#include "tests/io/test_files.h"

namespace voxshard {
namespace {

TEST(FileName, OnePlainComponentIsAName) {
  for (const char* name : {"liver_03", "a", "Fall 7 (alt)", "läsion", "a..b", "-x", "clip.mp4#frame=17"})
    EXPECT_EQ(name_problem(name), "") << name;
  EXPECT_EQ(name_problem(std::string(200, 'x')), "");
  EXPECT_EQ(named_file("work/images", "liver_03", ".nii"), fs::path("work/images/liver_03.nii"));
}

TEST(FileName, WhatLeavesTheFolderOrCannotBeReadBackIsNone) {
  for (const std::string& name :
       {std::string(), std::string("."), std::string(".."), std::string("../../x"), std::string("/tmp/x"),
        std::string("a/b"), std::string("a\\b"), std::string(".hidden"), std::string(".tmp.12.x"), std::string("a\nb"),
        std::string("a\x1b[2Jb"), std::string("a\0b", 3), std::string("a\u009bb"), std::string("a\u2028b"),
        std::string("a\u202eb"), std::string("a\u200bb"), std::string("\xff\xfe"), std::string(201, 'x')}) {
    EXPECT_NE(name_problem(name), "") << shown_name(name);
    expect_error(ErrorKind::kInput, "[name]", [&] { named_file("work", name); });
  }
  try {
    named_file("work", "../x");
    ADD_FAILURE() << "a path was taken for a name";
  } catch (const Error& e) {
    EXPECT_STREQ(e.code(), "E_NAME");
  }
}

TEST(FileName, APathBelowIsMadeOfNames) {
  for (const char* path : {"a.png", "train/a.png", "./a.png", "a/b/c.tif"})
    EXPECT_EQ(relative_path_problem(path), "") << path;
  for (const char* path : {"", "/a.png", "../a.png", "a/../../b.png", "a//b.png", "a/", "./..", "a/.b/c.png"})
    EXPECT_NE(relative_path_problem(path), "") << path;
  EXPECT_EQ(named_path("data", "train/a.png"), fs::path("data/train/a.png"));
  expect_error(ErrorKind::kInput, "is absolute", [] { named_path("data", "/a.png"); });
}

TEST(FileName, MessagesHoldNoControlCharacters) {
  EXPECT_EQ(shown_name("a\x1b[2J\nb"), "a\\x1b[2J\\x0ab");
  EXPECT_EQ(shown_name("\xff"), "\\xff");
  EXPECT_EQ(shown_name("a\u009b2J"), "a\\xc2\\x9b2J");
  EXPECT_EQ(shown_name(std::string(300, 'x')), std::string(80, 'x') + "...");
}

}  // namespace
}  // namespace voxshard
