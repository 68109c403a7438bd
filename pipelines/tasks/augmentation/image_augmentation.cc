#include "pipelines/tasks/augmentation/image_augmentation.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "libcore/base/text.h"
#include "pipelines/tasks/augmentation/sample_draws.h"

namespace voxshard {
namespace {

enum ImageDraw : std::uint64_t {
  kMirrors,
  kFactor,
  kShift,
  kContrast,
  kSaturation,
  kMirrorsVertically,
  kHue,
  kAngle,
  kImageDraws = 8
};

}  // namespace

std::string stream_of_part(const std::string& name, int part) {
  return part == 0 ? name : name + "/" + std::to_string(part);
}

ImageChange draw_image_change(const ImageAugmentation& o, const AugmentationKey& key) {
  ensure(o.scale[0] > 0 && o.scale[0] <= o.scale[1], "scales are positive, the lower one first");
  const std::uint64_t stream = rng_mix(rng_stream(stream_of_part("augment_image", key.part)) ^ rng_mix(key.image));
  const SampleDraws draws{{key.seed, stream}, kImageDraws * key.epoch};
  return {.mirrored = draws.happens(kMirrors, o.mirror),
          .mirrored_vertically = draws.happens(kMirrorsVertically, o.mirror_vertical),
          .factor = o.scale[0] * std::pow(o.scale[1] / o.scale[0], draws.uniform(kFactor)),
          .degrees = o.rotation_degrees > 0 ? draws.around(kAngle, 0, o.rotation_degrees) : 0,
          .colour = {.shift = draws.around(kShift, 0, o.brightness),
                     .contrast = draws.around(kContrast, 1, o.contrast),
                     .saturation = draws.around(kSaturation, 1, o.saturation),
                     .hue_degrees = o.hue_degrees > 0 ? draws.around(kHue, 0, o.hue_degrees) : 0}};
}

SpatialMap map_of_part(const ImagePart& part, const ImageChange& change) {
  const double angle = change.degrees * std::numbers::pi / 180;
  const double cosine = std::cos(angle) / change.factor, sine = std::sin(angle) / change.factor;
  const double down = change.mirrored_vertically ? -1 : 1, right = change.mirrored ? -1 : 1;
  // from the sample: mirrored, then rotated and scaled
  const Matrix3 matrix{{{cosine * down, -sine * right, 0}, {sine * down, cosine * right, 0}, {0, 0, 1}}};
  Vector3 centre{}, in_image{};
  for (std::size_t a = 0; a < 2; ++a) {
    centre[a] = static_cast<double>(part.extent[static_cast<int>(a)] - 1) / 2;
    in_image[a] = static_cast<double>(part.begin[a]) + centre[a];
  }
  return SpatialMap::around(centre, in_image, matrix);
}

std::vector<Setting> augmentation_settings(ImageAugmentation& o) {
  const std::string group = "Samples of pictures";
  return {{.name = "mirror",
           .help = "Probability of mirroring left to right",
           .group = group,
           .value = &o.mirror,
           .range = {{0, 1}},
           .usual = "0, of a detector 0.5"},
          {"mirror-vertical", "Probability of mirroring top to bottom", group, &o.mirror_vertical, {{0, 1}}},
          {"scale",
           "LOW,HIGH: random factor of both sides; of a detector the picture becomes larger or smaller, and what grows "
           "too large is cut at random; of a classifier what is in it does, 0.25 to 4",
           group,
           &o.scale,
           {{0x1p-10, 16}}},
          {"rotation",
           "Largest angle in the picture, degrees either way; 0 unless given",
           group,
           &o.rotation_degrees,
           {{0, 180}}},
          {"brightness", "Largest shift; 1 is from black to white", group, &o.brightness, {{0, 1}}},
          {"contrast", "Largest relative change", group, &o.contrast, {{0, 1}}},
          {"saturation", "Largest relative change", group, &o.saturation, {{0, 1}}},
          {"hue", "Largest angle of the change, degrees either way", group, &o.hue_degrees, {{0, 180}}}};
}

void require_scales(const ImageAugmentation& o, double lowest, double highest) {
  if (o.scale[0] > 0 && o.scale[0] >= lowest && o.scale[0] <= o.scale[1] && o.scale[1] <= highest) return;
  throw Error(ErrorKind::kUsage, "[usage] {scale} should be two factors LOW,HIGH with " + number_text(lowest) +
                                     (lowest > 0 ? " <= " : " < ") + "LOW <= HIGH <= " + number_text(highest) +
                                     ", like 0.8,1.25");
}

void require_no_changes(const ImageAugmentation& o, const std::filesystem::path& data, const char* kind) {
  if (!o.moves() && !o.recolours()) return;
  throw Error(ErrorKind::kUsage, "[train] {mirror}, {scale} and the like change pictures, but what is learnt from " +
                                     data.string() + " is " + kind + "; leave them out");
}

std::vector<std::string> mirroring_settings(const ImageAugmentation& o) {
  std::vector<std::string> settings;
  if (o.mirror > 0) settings.push_back("{mirror}");
  if (o.mirror_vertical > 0) settings.push_back("{mirror-vertical}");
  return settings;
}

void describe_augmentation(const ImageAugmentation& o, bool known, nlohmann::ordered_json& sampling) {
  const auto add = [&](const char* name, double value) {
    if (value > 0) sampling[name] = value;
  };
  if (!known) {
    add("mirror", o.mirror);
    if (o.scales()) sampling["scale"] = o.scale;
    add("brightness", o.brightness), add("contrast", o.contrast), add("saturation", o.saturation);
  }
  add("mirror_vertical", o.mirror_vertical), add("rotation", o.rotation_degrees), add("hue", o.hue_degrees);
}

}  // namespace voxshard
