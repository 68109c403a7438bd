// Single files that a command writes replace nothing but an earlier one of their kind.
#include "io/output/output_file.h"

#include <nlohmann/json.hpp>

#include "io/boxes/coco.h"
#include "io/boxes/mot.h"
#include "io/datasets/summary.h"
#include "io/image/image.h"
#include "io/image/sheet_file.h"
#include "io/output/output_folder.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

const OutputKind kScores = {"scores of a test", {".json"}, begins_with({R"({"AP":)"})};

TEST(OutputFile, AnEarlierOneOfItsKindIsReplacedAndNothingElse) {
  ScratchFolder dir;
  const fs::path file = dir.path() / "scores.json";
  require_output_file(file, kScores);
  require_output_file({}, kScores);
  for (const char* ours : {"", "{\"AP\": 0.5}", "{\n  \"AP\" : 1\n}"}) {
    write_bytes(file, ours);
    require_output_file(file, kScores);
  }
  for (const char* other : {"{\"channel_names\": {}}", "[1]", "notes", "\x1f\x8b"}) {
    write_bytes(file, other);
    expect_error(ErrorKind::kOutput, "is there and is not scores of a test",
                 [&] { require_output_file(file, kScores); });
    EXPECT_EQ(read_bytes(file), other);
  }
  write_bytes(file, "");
  write_bytes(dir.path() / "scores.incomplete.json", "notes");
  expect_error(ErrorKind::kOutput, "scores.incomplete.json", [&] { require_output_file(file, kScores); });
  fs::create_directories(dir.path() / "a.json");
  expect_error(ErrorKind::kOutput, "is there", [&] { require_output_file(dir.path() / "a.json", kScores); });
}

TEST(OutputFile, ItsNameEndsAsItsKindDoes) {
  ScratchFolder dir;
  for (const char* name : {"best.safetensors", "good.nii", "json", "label.nii.gz", "scores.json.gz"})
    expect_error(ErrorKind::kUsage, "ends in .json; choose one with {trace}",
                 [&] { require_output_file(dir.path() / name, kScores, {.option = "{trace}"}); });
  require_output_file(dir.path() / "A.JSON", kScores);
}

TEST(OutputFile, InAFolderThatIsSomebodysItIsRefused) {
  ScratchFolder dir;
  {
    OutputFolder run({.folder = dir.path() / "run", .command = "train"});
    run.claim();
  }
  for (const char* name : {"run/new.json", "run/checkpoints/new.json", "run/../run/new.json"})
    expect_error(ErrorKind::kOutput, "which was made by voxshard train",
                 [&] { require_output_file(dir.path() / name, kScores); });
  require_output_file(dir.path() / "run/new.json", kScores, {.own = dir.path() / "run"});
  fs::create_directory_symlink(dir.path() / "run", dir.path() / "link");
  expect_error(ErrorKind::kOutput, "made by", [&] { require_output_file(dir.path() / "link/new.json", kScores); });
  write_bytes(dir.path() / "data/dataset.json", "{}");
  require_output_file(dir.path() / "data/new.json", kScores);
  write_bytes(dir.path() / "data/imagesTr/a.nii", "x");
  expect_error(ErrorKind::kOutput, "which is a data set",
               [&] { require_output_file(dir.path() / "data/new.json", kScores); });
  write_bytes(dir.path() / "odd/manifest.jsonl", "\x01 torn");
  expect_error(ErrorKind::kOutput, "manifest.jsonl",
               [&] { require_output_file(dir.path() / "odd/new.json", kScores); });
  expect_error(ErrorKind::kUsage, "could overwrite",
               [&] { require_output_file(dir.path() / "in/new.json", kScores, {.inputs = {dir.path()}}); });
}

TEST(OutputFile, EveryWriterKnowsItsOwnFiles) {
  ScratchFolder dir;
  write_summary(dir.path() / "summary.json", {{"a.nii", "b.nii", {{1, {.scores = {{"Dice", 1}}, .tp = 3}}}}});
  require_output_file(dir.path() / "summary.json", summary_file());
  write_bytes(dir.path() / "found.json",
              "[\n " + coco_result({.box = {1, 2, 3, 4}, .score = 0.5}, 7, {.name = "cell", .id = 1}).dump(2) + "]");
  require_output_file(dir.path() / "found.json", coco_results_file());
  expect_error(ErrorKind::kOutput, "is not", [&] { require_output_file(dir.path() / "found.json", summary_file()); });
  write_mot(dir.path() / "found.txt", {{.frame = 1, .track = 2, .box = {1, 2, 3.5, 4.25}, .confidence = 0.912345}});
  require_output_file(dir.path() / "found.txt", mot_results_file());
  write_bytes(dir.path() / "gt.txt", "1,1,912,484,97,109,0,7,1\n");
  expect_error(ErrorKind::kOutput, "is not", [&] { require_output_file(dir.path() / "gt.txt", mot_results_file()); });
  const Tensor image(DType::kU8, {8, 8, 3});
  write_sheet(dir.path() / "sheet.png", image);
  require_output_file(dir.path() / "sheet.png", sheet_file());
  EXPECT_EQ(read_rgb(dir.path() / "sheet.png").shape(), image.shape());
  write_rgb(dir.path() / "photo.png", image);
  expect_error(ErrorKind::kOutput, "is not", [&] { require_output_file(dir.path() / "photo.png", sheet_file()); });
}

}  // namespace
}  // namespace voxshard
