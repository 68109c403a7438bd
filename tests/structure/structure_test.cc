// The tree keeps the shape that the design gives it. Each rule is first shown a wrong example, so that it can fail.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "tests/structure/source_rules.h"

namespace voxshard {
namespace {

using Rule = std::vector<std::string> (*)(const SourceFile&);

void expect_clean(Rule rule, bool with_tests = false) {
  const auto files = read_sources(with_tests);
  ASSERT_GT(files.size(), 20u) << "the source tree was not found";
  for (const auto& file : files)
    for (const auto& complaint : rule(file)) ADD_FAILURE() << complaint;
}

TEST(Structure, IncludesFollowTheArrows) {
  const Arrows toy = arrows_of(
      "voxshard_folder(libcore/graph LINKS x::x)\nvoxshard_folder(io/image MAY_INCLUDE libcore/graph\n  io/files LINKS "
      "y)");
  EXPECT_EQ(toy, (Arrows{{"libcore/graph", {}}, {"io/image", {"libcore/graph", "io/files"}}}));
  EXPECT_EQ(include_complaints({"io/image/a.h", "#include \"libcore/graph/graph.h\"\n"}, toy).size(), 0u);
  EXPECT_EQ(include_complaints({"io/image/a.h", "#include \"io/image/b.h\"\n"}, toy).size(), 0u);
  EXPECT_EQ(include_complaints({"io/image/a.cc", "#include \"io/volume/volume.h\"\n"}, toy).size(), 1u);
  EXPECT_EQ(include_complaints({"libcore/graph/a.cc", "#include \"io/image/image.h\"\n"}, toy).size(), 1u);
  EXPECT_EQ(include_complaints({"io/attic/a.cc", "#include \"io/image/image.h\"\n"}, toy).size(), 1u)
      << "a folder without a list";
  EXPECT_EQ(include_complaints({"io/image/a.cc", "#include \"image.h\"\n"}, toy).size(), 1u);
  const Arrows arrows = read_arrows();
  ASSERT_GT(arrows.size(), 20u) << "the lists were not found";
  for (const auto& file : read_sources(true))
    for (const auto& complaint : include_complaints(file, arrows)) ADD_FAILURE() << complaint;
}

TEST(Structure, ArrowsMakeNoCircle) {
  EXPECT_EQ(circle_complaints({{"a", {"b"}}, {"b", {"c"}}, {"c", {}}}).size(), 0u);
  EXPECT_EQ(circle_complaints({{"a", {"b"}}, {"b", {"a"}}, {"c", {}}}).size(), 2u);
  EXPECT_EQ(circle_complaints({{"a", {"nowhere"}}}).size(), 1u);
  for (const auto& complaint : circle_complaints(read_arrows())) ADD_FAILURE() << complaint;
}

TEST(Structure, FilesAndFoldersStaySmall) {
  std::string tall;
  for (int i = 0; i < 321; ++i) tall += "x\n";
  EXPECT_EQ(size_complaints({"io/a.cc", tall}).size(), 1u);
  expect_clean(size_complaints, true);
  std::vector<SourceFile> many;
  for (int i = 0; i < 26; ++i) many.push_back({"tests/a/x" + std::to_string(i) + ".cc", ""});
  EXPECT_EQ(folder_complaints(many).size(), 1u);
  many.back().path = "tests/a/x0.h";
  EXPECT_EQ(folder_complaints(many).size(), 0u);
  many.clear();
  for (int i = 0; i < 21; ++i) many.push_back({"io/a/x" + std::to_string(i) + ".cc", ""});
  EXPECT_EQ(folder_complaints(many).size(), 1u);
  many.back().path = "io/a/y.h";
  EXPECT_EQ(folder_complaints(many).size(), 0u);
  for (const auto& complaint : folder_complaints(read_sources(true))) ADD_FAILURE() << complaint;
}

TEST(Structure, OnlyAppsPrints) {
  EXPECT_EQ(printing_complaints({"io/a.cc", "  std::cout << 1;\n"}).size(), 1u);
  EXPECT_EQ(printing_complaints({"libcore/base/a.cc", "  printf(\"x\");\n"}).size(), 1u);
  EXPECT_EQ(printing_complaints({"libcore/base/a.cc", "  std::snprintf(b, 3, \"printf(\");  // std::cout\n"}).size(),
            0u);
  EXPECT_EQ(printing_complaints({"apps/a.cc", "  std::cout << 1;\n"}).size(), 0u);
  expect_clean(printing_complaints);
}

TEST(Structure, FilesAreOpenedInOnePlace) {
  for (const char* line :
       {"#include <fstream>\n", "  std::ofstream out(p);\n", "  auto* f = std::fopen(p, \"r\");\n", "  ::open(p, 0);\n",
        "  gz = gzopen(p, m);\n", "  TIFF* t = TIFFOpen(p, m);\n", "  cv::Mat m = cv::imread(p);\n",
        "  fs::copy_file(a, b, fs::copy_options::overwrite_existing);\n"})
    for (const char* path : {"pipelines/a.cc", "libcore/train/a.cc", "apps/a.cc", "io/volume/a.cc", "io/files/a.cc"})
      EXPECT_EQ(file_access_complaints({path, line}).size(), 1u) << path << ": " << line;
  for (const char* line :
       {"  MappedVolume::open(p);\n", "  gzdopen(f, m);\n", "  InputFile in(p);\n", "  open(impl_->json, p);\n"})
    EXPECT_EQ(file_access_complaints({"io/volume/a.cc", line}).size(), 0u) << line;
  EXPECT_EQ(file_access_complaints({"io/files/open_file.cc", "  ::open(p, 0);\n"}).size(), 0u);
  expect_clean(file_access_complaints);
}

TEST(Structure, WhatLibrariesOpenByNameIsLookedAtBefore) {
  EXPECT_EQ(opening_by_name_complaints({"io/video/a.cc", "  avformat_open_input(&f, n, 0, 0);\n"}).size(), 1u);
  EXPECT_EQ(opening_by_name_complaints(
                {"io/video/a.cc", "#include \"io/files/open_file.h\"\n  avformat_open_input(&f, n, 0, 0);\n"})
                .size(),
            0u);
  expect_clean(opening_by_name_complaints);
}

TEST(Structure, OnlyOneFileParsesTextOfOthers) {
  EXPECT_EQ(parser_complaints({"io/a.cc", "  auto j = nlohmann::json::parse(text);\n"}).size(), 1u);
  EXPECT_EQ(parser_complaints({"pipelines/a.cc", "  return Json::parse(text, nullptr, false);\n"}).size(), 1u);
  EXPECT_EQ(parser_complaints({"libcore/a.cc", "  in >> json;\n"}).size(), 1u);
  EXPECT_EQ(parser_complaints({"io/a.cc", "  toml::parse_file(p);\n"}).size(), 1u);
  EXPECT_EQ(parser_complaints({"io/boxes/a.cc", "  xml.load_file(p);\n"}).size(), 1u);
  EXPECT_EQ(parser_complaints({"io/a.cc", "  auto node = YAML::LoadFile(p);\n"}).size(), 1u);
  EXPECT_EQ(parser_complaints({"io/a.cc", "  catch (const json::parse_error& e) {}  // json::parse(\n"}).size(), 0u);
  EXPECT_EQ(parser_complaints({"io/files/structured_text.cc", "  json::parse(text);\n"}).size(), 0u);
  expect_clean(parser_complaints);
}

TEST(Structure, OnlyBaseStartsThreads) {
  EXPECT_EQ(thread_complaints({"pipelines/a.cc", "  std::thread t(f);\n"}).size(), 1u);
  EXPECT_EQ(thread_complaints({"libcore/ranks/a.cc", "  std::thread t(f);\n"}).size(), 1u);
  EXPECT_EQ(thread_complaints({"libcore/kernels/fast/a.cc", "#pragma omp parallel for\n"}).size(), 1u);
  EXPECT_EQ(thread_complaints({"libcore/base/a.cc", "  std::thread t(f);\n"}).size(), 0u);
  expect_clean(thread_complaints);
}

TEST(Structure, TasksKnowNoRanks) {
  EXPECT_EQ(rank_complaints({"pipelines/tasks/a.cc", "  if (transport.ranks() > 1) return;\n"}).size(), 1u);
  EXPECT_EQ(rank_complaints({"pipelines/tasks/a.h", "/// On rank 0: the score.\n"}).size(), 1u);
  EXPECT_EQ(rank_complaints({"pipelines/tasks/a.cc", "#include \"libcore/ranks/texts.h\"\n"}).size(), 1u);
  EXPECT_EQ(rank_complaints({"pipelines/engine/a.cc", "  if (transport.ranks() > 1) return;\n"}).size(), 0u);
  expect_clean(rank_complaints);
}

TEST(Structure, HeavyLibrariesStayOutOfHeaders) {
  EXPECT_EQ(heavy_header_complaints({"io/a.h", "#include <itkImage.h>\n"}).size(), 1u);
  EXPECT_EQ(heavy_header_complaints({"apps/a.h", "#include <CLI/CLI.hpp>\n"}).size(), 1u);
  EXPECT_EQ(heavy_header_complaints({"io/a.h", "#include <libavutil/frame.h>\n"}).size(), 1u);
  EXPECT_EQ(heavy_header_complaints({"io/a.cc", "#include <itkImage.h>\n"}).size(), 0u);
  expect_clean(heavy_header_complaints);
}

TEST(Structure, OnlyAppsNamesFlags) {
  EXPECT_EQ(flag_complaints({"io/a.cc", "  throw Error(\"--fold is 9\");\n"}).size(), 1u);
  EXPECT_EQ(flag_complaints({"libcore/train/a.cc", "  text += \"choose another with -o\";\n"}).size(), 1u);
  EXPECT_EQ(flag_complaints({"io/a.cc", "  throw Error(\"{fold} is 9\");  // \"--fold is 9\"\n"}).size(), 0u);
  EXPECT_EQ(flag_complaints({"apps/a.cc", "  app.add_option(\"--fold\");\n"}).size(), 0u);
  expect_clean(flag_complaints);
}

TEST(Structure, NobodyBranchesOnAnErrorsText) {
  EXPECT_EQ(error_text_complaints({"pipelines/a.cc", "  if (std::string(e.what()).find(\"NaN\") != npos)\n"}).size(),
            1u);
  EXPECT_EQ(error_text_complaints({"pipelines/a.cc", "  log(e.what());\n"}).size(), 0u);
  expect_clean(error_text_complaints);
}

TEST(Structure, HeadersOpenWithWhatTheyHold) {
  EXPECT_EQ(opening_complaints({"io/a.h", "#include <string>\n"}).size(), 2u);
  expect_clean(opening_complaints);
}

TEST(Structure, TopLevelIsTheListOfTheDesign) {
  const std::set<std::string> allowed = {"CMakeLists.txt",
                                         "CMakePresets.json",
                                         "LICENSE",
                                         "README.md",
                                         "apps",
                                         "libcore",
                                         "io",
                                         "pipelines",
                                         "tests",
                                         "data",
                                         "build",
                                         "run"};
  for (const auto& entry : std::filesystem::directory_iterator(VOXSHARD_SOURCE_DIR)) {
    const std::string name = entry.path().filename().string();
    EXPECT_TRUE(name.starts_with(".") || allowed.contains(name)) << name << " is not in the list";
  }
}

}  // namespace
}  // namespace voxshard
