// Each kind of bad input gives a clear message and the right exit code, and nothing else is lost.
#include <zlib.h>

#include <cstring>
#include <functional>

#include "tests/cli/trained_cli.h"

namespace voxshard {
namespace {

using ::testing::HasSubstr;

/// Applies `change` to the unpacked bytes of a .nii.gz, whose header has 352 bytes.
void rewrite(const std::string& path, const std::function<void(std::string&)>& change) {
  std::string bytes(32 << 20, '\0');
  gzFile in = gzopen(path.c_str(), "rb");
  bytes.resize(gzread(in, bytes.data(), static_cast<unsigned>(bytes.size())));
  gzclose(in);
  change(bytes);
  gzFile out = gzopen(path.c_str(), "wb");
  gzwrite(out, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(out);
}

/// Converts i16 voxels to f32 and sets the middle one to NaN.
void make_nan(std::string& bytes) {
  std::string floats = bytes.substr(0, 352);
  floats[70] = 16, floats[72] = 32;  // datatype, bitpix
  for (std::size_t i = 352; i + 1 < bytes.size(); i += 2) {
    std::int16_t value = 0;
    std::memcpy(&value, &bytes[i], 2);
    const float f = value;
    floats.append(reinterpret_cast<const char*>(&f), 4);
  }
  floats.replace(352 + (floats.size() - 352) / 8 * 4, 4, std::string("\x00\x00\xc0\x7f", 4));
  bytes = floats;
}

class BadCase : public TrainedCli {
 protected:
  /// Expects a copy of the data in which case 1 was damaged to be prepared without that case.
  static void expect_quarantined(const std::string& code, const std::string& part,
                                 const std::function<void(const std::string&)>& damage) {
    Folder folder("bad_case");
    std::filesystem::copy(data(), folder / "data", std::filesystem::copy_options::recursive);
    damage(folder / ("data/" + part + "/phantom_001" + (part == "imagesTr" ? "_0000" : "") + ".nii.gz"));
    const CommandResult r = run_voxshard("prepare " + (folder / "data") + " -o " + (folder / "work") + " --json");
    EXPECT_EQ(r.exit_code, 8) << r.err;
    EXPECT_EQ(r.json().at("prepared"), 1);
    EXPECT_EQ(r.json().at("failures").at(0).at("case"), "phantom_001");
    EXPECT_THAT(file_text(folder / "work/quarantine.csv"), HasSubstr("phantom_001," + code));
    EXPECT_THAT(r.err, HasSubstr("phantom_001"));
  }
};

TEST_F(BadCase, ATruncatedImageIsQuarantined) {
  expect_quarantined("E_READ", "imagesTr", [](const std::string& file) { std::filesystem::resize_file(file, 4000); });
}

TEST_F(BadCase, ALabelOfAnotherShapeIsQuarantined) {
  expect_quarantined("E_SHAPE", "labelsTr", [](const std::string& file) {
    std::filesystem::copy_file(data() + "/labelsTr/phantom_000.nii.gz", file,
                               std::filesystem::copy_options::overwrite_existing);
  });
}

TEST_F(BadCase, ALabelOutsideTheClassesIsQuarantined) {
  expect_quarantined("E_LABELS", "labelsTr", [](const std::string& file) {
    rewrite(file, [](std::string& bytes) { bytes[bytes.size() / 2] = 77; });
  });
}

TEST_F(BadCase, NaNVoxelsAreQuarantined) {
  expect_quarantined("E_NAN", "imagesTr", [](const std::string& file) { rewrite(file, make_nan); });
}

TEST_F(BadCase, PredictionGoesOnWithoutTheBrokenImage) {
  Folder folder("bad_predict");
  std::filesystem::copy(data() + "/imagesTr", folder / "in");
  rewrite(folder / "in/phantom_000_0000.nii.gz", make_nan);
  std::filesystem::copy(data() + "/imagesTs/phantom_002_0000.nii.gz", folder / "in");
  std::filesystem::resize_file(folder / "in/phantom_001_0000.nii.gz", 4000);
  const CommandResult r =
      run_voxshard("predict " + run() + " " + (folder / "in") + " -o " + (folder / "out") + " --json");
  EXPECT_EQ(r.exit_code, 8) << r.err;
  EXPECT_EQ(r.json().at("cases").size(), 1u);
  EXPECT_THAT(file_text(folder / "out/quarantine.csv"), HasSubstr("phantom_000,E_NAN"));
  EXPECT_THAT(file_text(folder / "out/quarantine.csv"), HasSubstr("phantom_001,E_READ"));
}

TEST_F(TrainedCli, EmptyFoldersExitWithFour) {
  Folder folder("bad_empty");
  std::filesystem::create_directories(folder / "empty");
  expect_refusal("predict " + run() + " " + (folder / "empty") + " -o " + (folder / "out"), 4, "no_case", "holds no");
  expect_refusal("prepare " + (folder / "empty") + " -o " + (folder / "work"), 4, "no_case", "empty");
  expect_refusal("train " + (folder / "empty") + " -o " + (folder / "run"), 3, "input", "voxshard prepare");
}

TEST_F(TrainedCli, WrongPartitionsExitWithFive) {
  Folder folder("bad_partition");
  const std::string train = "train " + work() + " -o " + (folder / "run") + kModel + kTraining;
  for (const std::string& words :
       {train, "verify --size 8x8x8" + std::string(kModel), "bench step --size 8x8x8" + std::string(kModel),
        "explain --size 8x8x8" + std::string(kModel)}) {
    expect_refusal(words + " --partition 1x2x2x1x1 --cores 8", 5, "config", "is 4, but --cores says 8");
    expect_refusal(words + " --partition 1x2x2x1", 5, "config", "4 entries");
    expect_refusal(words + " --partition 1x0x2x1x1", 5, "config", "the entry 0");
    expect_refusal(words + " --partition 1x-2x2x1x1", 5, "config", "the entry -2");
    expect_refusal(words + " --partition 1x2xtwox1x1", 5, "config", "whole numbers");
    expect_refusal(words + " --partition 1x1x1x1x2", 5, "config", "channel");
    expect_refusal(words + " --partition 1x99999999999x99999999x99999999x1", 5, "config", "4096");
  }
  expect_refusal("predict " + run() + " " + data() + "/imagesTs -o " + (folder / "out") + " --partition 1x2x2x1", 5,
                 "config", "4 entries");
  EXPECT_FALSE(std::filesystem::exists(folder / "run/checkpoints/last.safetensors"));
}

TEST_F(TrainedCli, WrongNumbersExitWithFive) {
  const std::string bench = "bench step" + std::string(kModel);
  expect_refusal(bench + "--size 8x8", 5, "config", "3 numbers");
  expect_refusal(bench + "--size 0x8x8", 5, "config", "positive");
  expect_refusal(bench + "--size 99999999x99999999x99999999", 5, "config", "99999999x99999999x99999999");
  expect_refusal(bench + "--size 8x8x8 --batch 0", 5, "config", "batch");
  expect_refusal(bench + "--size 8x8x8 --memory lots", 5, "config", "lots");
  expect_refusal(bench + "--size 8x8x8 --memory 0.2", 5, "config", "0.2");
  expect_refusal(bench + "--size 8x8x8 --memory lots", 5, "config", "--memory: [config] the memory \"lots\"");
  expect_refusal("predict run data -o pred --host-memory lots", 5, "config", "--host-memory: [config] the memory");
  expect_refusal("explain --stage dream --size 8x8x8" + std::string(kModel), 5, "config",
                 "expected config, graph, grad, program, memory, passes");
}

TEST_F(TrainedCli, UnwritableOutputsExitWithSix) {
  Folder folder("bad_output");
  folder.write("file", "in the way");
  for (const std::string& place : {folder / "file/out", std::string("/proc/voxshard")}) {
    expect_refusal("train " + work() + " -o " + place + kModel + kTraining, 6, "output", place);
    expect_refusal("predict " + run() + " " + data() + "/imagesTs -o " + place, 6, "output", place);
  }
}

TEST_F(TrainedCli, CheckpointsOfOtherModelsExitWithTen) {
  Folder folder("bad_checkpoint");
  const std::string last = run() + "/checkpoints/last.safetensors",
                    predict = " " + data() + "/imagesTs -o " + (folder / "out");
  expect_refusal("predict " + work() + "/foreground/phantom_000.safetensors" + predict, 10, "checkpoint",
                 "not written by voxshard");
  std::string bytes = file_text(last);
  folder.write("cut.safetensors", bytes.substr(0, bytes.size() / 2));
  expect_refusal("predict " + (folder / "cut.safetensors") + predict, 10, "checkpoint", "cut.safetensors");
  const std::string four = R"(\"base_filters\":4)";
  ASSERT_NE(bytes.find(four), std::string::npos);
  bytes.replace(bytes.find(four), four.size(), R"(\"base_filters\":5)");
  folder.write("other.safetensors", bytes);
  expect_refusal("predict " + (folder / "other.safetensors") + predict, 10, "checkpoint",
                 "altered after it was written");
  for (const std::string hash : {R"("xxh3_128")", R"("xxh3_128_header")"})
    bytes.replace(bytes.find(hash) + 1, 4, "none");
  folder.write("other.safetensors", bytes);
  expect_refusal("predict " + (folder / "other.safetensors") + predict, 10, "checkpoint",
                 "has no hashes of its tensors");
  expect_refusal("predict " + (folder / "nowhere") + predict, 3, "input",
                 "nowhere: no such file or folder; give a run folder");
  EXPECT_FALSE(std::filesystem::exists(folder / "out"));
}

}  // namespace
}  // namespace voxshard
