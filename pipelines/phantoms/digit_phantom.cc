#include "pipelines/phantoms/digit_phantom.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "pipelines/phantoms/phantom_shapes.h"

namespace voxshard {
namespace {

/// x to the right, y down; a digit fills 0 to 1 in y and about 0.2 to 0.8 in x.
struct Point {
  double x = 0, y = 0;
};
using Stroke = std::vector<Point>;

constexpr int kPieces = 14;  // line segments of an arc
constexpr double kWobble = 0.035;

/// Part of an ellipse; degrees count from the right, clockwise.
Stroke arc(Point centre, Point radius, double from, double to) {
  Stroke stroke;
  for (int i = 0; i <= kPieces; ++i) {
    const double angle = (from + (to - from) * i / kPieces) * std::numbers::pi / 180;
    stroke.push_back({centre.x + radius.x * std::cos(angle), centre.y + radius.y * std::sin(angle)});
  }
  return stroke;
}

/// A quadratic Bézier curve.
Stroke bow(Point a, Point b, Point c) {
  Stroke stroke;
  for (int i = 0; i <= kPieces; ++i) {
    const double t = static_cast<double>(i) / kPieces, s = 1 - t;
    stroke.push_back({s * s * a.x + 2 * s * t * b.x + t * t * c.x, s * s * a.y + 2 * s * t * b.y + t * t * c.y});
  }
  return stroke;
}

Stroke behind(Stroke first, const Stroke& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/// Returns the strokes of a digit with randomly shifted points, as different hands write it.
std::vector<Stroke> strokes_of(int digit, Draw& draw) {
  const auto at = [&](double x, double y) {
    return Point{x + draw.between(-kWobble, kWobble), y + draw.between(-kWobble, kWobble)};
  };
  const auto wide = [&](double x, double y) { return Point{draw.near(x, 0.15), draw.near(y, 0.1)}; };
  switch (digit) {
    case 0:
      return {arc(at(0.5, 0.5), wide(0.29, 0.45), draw.between(-110, -80), draw.between(262, 285))};
    case 1:
      if (draw.between(0, 1) < 0.5) return {{at(0.5, 0.05), at(0.5, 0.95)}};
      return {{at(0.34, 0.24), at(0.53, 0.05), at(0.52, 0.95)}};
    case 2:
      return {behind(arc(at(0.48, 0.3), wide(0.27, 0.24), -165, 35), {at(0.22, 0.93), at(0.8, 0.93)})};
    case 3:
      return {arc(at(0.47, 0.28), wide(0.25, 0.22), -155, 85), arc(at(0.47, 0.71), wide(0.28, 0.23), -85, 150)};
    case 4: {
      const Point top = at(0.6, 0.05);
      const Stroke bar = {top, at(0.2, 0.62), at(0.84, 0.62)};
      return {bar, {draw.between(0, 1) < 0.5 ? top : at(0.64, 0.38), at(0.62, 0.95)}};
    }
    case 5: {
      const Point corner = at(0.31, 0.07);
      return {{at(0.76, 0.07), corner},
              behind({corner, at(0.29, 0.44)}, arc(at(0.47, 0.68), wide(0.28, 0.25), -125, 150))};
    }
    case 6: {
      const Point belly = at(0.5, 0.7);
      const Point radius = wide(0.25, 0.24);
      return {bow(at(0.64, 0.05), at(0.27, 0.3), {belly.x - radius.x, belly.y}), arc(belly, radius, -180, 180)};
    }
    case 7: {
      const Point corner = at(0.79, 0.08), foot = at(0.42, 0.95);
      std::vector<Stroke> strokes = {{at(0.22, 0.08), corner, foot}};
      if (draw.between(0, 1) < 0.3) strokes.push_back({at(0.4, 0.5), at(0.76, 0.5)});
      return strokes;
    }
    case 8:
      return {arc(at(0.5, 0.28), wide(0.21, 0.21), -90, 270), arc(at(0.5, 0.72), wide(0.26, 0.23), -90, 270)};
    default: {
      const Point head = at(0.49, 0.3);
      const Point radius = wide(0.24, 0.23);
      return {arc(head, radius, 0, 360), bow({head.x + radius.x, head.y}, at(0.76, 0.6), at(0.6, 0.95))};
    }
  }
}

double distance_to(const Point& p, const Point& a, const Point& b) {
  const double dx = b.x - a.x, dy = b.y - a.y, square = dx * dx + dy * dy;
  const double t = square > 0 ? std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / square, 0.0, 1.0) : 0.0;
  return std::hypot(p.x - a.x - t * dx, p.y - a.y - t * dy);
}

/// The affine map from the unit square to the image: rotated, slanted, scaled and moved.
struct Placing {
  double xx, xy, yy, yx, x0, y0;
  Placing(Draw& draw, double side) {
    const double angle = draw.between(-0.26, 0.26), slant = draw.between(-0.25, 0.25);
    const double height = side * draw.between(0.6, 0.78), width = height * draw.between(0.8, 1.1);
    const double turn = std::sin(angle), stay = std::cos(angle);
    xx = stay * width, xy = (slant * stay - turn) * height;
    yx = turn * width, yy = (slant * turn + stay) * height;
    x0 = side * (0.5 + draw.between(-0.06, 0.06)), y0 = side * (0.5 + draw.between(-0.06, 0.06));
  }
  Point of(const Point& p) const {
    const double x = p.x - 0.5, y = p.y - 0.5;
    return {x0 + xx * x + xy * y, y0 + yx * x + yy * y};
  }
};

}  // namespace

DigitPhantom make_digit_phantom(const DigitPhantomOptions& o) {
  const std::string name = "digit_phantom/" + std::to_string(o.index);
  Draw draw({.seed = o.seed, .stream = rng_stream(name)});
  const RngKey noise{.seed = o.seed, .stream = rng_stream(name + "/noise")};
  const double side = o.side;
  DigitPhantom phantom{.pixels = Tensor(DType::kU8, {o.side, o.side}), .label = o.index % 10};
  std::vector<Stroke> strokes = strokes_of(phantom.label, draw);
  const Placing placing(draw, side);
  for (Stroke& stroke : strokes)
    for (Point& p : stroke) p = placing.of(p);
  const double half = side * draw.between(0.03, 0.065), soft = side / 28 * draw.between(0.6, 1.2);  // of a line, px
  const double ink = draw.between(190, 255), ground = draw.between(0, 25), grain = draw.between(4, 18);
  auto* out = phantom.pixels.as<std::uint8_t>();
  for (int y = 0; y < o.side; ++y)
    for (int x = 0; x < o.side; ++x) {
      const Point here{x + 0.5, y + 0.5};
      double nearest = 2 * side;
      for (const Stroke& stroke : strokes)
        for (std::size_t i = 1; i < stroke.size(); ++i)
          nearest = std::min(nearest, distance_to(here, stroke[i - 1], stroke[i]));
      const double part = std::clamp(0.5 + (half - nearest) / (2 * soft), 0.0, 1.0);
      const double value =
          ground + part * (ink - ground) + grain * rng_normal(noise, static_cast<std::uint64_t>(y * o.side + x));
      *out++ = static_cast<std::uint8_t>(std::lround(std::clamp(value, 0.0, 255.0)));
    }
  return phantom;
}

}  // namespace voxshard
