#include "pipelines/tasks/detection/samples/image_preparation.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace voxshard {

Fit fit_into(const Dims& image, const Dims& output) {
  const auto side = [](std::int64_t extent) { return static_cast<float>(extent); };
  const float factor = std::min(side(output[0]) / side(image[0]), side(output[1]) / side(image[1]));
  Fit fit;
  for (int a = 0; a < 2; ++a)  // in f32, halves to even, as in the source
    fit.size.push_back(std::clamp<std::int64_t>(std::lrint(side(image[a]) * factor), 1, output[a]));
  fit.by_y = static_cast<double>(fit.size[0]) / static_cast<double>(image[0]);
  fit.by_x = static_cast<double>(fit.size[1]) / static_cast<double>(image[1]);
  return fit;
}

nlohmann::ordered_json to_json(const ImagePreparation& preparation) {
  nlohmann::ordered_json classes = nlohmann::ordered_json::array();
  for (const DetectionClass& c : preparation.classes) classes.push_back({{"id", c.id}, {"name", c.name}});
  nlohmann::ordered_json json = {{"classes", classes},
                                 {"mean", preparation.mean},
                                 {"deviation", preparation.deviation},
                                 {"pad_multiple", preparation.pad_multiple}};
  if (!preparation.output_size.empty()) json["output_size"] = {preparation.output_size[0], preparation.output_size[1]};
  return json;
}

ImagePreparation image_preparation_from_json(const nlohmann::json& json) {
  const std::string broken = "[checkpoint] its description of the pictures is broken: ";
  try {
    ImagePreparation preparation{
        .mean = json.at("mean"), .deviation = json.at("deviation"), .pad_multiple = json.at("pad_multiple")};
    for (const auto& c : json.at("classes")) preparation.classes.push_back({.name = c.at("name"), .id = c.at("id")});
    constexpr std::int64_t kMostPadding = 65536;  // so that padded extents do not overflow
    if (preparation.pad_multiple < 1 || preparation.pad_multiple > kMostPadding)
      throw Error(ErrorKind::kCheckpoint, broken + "pad_multiple is not from 1 to " + std::to_string(kMostPadding));
    for (const auto& extent : json.value("output_size", nlohmann::json::array())) {
      const auto side = extent.get<std::int64_t>();
      if (side < 1 || side > kMostPadding || preparation.output_size.axes() == 2)
        throw Error(ErrorKind::kCheckpoint,
                    broken + "output_size is not two extents of at most " + std::to_string(kMostPadding));
      preparation.output_size.push_back(side);
    }
    if (preparation.output_size.axes() == 1) throw Error(ErrorKind::kCheckpoint, broken + "output_size has one extent");
    return preparation;
  } catch (const nlohmann::json::exception& e) {
    throw Error(ErrorKind::kCheckpoint, broken + e.what());
  }
}

Tensor normalised(Tensor rgb, const ImagePreparation& preparation) {
  ensure(rgb.dtype() == DType::kF32 && rgb.shape().axes() == 3 && rgb.shape()[2] == 3,
         "a picture to be normalised is (H, W, 3) f32");
  float* pixels = rgb.as<float>();
  for (std::int64_t i = 0; i < rgb.count(); ++i) {
    const auto c = static_cast<std::size_t>(i % 3);
    pixels[i] = static_cast<float>((pixels[i] - preparation.mean[c]) / preparation.deviation[c]);
  }
  return rgb;
}

Dims padded_size(const Dims& size, std::int64_t multiple) {
  return {ceil_div(size[0], multiple) * multiple, ceil_div(size[1], multiple) * multiple};
}

}  // namespace voxshard
