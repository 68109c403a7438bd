#include "pipelines/phantoms/detection_phantom.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "pipelines/phantoms/phantom_shapes.h"

namespace voxshard {
namespace {

constexpr double kLowest = 70, kHighest = 170;  // brightness of tissue, blobs and objects alike, of 255

/// A kind of object in its own frame: u, v run from -1 to 1 over its larger half side.
struct Kind {
  const char* name;
  double (*level)(double u, double v);    // negative inside; near the edge the distance to it
  double (*texture)(double u, double v);  // added to the brightness, in units of the texture's depth
};

double ellipse(double u, double v, double ratio) { return (std::hypot(u, v / ratio) - 1) * ratio; }

/// A bean: an ellipse with a bay, its rim brighter than its middle.
double kidney_level(double u, double v) { return std::max(ellipse(u, v, 0.68), 0.42 - std::hypot(u, v - 0.72)); }
double kidney_texture(double u, double v) { return kidney_level(u, v) > -0.2 ? 0.5 : -0.6; }

/// A wall around a lumen.
double vessel_level(double u, double v) { return ellipse(u, v, 0.85); }
double vessel_texture(double u, double v) { return std::hypot(u, v / 0.85) < 0.55 ? -1.6 : 0.6; }

/// Five lobes.
double gland_level(double u, double v) { return std::hypot(u, v) - 0.76 - 0.2 * std::cos(5 * std::atan2(v, u)); }
double gland_texture(double, double) { return 0; }

/// A rounded block with folds across.
double bowel_level(double u, double v) {
  return (std::pow(std::pow(std::abs(u), 4) + std::pow(std::abs(v) / 0.5, 4), 0.25) - 1) * 0.5;
}
double bowel_texture(double u, double) { return std::sin(14 * u); }

/// A smooth ellipse, which is no object to detect.
double blob_level(double u, double v) { return ellipse(u, v, 0.75); }
double blob_texture(double, double) { return 0; }

constexpr Kind kKinds[] = {{"kidney", kidney_level, kidney_texture},
                           {"vessel", vessel_level, vessel_texture},
                           {"gland", gland_level, gland_texture},
                           {"bowel", bowel_level, bowel_texture}};
constexpr Kind kBlob = {"blob", blob_level, blob_texture};

struct Placed {
  const Kind* kind;
  double y, x, radius;  // px
  double angle;
  double brightness, depth;
};

bool apart(const Placed& a, const Placed& b) { return std::hypot(a.y - b.y, a.x - b.x) > a.radius + b.radius + 2; }

/// Draws `count` things into free places; fewer when there is no room.
void place(Draw& draw, int count, bool objects, std::int64_t height, std::int64_t width, double magnify,
           std::vector<Placed>& placed) {
  constexpr int kTries = 40;
  for (int i = 0; i < count; ++i) {
    Placed p{};
    p.kind = objects ? &kKinds[static_cast<int>(draw.between(0, std::size(kKinds)))] : &kBlob;
    p.radius = magnify * draw.between(13, 30);
    p.angle = draw.between(0, 2 * std::numbers::pi);
    p.brightness = draw.between(kLowest, kHighest);
    p.depth = draw.between(24, 36);
    for (int t = 0; t < kTries; ++t) {
      p.y = draw.between(p.radius + 1, static_cast<double>(height) - p.radius - 1);
      p.x = draw.between(p.radius + 1, static_cast<double>(width) - p.radius - 1);
      if (!std::all_of(placed.begin(), placed.end(), [&](const auto& other) { return apart(p, other); })) continue;
      placed.push_back(p);
      break;
    }
  }
}

/// Brightness before noise, and a mask of the object painted last.
struct Canvas {
  std::int64_t height, width;
  std::vector<double> brightness;

  /// Returns the box of the pixels that are covered by half at least.
  TrueBox paint(const Placed& p) {
    const std::int64_t y0 = std::max<std::int64_t>(0, std::llround(p.y - p.radius - 2));
    const std::int64_t x0 = std::max<std::int64_t>(0, std::llround(p.x - p.radius - 2));
    const std::int64_t y1 = std::min<std::int64_t>(height, std::llround(p.y + p.radius + 2));
    const std::int64_t x1 = std::min<std::int64_t>(width, std::llround(p.x + p.radius + 2));
    std::int64_t top = y1, bottom = y0, left = x1, right = x0, covered = 0;
    for (std::int64_t y = y0; y < y1; ++y)
      for (std::int64_t x = x0; x < x1; ++x) {
        const double dy = (static_cast<double>(y) + 0.5 - p.y) / p.radius;
        const double dx = (static_cast<double>(x) + 0.5 - p.x) / p.radius;
        const double u = std::cos(p.angle) * dx + std::sin(p.angle) * dy;
        const double v = std::cos(p.angle) * dy - std::sin(p.angle) * dx;
        const double part = std::clamp(0.5 - p.kind->level(u, v) * p.radius, 0.0, 1.0);
        double& pixel = brightness[y * width + x];
        pixel += part * (p.brightness + p.depth * p.kind->texture(u, v) - pixel);
        if (part < 0.5) continue;
        top = std::min(top, y), bottom = std::max(bottom, y + 1);
        left = std::min(left, x), right = std::max(right, x + 1);
        ++covered;
      }
    TrueBox box{.box = {.x = static_cast<double>(left),
                        .y = static_cast<double>(top),
                        .width = static_cast<double>(right - left),
                        .height = static_cast<double>(bottom - top)}};
    box.area = static_cast<double>(covered);
    return box;
  }
};

Canvas tissue(Draw& draw, std::int64_t height, std::int64_t width, double magnify) {
  Canvas canvas{.height = height, .width = width, .brightness = std::vector<double>(height * width)};
  const double middle = draw.between(95, 145);
  const Waves mottled(draw, 8, 40 * magnify, 160 * magnify), grain(draw, 10, 5 * magnify, 16 * magnify);
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x) {
      const Vec3 at = {static_cast<double>(x), static_cast<double>(y), 0};
      canvas.brightness[y * width + x] = middle + 18 * mottled.at(at) + 7 * grain.at(at);
    }
  return canvas;
}

/// Converts brightness to a colour image: tissue is slightly red, noise is the same in all channels.
Tensor coloured(Draw& draw, const Canvas& canvas, RngKey noise) {
  const double tint[3] = {draw.between(1.02, 1.1), draw.between(0.92, 1.0), draw.between(0.86, 0.98)};
  Tensor pixels(DType::kU8, {canvas.height, canvas.width, 3});
  auto* out = pixels.as<std::uint8_t>();
  for (std::size_t i = 0; i < canvas.brightness.size(); ++i) {
    const double value = canvas.brightness[i] + 6 * rng_normal(noise, i);
    for (const double t : tint) *out++ = static_cast<std::uint8_t>(std::lround(std::clamp(value * t, 0.0, 255.0)));
  }
  return pixels;
}

}  // namespace

const std::vector<DetectionClass>& detection_phantom_classes() {
  static const auto classes = [] {
    std::vector<DetectionClass> list;
    for (const Kind& kind : kKinds) list.push_back({.name = kind.name, .id = std::ssize(list) + 1});
    return list;
  }();
  return classes;
}

DetectionPhantom make_detection_phantom(const DetectionPhantomOptions& o) {
  const std::string name = "detection_phantom/" + std::to_string(o.index);
  Draw draw({.seed = o.seed, .stream = rng_stream(name)});
  const double magnify = o.magnify;
  const auto side = [&] { return static_cast<std::int64_t>(magnify * draw.between(160, 257)); };
  const std::int64_t height = side(), width = side();
  Canvas canvas = tissue(draw, height, width, magnify);
  std::vector<Placed> placed;
  place(draw, static_cast<int>(draw.between(3, 7)), true, height, width, magnify, placed);
  place(draw, static_cast<int>(draw.between(1, 4)), false, height, width, magnify, placed);
  DetectionPhantom phantom;
  for (const auto& p : placed) {
    TrueBox box = canvas.paint(p);
    if (p.kind == &kBlob) continue;
    box.category = p.kind - kKinds;
    phantom.boxes.push_back(box);
  }
  phantom.pixels = coloured(draw, canvas, {.seed = o.seed, .stream = rng_stream(name + "/noise")});
  return phantom;
}

}  // namespace voxshard
