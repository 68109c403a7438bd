// explain's drawing from a spec to a PNG: its pixels lie where the boxes of the program say, and files are whole or not
// there.
#include "io/image/image.h"
#include "io/image/overlay.h"
#include "io/volume/volume.h"
#include "pipelines/commands/run_draw.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

using Pixel = std::array<std::uint8_t, 3>;

Pixel pixel(const Tensor& rgb, std::int64_t y, std::int64_t x) {
  const auto* p = rgb.as<std::uint8_t>() + (y * rgb.shape()[1] + x) * 3;
  return {p[0], p[1], p[2]};
}

struct Drawing : Scene {
  explicit Drawing(const std::string& name) : Scene(name) {
    std::filesystem::create_directories(path(""));
    options.file = path("tiles.png");
    options.spec.as<UNetConfig>() = {.base_filters = 2, .depth = 3};
    options.spec.cut.mesh.partition = {1, 2, 3, 1, 1};
    options.extents = {1, 25, 33, 17};
  }
  DrawOptions options;
};

/// Expects the colour of the border pixels of a view at `edges`.
void expect_borders(const nlohmann::ordered_json& json, const Tensor& rgb, std::size_t view, std::int64_t rows,
                    const std::vector<Dims>& edges) {
  const auto& at = json.at("views").at(view);
  for (const Dims& edge : edges) {  // row, column, colour
    const double down = (at.at("upwards").get<bool>() ? static_cast<double>(rows) - static_cast<double>(edge[0])
                                                      : static_cast<double>(edge[0])) *
                        at.at("row_px").get<double>();
    const auto y = at.at("top").get<std::int64_t>() + std::lround(down) - (at.at("upwards").get<bool>() ? 1 : 0);
    const auto x = at.at("left").get<std::int64_t>() +
                   std::lround(static_cast<double>(edge[1]) * at.at("column_px").get<double>());
    EXPECT_EQ(pixel(rgb, y, x), class_colour(static_cast<int>(edge[2])))
        << "view " << view << " voxel " << edge[0] << ", " << edge[1];
  }
}

TEST(Draw, TileBordersOfAVolumeLieWhereTheBoxesSay) {
  Drawing scene("draw_volume");
  const DrawReport report = run_draw(scene.options);
  const Tensor rgb = read_rgb(scene.options.file);
  ASSERT_EQ(report.json.at("views").size(), 3u);
  // 25 over 2: 13, 12; 33 over 3: 11 each. The axial plane at 12 of 25 is of the upper half: cores 0, 1, 2.
  expect_borders(report.json, rgb, 0, 33, {{0, 0, 1}, {11, 0, 2}, {22, 0, 3}});
  // Coronal at 16 of 33: cores 1 and 4; sagittal: all six.
  expect_borders(report.json, rgb, 1, 25, {{0, 0, 2}, {13, 0, 5}});
  expect_borders(report.json, rgb, 2, 25, {{0, 0, 1}, {0, 11, 2}, {0, 22, 3}, {13, 0, 4}, {13, 11, 5}, {13, 22, 6}});
  EXPECT_EQ(report.json.at("tiles").size(), 6u);
}

TEST(Draw, AImageIsDrawnWholeAtItsOwnSize) {
  Drawing scene("draw_picture");
  write_rgb(scene.path("cells.png"), Tensor(DType::kU8, {70, 101, 3}));
  scene.options.spec =
      retinanet_spec({.backbone = Backbone::kResNet18, .classes = 4, .filters = 4, .pyramid_filters = 8});
  scene.options.spec.cut.mesh.partition = {1, 2, 2, 1};
  scene.options.source = scene.path("cells.png");
  scene.options.sample = read_drawn_sample(scene.options.source, 2);
  scene.options.extents = extents_of(*scene.options.sample, scene.options.spec, 1);
  EXPECT_EQ(scene.options.extents, (Shape{1, 70, 101}));
  scene.options.scaled = false;
  const DrawReport report = run_draw(scene.options);
  expect_borders(report.json, read_rgb(scene.options.file), 0, 70, {{0, 0, 1}, {0, 51, 2}, {35, 0, 3}, {35, 51, 4}});
}

TEST(Draw, AVolumeWithoutASizeIsPaddedAsForAPrediction) {
  Drawing scene("draw_padded");
  write_volume(scene.path("ct.nii"), {.geometry = {.size = {9, 10, 11}}, .voxels = Tensor(DType::kF32, {11, 10, 9})},
               DiskType::kI16);
  const DrawnSample sample = read_drawn_sample(scene.path("ct.nii"), 3);
  EXPECT_EQ(extents_of(sample, scene.options.spec, 2), (Shape{2, 12, 12, 12})) << "depth 3 pools twice";
}

TEST(Draw, ARefusalLeavesNoFile) {
  Drawing scene("draw_refused");
  scene.options.level = "cellar";
  expect_error(ErrorKind::kConfig, "0 (25 x 33 x 17)", [&] { run_draw(scene.options); });
  EXPECT_FALSE(std::filesystem::exists(scene.options.file));
  scene.options.level = "";
  scene.options.file = scene.path("tiles.jpg");
  expect_error(ErrorKind::kUsage, "ends in .png", [&] { run_draw(scene.options); });
}

TEST(Draw, OnlyAnEarlierSheetIsReplaced) {
  Drawing scene("draw_twice");
  run_draw(scene.options);
  run_draw(scene.options);
  write_rgb(scene.path("mine.png"), Tensor(DType::kU8, {4, 4, 3}));
  scene.options.file = scene.path("mine.png");
  expect_error(ErrorKind::kOutput, "is not replaced", [&] { run_draw(scene.options); });
  scene.options.source = scene.path("mine.png");
  expect_error(ErrorKind::kUsage, "mine.png", [&] { run_draw(scene.options); });
}

}  // namespace
}  // namespace voxshard
