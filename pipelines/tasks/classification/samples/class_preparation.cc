#include "pipelines/tasks/classification/samples/class_preparation.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "io/image/image_resize.h"
#include "io/resampling/resample.h"
#include "libcore/base/text.h"
#include "pipelines/tasks/classification/samples/clip_reader.h"

namespace voxshard {
namespace {

constexpr std::int64_t kMostExtent = 1 << 20, kMostMultiple = 4096;

/// Converts (H, W, 3) to (H, W, 1); grey images lose nothing. Source of the weights: ITU-R BT.601.
Tensor grey(const Tensor& rgb) {
  Tensor made(DType::kF32, {rgb.shape()[0], rgb.shape()[1], 1});
  const float* from = rgb.as<float>();
  for (std::int64_t i = 0; i < made.count(); ++i, from += 3)
    made.as<float>()[i] =
        from[0] == from[1] && from[1] == from[2] ? from[0] : 0.299F * from[0] + 0.587F * from[1] + 0.114F * from[2];
  return made;
}

/// Returns one image of an IDX file, repeated for each channel.
Tensor idx_image(const Tensor& pixels, std::int64_t index, std::int64_t channels) {
  const std::int64_t height = pixels.shape()[1], width = pixels.shape()[2];
  Tensor made(DType::kF32, {height, width, channels});
  const std::uint8_t* from = pixels.as<std::uint8_t>() + index * height * width;
  for (std::int64_t i = 0; i < made.count(); ++i) made.as<float>()[i] = static_cast<float>(from[i / channels]) / 255.0F;
  return made;
}

/// Repeats every element `times` times along every spatial axis.
Tensor repeated(const Tensor& sample, std::int64_t times) {
  const Dims& old = sample.shape();
  const int axes = old.axes() - 1;
  Dims shape = old;
  for (int a = 0; a < axes; ++a) shape[a] *= times;
  Tensor made(DType::kF32, shape);
  const std::int64_t channels = old.back(), rows = made.count() / (shape[axes - 1] * channels);
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t plane = axes == 3 ? row / shape[1] / times * old[1] : 0;
    const std::int64_t source = plane + (axes == 3 ? row % shape[1] : row) / times;
    const float* from = sample.as<float>() + source * old[axes - 1] * channels;
    float* to = made.as<float>() + row * shape[axes - 1] * channels;
    for (std::int64_t x = 0; x < shape[axes - 1]; ++x)
      std::copy_n(from + x / times * channels, channels, to + x * channels);
  }
  return made;
}

/// Returns the factor by which a sample is enlarged; 1 for none.
std::int64_t factor_of(const Dims& size, const ClassPreparation& p) {
  if (!p.enlarges || p.size.empty() || p.size[0] % size[0] != 0) return 1;
  const std::int64_t times = p.size[0] / size[0];
  for (int a = 1; a < size.axes(); ++a)
    if (size[a] * times != p.size[a]) return 1;
  return times;
}

Dims spatial(const Tensor& sample) {
  Dims size;
  for (int a = 0; a + 1 < sample.shape().axes(); ++a) size.push_back(sample.shape()[a]);
  return size;
}

/// Resizes an image of 1 or 3 channels; volumes are resampled in HU when they are read.
Tensor resized_image(const Tensor& sample, const Dims& size) {
  if (sample.shape()[2] == 3) return resized(sample, size[0], size[1]);
  Tensor rgb(DType::kF32, {sample.shape()[0], sample.shape()[1], 3});
  for (std::int64_t i = 0; i < rgb.count(); ++i) rgb.as<float>()[i] = sample.as<float>()[i / 3];
  return grey(resized(rgb, size[0], size[1]));
}

}  // namespace

nlohmann::ordered_json to_json(const ClassPreparation& p) {
  return {{"classes", p.classes},
          {"items", item_kind_name(p.items)},
          {"clip_length", p.clip_length},
          {"clip_stride", p.clip_stride},
          {"channels", p.channels},
          {"mean", p.mean},
          {"deviation", p.deviation},
          {"window_hu", p.window_hu},
          {"size", std::vector<std::int64_t>(p.size.begin(), p.size.end())},
          {"resizes", p.resizes},
          {"enlarges", p.enlarges},
          {"pad_multiple", p.pad_multiple}};
}

ClassPreparation class_preparation_from_json(const nlohmann::json& json) {
  const std::string broken = "[checkpoint] its description of the pictures is broken: ";
  const auto require = [&](bool ok, const char* what) {
    if (!ok) throw Error(ErrorKind::kCheckpoint, broken + what);
  };
  try {
    const auto integer = [&](const nlohmann::json& value) {
      require(value.is_number_integer(), "a number that counts is none");
      return value.get<std::int64_t>();
    };
    const auto items = item_kind_from_name(json.at("items").get<std::string>());
    require(items.has_value(), "items are neither pictures nor volumes nor clips");
    ClassPreparation p{.classes = json.at("classes"),
                       .items = *items,
                       .clip_length = integer(json.at("clip_length")),
                       .clip_stride = integer(json.at("clip_stride")),
                       .channels = integer(json.at("channels")),
                       .mean = json.at("mean"),
                       .deviation = json.at("deviation"),
                       .window_hu = json.at("window_hu"),
                       .resizes = json.at("resizes"),
                       .enlarges = json.at("enlarges"),
                       .pad_multiple = integer(json.at("pad_multiple"))};
    const std::vector<nlohmann::json> size = json.at("size");
    require(size.empty() || std::ssize(size) == p.axes(), "size does not have the axes of the samples");
    for (const nlohmann::json& value : size) {
      const std::int64_t extent = integer(value);
      require(extent >= 1 && extent <= kMostExtent, "size is out of range");
      p.size.push_back(extent);
    }
    require(p.clip_length >= 1 && p.clip_length <= kMostClipLength && p.clip_stride >= 1 &&
                p.clip_stride <= kMostClipStride,
            "clip_length or clip_stride is out of range");
    require(p.items != ItemKind::kClip || p.size.empty() || p.size[0] == p.clip_length,
            "size does not begin with the length of a clip");
    const auto finite = [](double v) { return std::isfinite(v); };
    require(p.classes.size() >= 2 && p.classes.size() <= kMostClasses, "classes are fewer than two, or too many");
    require(p.channels == 1 || (p.channels == 3 && p.items != ItemKind::kVolume), "channels are neither 1 nor 3");
    require(std::ssize(p.mean) == p.channels && std::ssize(p.deviation) == p.channels &&
                std::ranges::all_of(p.mean, finite) &&
                std::ranges::all_of(p.deviation, [](double v) { return std::isfinite(v) && v > 0; }),
            "mean and deviation are not those of the channels");
    require(finite(p.window_hu[0]) && finite(p.window_hu[1]) && p.window_hu[0] < p.window_hu[1],
            "window_hu is no window");
    require(p.pad_multiple >= 1 && p.pad_multiple <= kMostMultiple, "pad_multiple is out of range");
    require(!p.resizes || !p.size.empty(), "it resizes to no size");
    return p;
  } catch (const nlohmann::json::exception& e) {
    throw Error(ErrorKind::kCheckpoint, broken + e.what());
  }
}

Dims canvas_of(const ClassItem& item, const ClassPreparation& p) {
  Dims canvas;
  if (p.size.empty()) {
    for (const std::int64_t extent : item.size) canvas.push_back(ceil_div(extent, p.pad_multiple) * p.pad_multiple);
    if (p.items == ItemKind::kClip) canvas[0] = p.clip_length;  // all clips have this length
    return canvas;
  }
  for (int a = 0; a < p.size.axes() && !p.resizes; ++a)
    if (item.size[a] > p.size[a])
      throw Error(ErrorKind::kInput, "E_SIZE",
                  "[input] " + item.file.string() + ": is " + to_string(item.size) + ", larger than the " +
                      to_string(p.size) + " that the model sees; scale it, or train with {fit} resize");
  return p.size;
}

Tensor image_intensities(Tensor rgb, const ClassPreparation& p) { return p.channels == 3 ? std::move(rgb) : grey(rgb); }

Tensor at_size(Tensor image, const ClassPreparation& p) {
  if (!p.resizes) return image;
  const int axes = p.size.axes();
  const Dims size{p.size[axes - 2], p.size[axes - 1]};
  return spatial(image) == size ? std::move(image) : resized_image(image, size);
}

void normalise(Tensor& sample, const ClassPreparation& p) {
  float* values = sample.as<float>();
  const auto channels = static_cast<std::size_t>(p.channels);
  for (std::size_t i = 0; i < static_cast<std::size_t>(sample.count()); ++i)
    values[i] = static_cast<float>((values[i] - p.mean[i % channels]) / p.deviation[i % channels]);
}

Tensor ItemReader::intensities(const ClassItem& item, const Tensor* idx, std::int64_t* repeated) const {
  if (p_.items == ItemKind::kClip) {
    VideoReader video(item.file, {.most_pixels = reading_.most_pixels, .scan = item.scan});
    return clip_intensities(video, item.index, p_, repeated);
  }
  if (p_.items == ItemKind::kImage) {
    if (idx != nullptr) return idx_image(*idx, item.index, p_.channels);
    Tensor rgb = read_rgb(item.file, {.dtype = DType::kF32, .most_pixels = reading_.most_pixels});
    return image_intensities(std::move(rgb), p_);
  }
  Volume volume = reorient(read_image(item.file, reading_.formats), "LPS");
  const Geometry& g = volume.geometry;
  if (p_.resizes) {
    std::array<double, 3> spacing_mm{};
    for (std::size_t a = 0; a < 3; ++a)
      spacing_mm[a] =
          g.spacing[a] * static_cast<double>(g.size[a]) / static_cast<double>(p_.size[2 - static_cast<int>(a)]);
    volume = resample_image(std::move(volume), spacing_mm);
  }
  const Shape shape = volume.geometry.shape();
  Tensor made(DType::kF32, {shape[0], shape[1], shape[2], 1});
  const double low = p_.window_hu[0], width = p_.window_hu[1] - low;
  for (std::int64_t i = 0; i < made.count(); ++i)
    made.as<float>()[i] = static_cast<float>(std::clamp((volume.voxels.as<float>()[i] - low) / width, 0.0, 1.0));
  return made;
}

Tensor ItemReader::read(const ClassItem& item, const Tensor* idx, const ColourChange* colour) const {
  static_cast<void>(canvas_of(item, p_));
  Tensor sample = intensities(item, idx);
  if (const std::int64_t times = factor_of(spatial(sample), p_); times > 1) sample = repeated(sample, times);
  if (p_.items == ItemKind::kImage) sample = at_size(std::move(sample), p_);
  if (p_.resizes) ensure(spatial(sample) == p_.size, "a sample is resized to the size of the model");
  if (colour != nullptr) recolour(sample, *colour);
  normalise(sample, p_);
  return sample;
}

std::vector<ChannelSums> channel_sums(const Tensor& intensities) {
  const std::int64_t channels = intensities.shape().back();
  std::vector<ChannelSums> sums(static_cast<std::size_t>(channels), {.count = intensities.count() / channels});
  for (std::int64_t i = 0; i < intensities.count(); ++i) {
    const double value = intensities.as<float>()[i];
    ChannelSums& s = sums[i % channels];
    s.sum += value, s.square += value * value;
  }
  return sums;
}

}  // namespace voxshard
