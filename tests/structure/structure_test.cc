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
  EXPECT_EQ(include_complaints({"io/files/a.h", "#include \"libcore/graph/graph.h\"\n"}).size(), 1u);
  EXPECT_EQ(include_complaints({"io/volume/a.cc", "#include \"io/image/image.h\"\n"}).size(), 1u);
  EXPECT_EQ(include_complaints({"io/image/a.cc", "#include \"io/volume/volume.h\"\n"}).size(), 0u);
  EXPECT_EQ(include_complaints({"io/attic/a.cc", "#include \"io/volume/volume.h\"\n"}).size(), 1u);
  EXPECT_EQ(include_complaints({"libcore/graph/a.cc", "#include \"libcore/ops/table.h\"\n"}).size(), 1u);
  EXPECT_EQ(include_complaints({"libcore/tensor/a.cc", "#include \"io/volume/volume.h\"\n"}).size(), 1u);
  EXPECT_EQ(include_complaints({"libcore/tensor/a.cc", "#include \"tensor.h\"\n"}).size(), 1u);
  EXPECT_EQ(include_complaints({"pipelines/a.cc", "#include \"apps/exit_code.h\"\n"}).size(), 1u);
  EXPECT_EQ(include_complaints({"libcore/ops/a.cc", "#include \"libcore/graph/graph.h\"\n"}).size(), 0u);
  EXPECT_EQ(include_complaints({"io/boxes/a.cc", "#include \"libcore/metrics/iou_tracker.h\"\n"}).size(), 1u);
  EXPECT_EQ(include_complaints({"libcore/kernels/fast/a.cc", "#include \"libcore/kernels/reference/b.h\"\n"}).size(),
            0u);
  expect_clean(include_complaints, true);
}

TEST(Structure, FilesStaySmall) {
  std::string tall;
  for (int i = 0; i < 501; ++i) tall += "x\n";
  EXPECT_EQ(size_complaints({"io/a.cc", tall}).size(), 1u);
  expect_clean(size_complaints, true);
}

TEST(Structure, OnlyAppsPrints) {
  EXPECT_EQ(printing_complaints({"io/a.cc", "  std::cout << 1;\n"}).size(), 1u);
  EXPECT_EQ(printing_complaints({"libcore/base/a.cc", "  printf(\"x\");\n"}).size(), 1u);
  EXPECT_EQ(printing_complaints({"libcore/base/a.cc", "  std::snprintf(b, 3, \"printf(\");  // std::cout\n"}).size(),
            0u);
  EXPECT_EQ(printing_complaints({"apps/a.cc", "  std::cout << 1;\n"}).size(), 0u);
  expect_clean(printing_complaints);
}

TEST(Structure, OnlyIoOpensFiles) {
  EXPECT_EQ(file_access_complaints({"pipelines/a.cc", "#include <fstream>\n"}).size(), 1u);
  EXPECT_EQ(file_access_complaints({"libcore/train/a.cc", "  auto* f = std::fopen(p, \"r\");\n"}).size(), 1u);
  EXPECT_EQ(file_access_complaints({"io/a.cc", "  std::ifstream in(p);\n"}).size(), 0u);
  expect_clean(file_access_complaints);
}

TEST(Structure, OnlyBaseAndRuntimeStartThreads) {
  EXPECT_EQ(thread_complaints({"pipelines/a.cc", "  std::thread t(f);\n"}).size(), 1u);
  EXPECT_EQ(thread_complaints({"libcore/kernels/fast/a.cc", "#pragma omp parallel for\n"}).size(), 1u);
  EXPECT_EQ(thread_complaints({"libcore/base/a.cc", "  std::thread t(f);\n"}).size(), 0u);
  expect_clean(thread_complaints);
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
  EXPECT_EQ(error_text_complaints({"pipelines/a.cc", "  if (std::string(e.what()).find(\"NaN\") != npos)\n"}).size(), 1u);
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
