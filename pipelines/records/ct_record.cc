#include "pipelines/records/ct_record.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "libcore/base/text.h"
#include "pipelines/records/record_input.h"

namespace voxshard {
namespace {

constexpr const char* kShape = "voxshard/shape";          // D, H, W
constexpr const char* kOrigin = "voxshard/origin_mm";     // x, y, z
constexpr const char* kSpacing = "voxshard/spacing_mm";   // x, y, z
constexpr const char* kDirection = "voxshard/direction";  // 9, row-major

constexpr std::int64_t kMostClasses = 256;  // one invalid label must not set the number of classes of all cases

/// The floats in the bytes of a feature.
struct RawFloats {
  RawFloats(const TfExample& example, const char* name) : bytes(bytes_feature(example, name)) {
    if (bytes.size() % 4 != 0)
      throw record_error("E_SHAPE", std::string("has ") + std::to_string(bytes.size()) + " bytes in " + name +
                                        "; expected raw float32 numbers of 4 bytes");
  }
  std::int64_t count() const { return static_cast<std::int64_t>(bytes.size() / 4); }
  float operator[](std::int64_t i) const {
    float value;
    std::memcpy(&value, bytes.data() + 4 * i, 4);
    return value;
  }
  const std::string& bytes;
};

double product_of(const Shape& shape) {
  double product = shape.axes() == 3 ? 1 : 0;
  for (const std::int64_t extent : shape) product *= static_cast<double>(extent);
  return product;
}

/// Returns the caller's shape when it fits; else the record's; else that of a cube. Errors: kInput E_SHAPE, E_SIZE.
Shape shape_of(const TfExample& example, std::int64_t voxels, const CtReading& reading) {
  const auto fits = [&](const Shape& shape) { return voxels > 0 && product_of(shape) == static_cast<double>(voxels); };
  Shape shape = reading.shape;
  if (!fits(shape) && example.has(kShape)) {
    shape = {};
    for (const std::int64_t extent : int64_list(example, kShape))
      if (extent > 0 && extent <= reading.limits.most_voxels && shape.axes() < 3) shape.push_back(extent);
  } else if (!fits(shape)) {
    const auto edge = static_cast<std::int64_t>(std::llround(std::cbrt(static_cast<double>(voxels))));
    shape = {edge, edge, edge};
  }
  if (!fits(shape))
    throw record_error("E_SHAPE", "has " + std::to_string(voxels) + " voxels in " + kCtImage + ", which are " +
                                      (example.has(kShape) ? "not as many as " + std::string(kShape) + " says"
                                                           : std::string("no cube")) +
                                      (reading.shape.axes() == 3 ? " and not " + to_string(reading.shape) : "") +
                                      "; give their size as D x H x W");
  if (voxels > reading.limits.most_voxels)
    throw record_error("E_SIZE", "has " + std::to_string(voxels) + " voxels, more than " +
                                     std::to_string(reading.limits.most_voxels) + " that are read here");
  return shape;
}

/// Returns the shortest decimal number that rounds to this float: 2.85, not 2.8499999046.
double decimal(float value) {
  char text[32];
  double number = value;
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  std::from_chars(text, end, number);
  return number;
}

template <std::size_t count>
std::array<double, count> numbers(const TfExample& example, const char* name) {
  const FloatList& list = float_list(example, name);
  std::array<double, count> values{};
  if (list.size() != count || !std::all_of(list.begin(), list.end(), [](float v) { return std::abs(v) < 1e6F; }))
    throw record_error("E_GEOMETRY", std::string("has a malformed ") + name + "; expected " + std::to_string(count) +
                                         " finite numbers");
  std::transform(list.begin(), list.end(), values.begin(), decimal);
  return values;
}

/// Returns the record's geometry; without these features 1 mm spacing and LPS axes.
Geometry geometry_of(const TfExample& example, const Shape& shape) {
  Geometry g{.size = {shape[2], shape[1], shape[0]}};
  if (example.has(kOrigin)) g.origin = numbers<3>(example, kOrigin);
  if (example.has(kSpacing)) g.spacing = numbers<3>(example, kSpacing);
  if (example.has(kDirection)) g.direction = numbers<9>(example, kDirection);
  bool good = std::all_of(g.spacing.begin(), g.spacing.end(), [](double mm) { return mm > 1e-6; });
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = 0; b < 3; ++b) {
      double dot = 0;
      for (std::size_t row = 0; row < 3; ++row) dot += g.direction[3 * row + a] * g.direction[3 * row + b];
      good = good && std::abs(dot - (a == b ? 1 : 0)) < 1e-4;
    }
  if (!good)
    throw record_error("E_GEOMETRY",
                       std::string("has a spacing that is not positive, or a ") + kDirection + " that is no rotation");
  return g;
}

void read_index(const RawFloats& raw, Tensor& label, int& classes) {
  float largest = 0;
  for (std::int64_t i = 0; i < raw.count(); ++i) {
    const float value = raw[i];
    if (!(value >= 0) || value > static_cast<float>(kMostClasses - 1) || value != std::floor(value))
      throw record_error("E_LABELS", "has " + number_text(static_cast<double>(value)) + " as the label of voxel " +
                                         std::to_string(i) + "; expected whole numbers from 0 to " +
                                         std::to_string(kMostClasses - 1) + ", one a voxel, or one-hot");
    label.as<std::int32_t>()[i] = static_cast<std::int32_t>(value);
    largest = std::max(largest, value);
  }
  classes = static_cast<int>(largest) + 1;
}

void read_one_hot(const RawFloats& raw, Tensor& label, int classes) {
  for (std::int64_t i = 0; i < label.count(); ++i) {
    std::int32_t found = -1;
    bool good = true;
    for (int c = 0; c < classes; ++c) {
      const float value = raw[i * classes + c];
      if (value == 1 && found < 0)
        found = c;
      else
        good = good && value == 0;
    }
    if (!good || found < 0)
      throw record_error("E_LABELS", "has no one-hot label at voxel " + std::to_string(i) + "; expected one 1 and " +
                                         std::to_string(classes - 1) + " zeros");
    label.as<std::int32_t>()[i] = found;
  }
}

}  // namespace

CtSample ct_sample(const TfExample& example, const CtReading& reading) {
  const RawFloats raw(example, kCtImage);
  const Shape shape = shape_of(example, raw.count(), reading);
  CtSample sample;
  sample.image = {geometry_of(example, shape), Tensor(DType::kF32, shape)};
  std::memcpy(sample.image.voxels.data(), raw.bytes.data(), raw.bytes.size());
  for (std::int64_t i = 0; i < raw.count(); ++i)
    if (!std::isfinite(raw[i]))
      throw record_error("E_NAN", "has a voxel that is NaN or infinite, the first at " +
                                      voxel_name(sample.image.geometry, i) +
                                      "; replace such voxels, for example by -1000 HU (air)");
  if (!example.has(kCtLabel)) return sample;
  const RawFloats label(example, kCtLabel);
  const std::int64_t per_voxel = label.count() / raw.count();
  if (per_voxel < 1 || per_voxel > kMostClasses || label.count() % raw.count() != 0)
    throw record_error("E_SHAPE", std::string("has ") + std::to_string(label.count()) + " numbers in " + kCtLabel +
                                      " for " + std::to_string(raw.count()) +
                                      " voxels; expected one a voxel, or one a voxel and class of at most " +
                                      std::to_string(kMostClasses));
  sample.label = {sample.image.geometry, Tensor(DType::kI32, shape)};
  sample.classes = static_cast<int>(per_voxel);
  if (per_voxel == 1)
    read_index(label, sample.label->voxels, sample.classes);
  else
    read_one_hot(label, sample.label->voxels, sample.classes);
  return sample;
}

TfExample ct_example(const Volume& image, const Volume& label, const CtLabels& labels) {
  if (!same_geometry(image.geometry, label.geometry, 1e-3))
    throw record_error("E_GEOMETRY", "the label lies otherwise than its image; check that they belong together");
  if (labels.classes > kMostClasses)
    throw record_error("E_LABELS", std::to_string(labels.classes) + " classes; a record holds at most " +
                                       std::to_string(kMostClasses));
  const std::int64_t voxels = image.voxels.count(), per_voxel = labels.one_hot ? labels.classes : 1;
  std::string bytes(static_cast<std::size_t>(4 * voxels * per_voxel), '\0');
  for (std::int64_t i = 0; i < voxels; ++i) {
    const std::int32_t value = label.voxels.as<std::int32_t>()[i];
    if (value < 0 || value >= labels.classes)
      throw record_error("E_LABELS", "the label of voxel " + voxel_name(label.geometry, i) + " is " +
                                         std::to_string(value) + "; expected 0 to " +
                                         std::to_string(labels.classes - 1) +
                                         ": a record has no word for voxels that do not count");
    const float number = labels.one_hot ? 1.0F : static_cast<float>(value);
    std::memcpy(bytes.data() + 4 * (labels.one_hot ? i * per_voxel + value : i), &number, 4);
  }
  const Geometry& g = image.geometry;
  const auto floats = [](const auto& values) {
    FloatList list;
    for (const double value : values) list.push_back(static_cast<float>(value));
    return list;
  };
  TfExample example;
  example.features[kCtImage] =
      BytesList{std::string(reinterpret_cast<const char*>(image.voxels.data()), static_cast<std::size_t>(4 * voxels))};
  example.features[kCtLabel] = BytesList{std::move(bytes)};
  example.features[kShape] = Int64List{g.size[2], g.size[1], g.size[0]};
  example.features[kOrigin] = floats(g.origin);
  example.features[kSpacing] = floats(g.spacing);
  example.features[kDirection] = floats(g.direction);
  return example;
}

}  // namespace voxshard
