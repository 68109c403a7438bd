#include "pipelines/phantoms/motion_phantom.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "pipelines/phantoms/phantom_shapes.h"

namespace voxshard {
namespace {

constexpr int kWaves = 12;

/// The motion of the texture: origin() returns the position in frame 0 of the texture at a pixel of a later frame.
class Motion {
 public:
  Motion(std::int32_t label, double side, Draw& draw)
      : centre_{side * draw.between(0.33, 0.67), side * draw.between(0.33, 0.67)} {
    const double speed = side * draw.between(0.025, 0.05), turn = draw.between(0.07, 0.12);
    if (label < 2) turn_ = label == 0 ? turn : -turn;
    if (label == 2 || label == 3) x_ = label == 3 ? speed : -speed;
    if (label == 4 || label == 5) y_ = label == 5 ? speed : -speed;
  }

  Vec3 origin(double x, double y, double frame) const {
    const double c = std::cos(turn_ * frame), s = std::sin(turn_ * frame);
    const double dx = x - centre_[0], dy = y - centre_[1];
    return {centre_[0] + c * dx + s * dy - x_ * frame, centre_[1] - s * dx + c * dy - y_ * frame, 0};
  }

 private:
  std::array<double, 2> centre_;
  double x_ = 0, y_ = 0, turn_ = 0;  // pixels and radians (clockwise) a frame
};

}  // namespace

MotionPhantom make_motion_phantom(const MotionPhantomOptions& o) {
  const std::string name = "motion_phantom/" + std::to_string(o.index);
  Draw draw({.seed = o.seed, .stream = rng_stream(name)});
  const RngKey noise{.seed = o.seed, .stream = rng_stream(name + "/noise")};
  const double side = o.side;
  MotionPhantom phantom{.frames = Tensor(DType::kU8, {o.frames, o.side, o.side}),
                        .label = o.index % static_cast<int>(kMotionNames.size())};
  const Motion motion(phantom.label, side, draw);
  const double ground = draw.between(110, 145), contrast = draw.between(40, 60), grain = draw.between(2, 5);
  const Waves texture(draw, kWaves, 0.2 * side, 0.6 * side);
  auto* out = phantom.frames.as<std::uint8_t>();
  std::uint64_t pixel = 0;
  for (int t = 0; t < o.frames; ++t)
    for (int y = 0; y < o.side; ++y)
      for (int x = 0; x < o.side; ++x) {
        const double value =
            ground + contrast * texture.at(motion.origin(x, y, t)) + grain * rng_normal(noise, pixel++);
        *out++ = static_cast<std::uint8_t>(std::lround(std::clamp(value, 0.0, 255.0)));
      }
  return phantom;
}

}  // namespace voxshard
