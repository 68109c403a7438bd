// Images in an output of fixed size against NumPy: sizes, pixels, zeros at the bottom and right, boxes. The numbers
// and how they were made: tests/parity/image_fit_reference.json, make_image_fit_reference.py.
#include <fstream>
#include <nlohmann/json.hpp>

#include "io/files/config_file.h"
#include "libcore/base/rng.h"
#include "pipelines/commands/run_predict.h"
#include "pipelines/tasks/detection/predict_detections.h"
#include "pipelines/tasks/detection/samples/augment_image.h"
#include "pipelines/tasks/detection/samples/image_preparation.h"
#include "pipelines/tasks/place_sample.h"
#include "tests/pipelines/tasks/detection/images_scene.h"

namespace voxshard {
namespace {

nlohmann::json stored() {
  std::ifstream in(VOXSHARD_SOURCE_DIR "/tests/parity/image_fit_reference.json");
  return nlohmann::json::parse(in);
}

Dims dims(const nlohmann::json& pair) { return {pair.at(0).get<std::int64_t>(), pair.at(1).get<std::int64_t>()}; }

TEST(ImageFit, SizesAreThoseOfTheReference) {
  const nlohmann::json all = stored();
  for (const auto& row : all.at("sizes"))
    EXPECT_EQ(fit_into(dims(row.at("size")), dims(row.at("output"))).size, dims(row.at("scaled"))) << row;
}

TEST(ImageFit, PixelsPaddingAndBoxesAreThoseOfTheReference) {
  const nlohmann::json all = stored();
  const RngKey key{all.at("seed").get<std::uint64_t>(), rng_stream("picture")};
  for (const auto& row : all.at("cases")) {
    const Dims size = dims(row.at("size")), output = dims(row.at("output"));
    Tensor image(DType::kF32, {size[0], size[1], 3});
    for (std::int64_t i = 0; i < image.count(); ++i)
      image.as<float>()[i] = static_cast<float>(rng_uniform(key, static_cast<std::uint64_t>(i)));
    const auto box = row.at("box").get<std::vector<double>>(), scaled = row.at("scaled_box").get<std::vector<double>>();
    const AugmentedImage made = augment_image(
        {std::move(image), {{.box = {box[1], box[0], box[3] - box[1], box[2] - box[0]}}}}, {}, {}, output);
    Tensor canvas(DType::kF32, {1, output[0], output[1], 3});
    std::fill_n(canvas.as<float>(), canvas.count(), 77.0F);
    place_sample(made.pixels, 0, canvas.view());
    for (std::int64_t i = 0; i < canvas.count(); ++i)
      EXPECT_NEAR(canvas.as<float>()[i], row.at("pixels").at(i).get<double>(), 2e-6) << row.at("size") << " at " << i;
    const PixelBox found = pixel_box(made.boxes.at(0).box);
    EXPECT_NEAR(found.y0, scaled[0], 1e-9);
    EXPECT_NEAR(found.x0, scaled[1], 1e-9);
    EXPECT_NEAR(found.y1, scaled[2], 1e-9);
    EXPECT_NEAR(found.x1, scaled[3], 1e-9);
  }
}

TEST(ImageFit, IsKeptInTheCheckpointAndBrokenOnesAreRefused) {
  const ImagePreparation preparation{.classes = {{.name = "cell", .id = 7}}, .output_size = {640, 512}};
  nlohmann::json json = nlohmann::json::parse(to_json(preparation).dump());
  EXPECT_EQ(image_preparation_from_json(json).output_size, (Dims{640, 512}));
  for (const auto& broken : {nlohmann::json{640}, {640, 0}, {1, 2, 3}, {640, 1 << 20}}) {
    json["output_size"] = broken;
    EXPECT_THROW(image_preparation_from_json(json), Error) << broken;
  }
  json.erase("output_size");  // images keep their size
  EXPECT_TRUE(image_preparation_from_json(json).output_size.empty());
}

TEST(ImageFit, ADetectorTrainedSoFindsBoxesInThePixelsOfTheFile) {
  ImagesScene scene("pictures_fit");
  TrainOptions o = scene.options("run");
  o.steps = 4;
  detection_options(o).sampling.crop = {};
  detection_options(o).sampling.output_size = {128, 128};
  const TrainReport report = run_train(o, scene.progress);
  EXPECT_EQ(report.steps, 4);
  PredictOptions p{.run = scene.path("run"), .input = scene.annotations(), .output = scene.path("found.json")};
  p.task.of<DetectionPrediction>().postprocess = "legacy";
  ASSERT_EQ(run_predict(p, scene.progress).cases.size(), 7u);
  double widest = 0;
  for (const auto& r : read_json(p.output)) {
    const bool wide = r.at("image_id") == 106;
    const auto b = r.at("bbox").get<std::vector<double>>();
    widest = std::max(widest, wide ? b[0] + b[2] : 0.0);
    EXPECT_TRUE(b[0] >= 0 && b[1] >= 0 && b[0] + b[2] <= (wide ? 96 : 48) + 1e-9 &&
                b[1] + b[3] <= (wide ? 40 : 64) + 1e-9)
        << r;
  }
  EXPECT_GT(widest, 48) << "boxes reach over the whole of the wide picture";
}

}  // namespace
}  // namespace voxshard
