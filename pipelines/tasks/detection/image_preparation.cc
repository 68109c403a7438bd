#include "pipelines/tasks/detection/image_preparation.h"

#include <nlohmann/json.hpp>

namespace voxshard {

nlohmann::ordered_json to_json(const ImagePreparation& preparation) {
  nlohmann::ordered_json classes = nlohmann::ordered_json::array();
  for (const DetectionClass& c : preparation.classes) classes.push_back({{"id", c.id}, {"name", c.name}});
  return {{"classes", classes},
          {"mean", preparation.mean},
          {"deviation", preparation.deviation},
          {"pad_multiple", preparation.pad_multiple}};
}

ImagePreparation image_preparation_from_json(const nlohmann::json& json) {
  const std::string broken = "[checkpoint] its description of the pictures is broken: ";
  try {
    ImagePreparation preparation{
        .mean = json.at("mean"), .deviation = json.at("deviation"), .pad_multiple = json.at("pad_multiple")};
    for (const auto& c : json.at("classes")) preparation.classes.push_back({.name = c.at("name"), .id = c.at("id")});
    constexpr std::int64_t kMostPadding = 65536;  // padded extents stay countable
    if (preparation.pad_multiple < 1 || preparation.pad_multiple > kMostPadding)
      throw Error(ErrorKind::kCheckpoint, broken + "pad_multiple is not from 1 to " + std::to_string(kMostPadding));
    return preparation;
  } catch (const nlohmann::json::exception& e) {
    throw Error(ErrorKind::kCheckpoint, broken + e.what());
  }
}

Tensor normalised(Tensor rgb, const ImagePreparation& preparation) {
  ensure(rgb.dtype() == DType::kF32 && rgb.shape().rank() == 3 && rgb.shape()[2] == 3,
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

void place_image(const Tensor& pixels, std::int64_t sample, const TensorView& box) {
  const Dims& shape = pixels.shape();
  const Box whole{{sample, 0, 0, 0}, {1, shape[0], shape[1], shape[2]}};
  const TensorView picture = dense_view(pixels.data(), pixels.dtype(), whole);
  Box wanted = box.box;
  wanted.set(0, std::max(sample, box.box.begin[0]), std::min(sample + 1, box.box.end(0)));
  if (wanted.empty()) return;
  const Box inside = intersect(wanted, whole);
  if (inside != wanted) fill_zero(box.sub(wanted));
  if (!inside.empty()) copy(picture.sub(inside), box.sub(inside));
}

}  // namespace voxshard
