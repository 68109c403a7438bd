// The small files: configuration, CSV, summary, images and the atomic write below them.
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "io/datasets/summary.h"
#include "io/files/atomic_file.h"
#include "io/files/config_file.h"
#include "io/files/csv.h"
#include "io/image/overlay.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

TEST(AtomicFile, AFailingBodyLeavesTheOldFileAndNoOther) {
  ScratchFolder dir;
  write_text_atomically(dir.path() / "a", "old");
  EXPECT_THROW(write_file_atomically(dir.path() / "a",
                                     [](std::ostream& out) {
                                       out << "half";
                                       throw std::runtime_error("stop");
                                     }),
               std::runtime_error);
  EXPECT_EQ(read_bytes(dir.path() / "a"), "old");
  EXPECT_EQ(dir.files(), 1u);
}

TEST(ConfigFile, TomlJsonAndYamlGiveTheSameValue) {
  ScratchFolder dir;
  write_bytes(dir.path() / "a.toml",
              "name = \"x\"\nday = 2026-11-21\n[train]\nepochs = 3\nrate = 0.5\nflip = false\naxes = [1, "
              "2]\n[[case]]\nid = 1\n");
  write_bytes(dir.path() / "a.json", R"({"name": "x", "day": "2026-11-21", "case": [{"id": 1}],
                                         "train": {"epochs": 3, "rate": 0.5, "flip": false, "axes": [1, 2]}})");
  EXPECT_EQ(read_config(dir.path() / "a.toml"), read_config(dir.path() / "a.json"));
  write_bytes(
      dir.path() / "a.yml",
      "name: x\nday: '2026-11-21'\ncase:\n- id: 1\ntrain:\n  epochs: 3\n  rate: 0.5\n  flip: no\n  axes: [1, 2]\n");
  EXPECT_EQ(read_config(dir.path() / "a.yml"), read_config(dir.path() / "a.json"));
}

TEST(ConfigFile, ErrorsNameFileAndLine) {
  ScratchFolder dir;
  write_bytes(dir.path() / "a.toml", "a = 1\nb = = 2\n");
  expect_error(ErrorKind::kConfig, "a.toml:2:", [&] { read_config(dir.path() / "a.toml"); });
  write_bytes(dir.path() / "a.json", "{\"a\": 1,\n\n\"b\": x}");
  expect_error(ErrorKind::kConfig, "a.json:3:", [&] { read_config(dir.path() / "a.json"); });
  expect_error(ErrorKind::kConfig, "cannot be read", [&] { read_config(dir.path() / "none.toml"); });
  write_bytes(dir.path() / "a.yaml", "a: 1\nb: [1,\nc: 2\n");
  expect_error(ErrorKind::kConfig, "a.yaml:4:", [&] { read_config(dir.path() / "a.yaml"); });
  expect_error(ErrorKind::kConfig, ".toml, .json, .yaml or .yml", [&] { read_config(dir.path() / "a.ini"); });
  expect_error(ErrorKind::kInput, "a.json:3:", [&] { read_json(dir.path() / "a.json"); });
}

TEST(Csv, ResumeDropsLaterRowsAndATornOne) {
  ScratchFolder dir;
  const fs::path path = dir.path() / "results.csv";
  {
    CsvWriter csv = CsvWriter::create(path, {"step", "loss", "note"});
    for (std::int64_t step = 1; step <= 4; ++step)
      csv.write({step, 0.1 * static_cast<double>(step), std::string("a, \"b\"")});
  }
  const std::string whole = read_bytes(path);
  EXPECT_THAT(whole, testing::StartsWith("step,loss,note\n1,0.1,\"a, \"\"b\"\"\"\n2,0.2,"));
  write_bytes(path, whole + "5,0.");
  CsvWriter csv = CsvWriter::resume(path, {"step", "loss", "note"}, 3);
  csv.write({std::int64_t{4}, std::nan(""), std::string("again")});
  EXPECT_THAT(read_bytes(path), testing::EndsWith("3,0.30000000000000004,\"a, \"\"b\"\"\"\n4,nan,again\n"));
  write_bytes(path, whole + "2,0.");
  CsvWriter::resume(path, {"step", "loss", "note"}, 9);
  EXPECT_EQ(read_bytes(path), whole) << "a torn row goes even when its step is kept";
  expect_error(ErrorKind::kCheckpoint, "other columns", [&] { CsvWriter::resume(path, {"step", "dice"}, 3); });
  CsvWriter::resume(dir.path() / "new.csv", {"step"}, 3);
  EXPECT_EQ(read_bytes(dir.path() / "new.csv"), "step\n");
  expect_error(ErrorKind::kOutput, "cannot write", [&] { CsvWriter::create(dir.path() / "no" / "a.csv", {"step"}); });
}

TEST(Summary, TextIsPythonsToTheByte) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<CaseScores> cases{
      {"p/a.nii.gz",
       "r/a.nii.gz",
       {{1, {.scores = {{"Dice", 0.5}, {"IoU", 1.0 / 3}}, .tp = 1, .fp = 1, .fn = 1, .tn = 5}},
        {10, {.scores = {{"Dice", nan}, {"IoU", nan}}, .tn = 8}}}},
      {"p/b.nii.gz",
       "r/b.nii.gz",
       {{1, {.scores = {{"Dice", 1}, {"IoU", 1}}, .tp = 2, .tn = 6}},
        {10, {.scores = {{"Dice", nan}, {"IoU", nan}}, .tn = 8}}}}};
  // json.dumps(numbers, sort_keys=True, indent=4) of Python 3.11 gives this text.
  const std::string want = R"({
    "foreground_mean": {
        "Dice": NaN,
        "FN": 0.25,
        "FP": 0.25,
        "IoU": NaN,
        "TN": 6.75,
        "TP": 0.75,
        "n_pred": 1.0,
        "n_ref": 1.0
    },
    "mean": {
        "1": {
            "Dice": 0.75,
            "FN": 0.5,
            "FP": 0.5,
            "IoU": 0.6666666666666666,
            "TN": 5.5,
            "TP": 1.5,
            "n_pred": 2.0,
            "n_ref": 2.0
        },
        "10": {
            "Dice": NaN,
            "FN": 0.0,
            "FP": 0.0,
            "IoU": NaN,
            "TN": 8.0,
            "TP": 0.0,
            "n_pred": 0.0,
            "n_ref": 0.0
        }
    },
    "metric_per_case": [
        {
            "metrics": {
                "1": {
                    "Dice": 0.5,
                    "FN": 1,
                    "FP": 1,
                    "IoU": 0.3333333333333333,
                    "TN": 5,
                    "TP": 1,
                    "n_pred": 2,
                    "n_ref": 2
                },
                "10": {
                    "Dice": NaN,
                    "FN": 0,
                    "FP": 0,
                    "IoU": NaN,
                    "TN": 8,
                    "TP": 0,
                    "n_pred": 0,
                    "n_ref": 0
                }
            },
            "prediction_file": "p/a.nii.gz",
            "reference_file": "r/a.nii.gz"
        },)";
  EXPECT_THAT(summary_text(cases), testing::StartsWith(want));
  EXPECT_THAT(summary_text(cases),
              testing::EndsWith("            \"reference_file\": \"r/b.nii.gz\"\n        }\n    ]\n}"));
}

TEST(Overlay, ClassColoursAreDistinct) {
  std::vector<std::array<std::uint8_t, 3>> seen;
  for (int label = 0; label <= 24; ++label) {
    for (const auto& other : seen) EXPECT_NE(class_colour(label), other) << label;
    seen.push_back(class_colour(label));
  }
}

TEST(Overlay, PredictionIsFilledReferenceOutlinedInItsColour) {
  const Geometry g{.size = {40, 40, 10}, .spacing = {1, 1, 4}};
  Volume image{g, Tensor(DType::kF32, g.shape())}, label{g, Tensor(DType::kI32, g.shape())};
  for (int z = 3; z < 7; ++z)
    for (int y = 10; y < 30; ++y)
      for (int x = 10; x < 30; ++x) label.voxels.as<std::int32_t>()[(z * 40 + y) * 40 + x] = 1;
  auto count = [&](const OverlayCase& one) {
    const Tensor sheet = overlay_sheet({one}, {.tile_px = 160, .fill_opacity = 1});
    std::int64_t pixels = 0;
    for (std::int64_t i = 0; i < sheet.count(); i += 3) {
      const auto* p = sheet.as<std::uint8_t>() + i;
      int gap = 0;  // lines are drawn with smooth edges
      for (std::size_t k = 0; k < 3; ++k) gap += std::abs(p[k] - class_colour(1)[k]);
      pixels += gap < 100;
    }
    return pixels;
  };
  EXPECT_EQ(count({.image = &image}), 0);
  const auto filled = count({.image = &image, .prediction = &label}),
             outlined = count({.image = &image, .reference = &label});
  // 20 x 20 mm axial, 20 x 16 mm coronal and sagittal, 4 pixels a millimetre
  EXPECT_NEAR(static_cast<double>(filled), (20 * 20 + 2 * 20 * 16) * 16, 2000);
  EXPECT_GT(outlined, 500);
  EXPECT_LT(outlined, filled / 5);
  Volume other = label;
  other.geometry.origin[0] += 5;
  expect_error(ErrorKind::kConfig, "not on its image's grid", [&] { count({.image = &image, .prediction = &other}); });
  expect_error(ErrorKind::kConfig, "no image", [&] { count({.reference = &label}); });
}

TEST(Csv, NoCellIsAFormula) {
  for (const char* text : {"=1+1", "+1", "-1", "@sum", "\t=1"})
    EXPECT_EQ(csv_text(std::string(text)), "'" + std::string(text));
  EXPECT_EQ(csv_text(std::string("=a,b")), "\"'=a,b\"");
  EXPECT_EQ(csv_text(std::string("liver-1")), "liver-1");
  EXPECT_EQ(csv_text(-1.5), "-1.5");
  EXPECT_EQ(csv_text(std::int64_t{-2}), "-2");
}

}  // namespace
}  // namespace voxshard
