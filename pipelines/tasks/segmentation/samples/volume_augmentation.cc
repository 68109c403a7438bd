#include "pipelines/tasks/segmentation/samples/volume_augmentation.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "libcore/base/rng.h"
#include "pipelines/tasks/augmentation/sample_draws.h"
#include "pipelines/tasks/segmentation/dataset/prepare_dataset.h"

namespace voxshard {
namespace {

/// The random numbers of one sample, at fixed indices so that a new one does not shift the others.
enum ChangeDraw : std::uint64_t {
  kRotates,
  kAngleD,
  kAngleH,
  kAngleW,
  kZooms,
  kZoom,
  kBlurs,
  kBlur,
  kLowers,
  kResolution,
  kGammas,
  kGamma,
  kInverts,
  kInvertedGamma,
  kContrasts,
  kContrast,
  kBrightens,
  kBrightness,
  kNoisy,
  kNoise,
  kAllDraws = 32
};

/// Probabilities and ranges of nnU-Net's trainer.
constexpr double kMoveProbability = 0.2;  // of a rotation, and of a scale
constexpr double kBlurProbability = 0.1;  // 0.2 for the sample, 0.5 for each of its channels
constexpr double kLowersProbability = 0.125;
constexpr double kGammaProbability = 0.3, kInvertedProbability = 0.1;
constexpr double kFactorProbability = 0.15, kNoiseProbability = 0.1;
constexpr double kLeastBlur = 0.5, kMostBlur = 1, kLeastResolution = 0.5;
constexpr double kMostNoise = 0.1;  // nnU-Net names it a variance and takes it as a standard deviation
constexpr double kLeastFactor = 0.75, kMostFactor = 1.25, kLeastGamma = 0.7, kMostGamma = 1.5;

constexpr double kThickSlices = 3;     // ratio of spacings
constexpr double kBlurDeviations = 3;  // the Gaussian ends there
constexpr std::int64_t kMostBlurRadius = 3;

SampleDraws draws_of(const std::string& stream, std::uint64_t seed, std::uint64_t number) {
  return {{seed, rng_stream(stream)}, number * kAllDraws};
}

Vector3 spacing_of(const Geometry& geometry) { return {geometry.spacing[2], geometry.spacing[1], geometry.spacing[0]}; }

/// Returns the axis between slices that lie more than 3 times as far apart as the pixels in them; -1: there is none.
int thick_axis(const Geometry& geometry) {
  const Vector3 spacing = spacing_of(geometry);
  for (int a = 0; a < 3; ++a) {
    const auto i = static_cast<std::size_t>(a);
    if (spacing[i] > kThickSlices * std::max(spacing[(i + 1) % 3], spacing[(i + 2) % 3])) return a;
  }
  return -1;
}

Vector3 within_slices(double value, double otherwise, int thick) {
  Vector3 all{value, value, value};
  if (thick >= 0) all[thick] = otherwise;
  return all;
}

Matrix3 product(const Matrix3& a, const Matrix3& b) {
  Matrix3 c{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t k = 0; k < 3; ++k) c[i][j] += a[i][k] * b[k][j];
  return c;
}

/// Returns the rotation about an axis.
Matrix3 rotation(std::size_t axis, double degrees) {
  const double angle = degrees * std::numbers::pi / 180;
  const std::size_t b = (axis + 1) % 3, c = (axis + 2) % 3;
  Matrix3 matrix{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  matrix[b][b] = matrix[c][c] = std::cos(angle);
  matrix[b][c] = -std::sin(angle), matrix[c][b] = std::sin(angle);
  return matrix;
}

std::vector<float> gaussian(double deviation, std::int64_t radius) {
  std::vector<double> weights;
  double sum = 0;
  for (std::int64_t i = -radius; i <= radius; ++i) {
    const double distance = static_cast<double>(i) / deviation;
    weights.push_back(std::exp(-0.5 * distance * distance));
    sum += weights.back();
  }
  std::vector<float> normed;
  for (double weight : weights) normed.push_back(static_cast<float>(weight / sum));
  return normed;
}

std::int64_t blur_radius(double deviation) {
  return std::min(kMostBlurRadius, static_cast<std::int64_t>(std::ceil(kBlurDeviations * deviation)));
}

/// Returns the box with `radius` voxels more on both sides of every axis.
Box grown(Box box, std::int64_t radius) {
  for (int a = 0; a < 3; ++a) box.set(a, box.begin[a] - radius, box.end(a) + radius);
  return box;
}

/// Returns a tensor convolved along an axis, shorter by what the weights need at both ends.
Tensor convolved(const Tensor& values, int axis, const std::vector<float>& weights) {
  Shape shape = values.shape();
  const std::int64_t length = shape[axis];
  shape[axis] -= std::ssize(weights) - 1;
  std::int64_t outer = 1, inner = 1;
  for (int a = 0; a < axis; ++a) outer *= shape[a];
  for (int a = axis + 1; a < 3; ++a) inner *= shape[a];
  Tensor result(DType::kF32, shape);
  float* to = result.as<float>();
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t i = 0; i < shape[axis]; ++i, to += inner) {
      const float* from = values.as<float>() + (o * length + i) * inner;
      for (std::int64_t x = 0; x < inner; ++x) {
        float sum = 0;
        for (std::int64_t k = 0; k < std::ssize(weights); ++k) sum += weights[k] * from[k * inner + x];
        to[x] = sum;
      }
    }
  return result;
}

/// Returns the values at `resolution` points per voxel, interpolated linearly at the voxels of `box`.
Tensor at_resolution(const MappedVolume& volume, const SpatialMap& map, const Vector3& resolution, const Box& box,
                     float outside) {
  // point k of the coarse lattice lies at voxel (k + 0.5) / resolution - 0.5
  SpatialMap to_lattice;
  Vector3 step, first;
  for (std::size_t a = 0; a < 3; ++a) {
    to_lattice.matrix[a][a] = resolution[a], to_lattice.shift[a] = 0.5 * resolution[a] - 0.5;
    step[a] = 1 / resolution[a], first[a] = 0.5 / resolution[a] - 0.5;
  }
  const Box lattice = to_lattice.sources(box);
  return interpolate(warp_image(volume, map.on_lattice(step, first), lattice, outside), lattice, to_lattice, box);
}

/// Returns x^gamma on the range, moved and scaled to value 0 and slope 1 at x = 0; `low` and `high` may be exchanged.
double curved(double value, double gamma, double low, double high) {
  if (gamma == 1 || !std::isfinite(high - low)) return value;
  const double pivot = (0 - low) / (high - low);
  if (!(pivot > 0 && pivot < 1)) return value;
  const double place = (value - low) / (high - low);
  const double within = std::clamp(place, 0.0, 1.0);
  const double slope = gamma * std::pow(pivot, gamma - 1);
  return (high - low) * ((std::pow(within, gamma) - std::pow(pivot, gamma)) / slope + place - within);
}

}  // namespace

std::vector<std::string> augmentation_names() { return {"none", "space", "intensity", "all"}; }

std::string augmentation_name(const VolumeAugmentation& options) {
  return augmentation_names()[(options.space ? 1 : 0) + (options.intensity ? 2 : 0)];
}

void set_augmentation(const std::string& name, VolumeAugmentation& options) {
  options.space = name == "space" || name == "all";
  options.intensity = name == "intensity" || name == "all";
}

std::array<bool, 3> flips_from_text(const std::string& text) {
  std::array<bool, 3> flips{};
  for (char axis : text) {
    const auto at = std::string("DHW").find(axis);
    if (at == std::string::npos || std::count(text.begin(), text.end(), axis) > 1)
      throw Error(ErrorKind::kUsage, "[usage] {flip} is \"" + text + "\"; expected letters of DHW, each at most once");
    flips[at] = true;
  }
  return flips;
}

std::array<double, 2> zoom_from_text(const std::string& text) {
  const std::vector<double> numbers = parse_numbers(text, 2, "{zoom}");
  if (!(numbers[0] >= 0.25 && numbers[0] <= 1 && numbers[1] >= 1 && numbers[1] <= 4))
    throw Error(ErrorKind::kUsage,
                "[usage] {zoom} is \"" + text + "\"; expected a factor of 0.25 to 1 and one of 1 to 4, like 0.7,1.4");
  return {numbers[0], numbers[1]};
}

PlaceChange draw_place(const VolumeAugmentation& options, std::uint64_t seed, std::uint64_t number,
                       const Geometry& geometry) {
  if (!options.space) return {};
  const SampleDraws draws = draws_of("augment/place", seed, number);
  const int thick = thick_axis(geometry);
  PlaceChange change;
  if (draws.happens(kRotates, kMoveProbability))
    for (std::size_t a = 0; a < 3; ++a)
      if (thick < 0 || static_cast<std::size_t>(thick) == a)
        change.degrees[a] = options.rotation_degrees * (2 * draws.uniform(kAngleD + a) - 1);
  if (draws.happens(kZooms, kMoveProbability))
    change.zoom = within_slices(draws.factor(kZoom, options.zoom[0], options.zoom[1]), 1, thick);
  return change;
}

ValueChange draw_values(const VolumeAugmentation& options, std::uint64_t seed, std::uint64_t number,
                        std::size_t channel, const Geometry& geometry) {
  if (!options.intensity) return {};
  const SampleDraws draws = draws_of("augment/values/" + std::to_string(channel), seed, number);
  ValueChange change;
  if (draws.happens(kLowers, kLowersProbability))
    change.resolution = within_slices(draws.between(kResolution, kLeastResolution, 1), 1, thick_axis(geometry));
  if (draws.happens(kBlurs, kBlurProbability)) change.blur_voxels = draws.between(kBlur, kLeastBlur, kMostBlur);
  if (draws.happens(kGammas, kGammaProbability)) change.gamma = draws.factor(kGamma, kLeastGamma, kMostGamma);
  if (draws.happens(kInverts, kInvertedProbability))
    change.inverted_gamma = draws.factor(kInvertedGamma, kLeastGamma, kMostGamma);
  if (draws.happens(kContrasts, kFactorProbability))
    change.contrast = draws.factor(kContrast, kLeastFactor, kMostFactor);
  if (draws.happens(kBrightens, kFactorProbability))
    change.brightness = draws.between(kBrightness, kLeastFactor, kMostFactor);
  if (draws.happens(kNoisy, kNoiseProbability)) change.noise = draws.between(kNoise, 0, kMostNoise);
  return change;
}

SpatialMap place_map(const PlaceChange& change, const SamplePlace& place, const Geometry& geometry) {
  const Vector3 spacing = spacing_of(geometry);
  Matrix3 turned{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  for (std::size_t a = 0; a < 3; ++a)
    if (change.degrees[a] != 0) turned = product(turned, rotation(a, change.degrees[a]));
  Vector3 centre{}, in_volume{};
  for (std::size_t b = 0; b < 3; ++b) {
    centre[b] = static_cast<double>(place.size[static_cast<int>(b)] - 1) / 2;
    in_volume[b] = static_cast<double>(place.begin[b]) + centre[b];
    const double step_mm = (place.mirrored[b] ? -spacing[b] : spacing[b]) / change.zoom[b];
    for (std::size_t a = 0; a < 3; ++a) turned[a][b] *= step_mm / spacing[a];
  }
  return SpatialMap::around(centre, in_volume, turned);
}

Tensor mixed_values(const MappedVolume& volume, const SpatialMap& map, const ValueChange& change, const Box& box,
                    float outside) {
  const std::int64_t radius = change.blur_voxels > 0 ? blur_radius(change.blur_voxels) : 0;
  const Box read = grown(box, radius);
  Tensor values = change.resolution == Vector3{1, 1, 1} ? warp_image(volume, map, read, outside)
                                                        : at_resolution(volume, map, change.resolution, read, outside);
  if (radius > 0)
    for (int axis = 0; axis < 3; ++axis) values = convolved(values, axis, gaussian(change.blur_voxels, radius));
  return values;
}

double changed_value(double value, const ValueChange& change, const ValueRange& range) {
  value = curved(value, change.gamma, range.low, range.high);
  value = curved(value, change.inverted_gamma, range.high, range.low);
  if (change.contrast == 1) return value;
  const double low = std::min(value, range.low), high = std::max(value, range.high);
  return std::clamp(value * change.contrast, low, high);
}

std::int64_t augmentation_bytes(const VolumeAugmentation& options, const Geometry& geometry) {
  if (!options.space && !options.intensity) return 0;
  // A turned tile fits into a ball as wide as its diagonal; two voxels more for each interpolation.
  const Vector3 spacing = spacing_of(geometry);
  const int thick = thick_axis(geometry);
  Vector3 extent{};
  double diagonal_mm2 = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    extent[a] = static_cast<double>(kAugmentationTile[a] + 2 * kMostBlurRadius) + 2 / kLeastResolution;
    if (static_cast<int>(a) != thick) diagonal_mm2 += extent[a] * spacing[a] * extent[a] * spacing[a];
  }
  double voxels = 1;
  for (std::size_t a = 0; a < 3; ++a) {
    const bool turns = options.space && static_cast<int>(a) != thick;
    voxels *= (turns ? std::sqrt(diagonal_mm2) / (spacing[a] * std::min(1.0, options.zoom[0])) : extent[a]) + 2;
  }
  return static_cast<std::int64_t>(4 * (voxels + 3 * extent[0] * extent[1] * extent[2]));
}

}  // namespace voxshard
