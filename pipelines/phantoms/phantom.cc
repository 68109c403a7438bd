#include "pipelines/phantoms/phantom.h"

#include <optional>
#include <string>

#include "io/resampling/resample.h"
#include "pipelines/phantoms/phantom_shapes.h"

namespace voxshard {
namespace {

// Sizes of a small patient, so that 3 mm voxels give a volume that two processor cores train on in minutes.
constexpr Vec3 kBodySemiMm = {100, 71, kEndless};
constexpr Vec3 kFieldLowMm = {-113, -86, -82}, kFieldHighMm = {113, 98, 82};
constexpr std::int64_t kLeastVoxels = 48, kMostVoxels = 80;
constexpr double kAir = -1000;
constexpr double kWallMm = 1.5;  // between the ribs and the organs

// Several of the 48 ways in which scanners store a volume.
constexpr const char* kOrientations[] = {"LPS", "RAS", "LAS", "RPI", "PIR", "ASL", "SPL", "LPI"};

/// An organ with the same HU as a class: `hu` varies by `spread` from patient to patient.
struct OrganRule {
  Solid solid;
  double hu, spread;
};
constexpr OrganRule kHeart = {{{14, -18, 42}, {33, 28, 34}, 2}, 44, 6};
constexpr OrganRule kOrgans[] = {
    {{{56, 16, -28}, {20, 28, 33}, 2.2}, 64, 8},   // spleen: the liver's HU
    {{{40, 27, -66}, {16, 15, 30}, 2}, 30, 10},    // left kidney: the lesion's HU
    {{{-42, 29, -74}, {16, 15, 28}, 2}, 30, 10},   // right kidney
    {{{32, -22, -34}, {26, 20, 24}, 2}, 25, 12},   // stomach: the lesion's HU, with gas
    {{{14, 17, 0}, {9, 9, kEndless}, 2}, 46, 6},   // aorta
    {{{-13, 15, 0}, {9, 8, kEndless}, 2}, 42, 6},  // vena cava
};
constexpr int kStomach = 3;
constexpr OrganRule kRightLobe = {{{-36, 3, -34}, {43, 42, 46}, 2.4}, 64, 6};
constexpr Solid kLeftLobe = {{2, -24, -24}, {36, 21, 23}, 2};
constexpr Solid kLungs[] = {{{-46, -2, 44}, {33, 43, 66}, 2.3}, {{48, -2, 44}, {31, 43, 66}, 2.3}};

/// The content of a voxel while organs are painted over each other; the edge of each is `blur_mm` wide, as in a
/// scanner.
struct Paint {
  double hu = kAir;
  int label = kPhantomBackground;
  double blur_mm = 3;

  void over(double distance_mm, double with_hu, int with_label = kPhantomBackground) {
    const double cover = std::clamp(0.5 - distance_mm / blur_mm, 0.0, 1.0);
    hu += cover * (with_hu - hu);
    if (distance_mm < 0) label = with_label;
  }
  /// False where over() would change nothing: far from the solid, where most voxels are.
  bool reaches(double distance_mm) const { return distance_mm < blur_mm; }
  /// The same as over(), with HU that are worth asking for only where they are painted.
  template <typename Hu>
  void over_by(double distance_mm, const Hu& with_hu, int with_label = kPhantomBackground) {
    if (reaches(distance_mm)) over(distance_mm, with_hu(), with_label);
  }
};

Solid vary(const Solid& solid, Draw& draw, double shift_mm = 5, double part = 0.1) {
  Solid result = solid;
  const Vec3 shift = draw.within(shift_mm);
  for (int a = 0; a < 3; ++a) {
    result.centre[a] += shift[a];
    result.semi_mm[a] = draw.near(solid.semi_mm[a], part);
  }
  return result;
}

OrganRule vary(const OrganRule& organ, Draw& draw) {
  const Solid solid = vary(organ.solid, draw);
  return {solid, organ.hu + draw.between(-organ.spread, organ.spread), 0};
}

/// One patient: the random numbers are drawn once; after that HU and label are functions of the position.
class Patient {
 public:
  Patient(Draw draw, const Vec3& spacing_mm) : draw_(draw) {
    scale_ = draw_.between(0.93, 1.04);
    fat_mm_ = draw_.between(6, 12);
    rib_period_mm_ = draw_.between(20, 24), rib_phase_mm_ = draw_.between(0, 24), rib_tilt_ = draw_.between(0.2, 0.5);
    vertebra_mm_ = draw_.between(23, 28), vertebra_phase_mm_ = draw_.between(0, 28);
    spine_bend_mm_ = draw_.between(-5, 5), spine_phase_ = draw_.between(0, 6);
    vertebra_semi_mm_ = {draw_.near(17, 0.1), draw_.near(14, 0.1)};
    table_mm_ = draw_.between(74, 79);
    for (const auto& organ : kOrgans) organs_.push_back(vary(organ, draw_));
    heart_ = vary(kHeart, draw_), right_lobe_ = vary(kRightLobe, draw_), left_lobe_ = vary(kLeftLobe, draw_);
    for (const auto& lung : kLungs) lungs_.push_back(vary(lung, draw_, 4));
    for (int i = 0; i < 9; ++i)
      bowel_.push_back({{{draw_.between(-48, 55), draw_.between(-40, 2), draw_.between(-92, -64)},
                         {draw_.between(9, 15), draw_.between(9, 14), draw_.between(9, 15)},
                         2},
                        draw_.between(10, 50),
                        0});
    draw_lesions(spacing_mm);
  }

  Paint at(Vec3 p, double blur_mm) const {
    for (auto& x : p) x /= scale_;
    Paint paint{.blur_mm = blur_mm};
    const double texture = texture_.at(p);
    const double waist = 1 + 0.04 * std::cos(p[2] / 60);
    const Solid skin = {{0, 0, p[2]}, {kBodySemiMm[0] * waist, kBodySemiMm[1] * waist, kBodySemiMm[2]}, 2.3};
    const double body = distance_mm(skin, p);
    paint_surroundings(paint, p, body, texture);
    paint.over(body, -100 + 8 * texture);
    paint.over(body + fat_mm_, 54 + 7 * texture);
    const double cavity = body + fat_mm_ + 9;
    paint.over(cavity, -45 + 45 * texture);
    if (paint.reaches(cavity + kWallMm)) {
      const Vec3 moved = {p[0] + 3.5 * bend_[0].at(p), p[1] + 3 * bend_[1].at(p), p[2] + 3.5 * bend_[2].at(p)};
      paint_organs(paint, moved, cavity, texture);
    }
    paint_bones(paint, p, cavity);
    return paint;
  }

 private:
  void draw_lesions(const Vec3& spacing_mm) {
    const bool two = spacing_mm[2] < 3.2 && draw_.between(0, 1) < 0.7;
    for (int i = 0; i < (two ? 2 : 1); ++i) {
      Solid lesion{.centre = right_lobe_.solid.centre, .power = 2};
      const double side = two ? (i == 0 ? 21 : -21) : draw_.between(-12, 12);
      lesion.centre[0] += draw_.between(-9, 9), lesion.centre[1] += draw_.between(-9, 9), lesion.centre[2] += side;
      // 5.6 voxels to each side, also along the coarsest axis, in the frame before scaling
      for (int a = 0; a < 3; ++a) lesion.semi_mm[a] = std::max(draw_.between(16, 19), 5.6 * spacing_mm[a] / scale_);
      lesions_.push_back({lesion, right_lobe_.hu - draw_.between(36, 48), 0});
    }
  }

  void paint_surroundings(Paint& paint, const Vec3& p, double body, double texture) const {
    const double foam = -860 + 15 * texture;  // the lungs' HU
    const double table = p[1] - table_mm_ + 0.0011 * p[0] * p[0];
    paint.over(std::max(std::abs(table - 7) - 8, std::abs(p[0]) - 90), -560);
    paint.over(std::max(std::abs(table - 7) - 6, std::abs(p[0]) - 88), foam);
    paint.over(std::max(std::abs(body - 5) - 4.5, p[1] + 15), foam);  // a blanket
  }

  void paint_organs(Paint& paint, const Vec3& p, double cavity, double texture) const {
    const auto inside = [&](double distance) { return std::max(distance, cavity + kWallMm); };
    const double liver = inside(std::min(distance_mm(right_lobe_.solid, p), distance_mm(left_lobe_, p)));
    const double heart = inside(distance_mm(heart_.solid, p));
    double lungs = std::min(distance_mm(lungs_[0], p), distance_mm(lungs_[1], p));
    lungs = std::max({inside(lungs), 3 - liver, 3 - heart, -38 - p[2]});
    for (const auto& loop : bowel_) paint.over(inside(distance_mm(loop.solid, p)), loop.hu + 8 * texture);
    for (std::size_t i = 0; i < bowel_.size(); i += 2)  // gas rises to the front
      paint.over(std::max(inside(distance_mm(bowel_[i].solid, p)) + 2, p[1] - bowel_[i].solid.centre[1] + 1), -850);
    for (const auto& organ : organs_) paint.over(inside(distance_mm(organ.solid, p)), organ.hu + 7 * texture);
    const Solid& stomach = organs_[kStomach].solid;
    paint.over(std::max(inside(distance_mm(stomach, p)) + 3, p[1] - stomach.centre[1] + 5), -850);
    paint.over(heart, heart_.hu + 7 * texture);
    const auto lung = [&] {
      const double vessel = std::max(0.0, std::abs(vessels_.at(p)) - 1.6) * 900;
      return std::min(-830 + 35 * texture + vessel, 0.0);
    };
    paint.over_by(lungs, lung, kPhantomLungs);
    paint.over(liver, right_lobe_.hu + 7 * texture, kPhantomLiver);
    for (const auto& lesion : lesions_)
      paint.over(std::max(distance_mm(lesion.solid, p), liver + 2), lesion.hu + 6 * texture, kPhantomLesion);
  }

  void paint_bones(Paint& paint, const Vec3& p, double cavity) const {
    const auto beat = [](double at, double period) { return std::abs(at - period * std::round(at / period)); };
    std::optional<double> bone;  // is asked for by few voxels
    const auto trabeculae = [&] { return bone ? *bone : *(bone = trabeculae_.at(p)); };
    const auto marrow = [&] { return 330 + 80 * trabeculae(); };
    const double rib =
        std::max(std::abs(cavity - 2) - 4, beat(p[2] + rib_tilt_ * p[1] - rib_phase_mm_, rib_period_mm_) - 4);
    paint.over_by(std::max(rib, -30 - p[2]), [&] { return marrow() + 60; });
    // What is far is beyond any blur: voxels are 3.4 mm wide at most, semi-axes 6 mm at least.
    constexpr Solid kSternum = {{0, -54, 45}, {13, 6, 55}, 2.5};
    if (!is_far(kSternum, p)) paint.over_by(distance_mm(kSternum, p), marrow);

    Vec3 s = p;  // in the frame of the bent spine
    s[0] -= spine_bend_mm_ * std::sin(p[2] / 60 + spine_phase_);
    s[1] -= 0.6 * spine_bend_mm_ * std::cos(p[2] / 70 + spine_phase_);
    s[2] = 0;
    constexpr Solid kCanal = {{0, 52, 0}, {7.5, 6.5, kEndless}, 2}, kArch = {{0, 53, 0}, {15, 12, kEndless}, 2.2};
    const Solid vertebra = {{0, 33, 0}, {vertebra_semi_mm_[0], vertebra_semi_mm_[1], kEndless}, 2.4};
    if (is_far(vertebra, s) && is_far(kArch, s)) return;  // the canal lies in the arch
    const double body = distance_mm(vertebra, s), canal = distance_mm(kCanal, s), arch = distance_mm(kArch, s);
    const double spine = std::min(body, arch);
    const double disc = beat(p[2] - vertebra_phase_mm_, vertebra_mm_);  // from the middle of a disc
    paint.over(spine, 650, kPhantomSpine);                              // the cortex
    paint.over_by(spine + 2.5, marrow, kPhantomSpine);
    paint.over_by(
        std::max(body, disc - 3), [&] { return 85 + 10 * trabeculae(); }, kPhantomSpine);
    paint.over(canal, 25);
  }

  Draw draw_;
  double scale_, fat_mm_, rib_period_mm_, rib_phase_mm_, rib_tilt_, vertebra_mm_, vertebra_phase_mm_, spine_bend_mm_;
  double spine_phase_, table_mm_;
  std::array<double, 2> vertebra_semi_mm_{};
  std::vector<OrganRule> organs_, bowel_, lesions_;
  OrganRule heart_{}, right_lobe_{};
  Solid left_lobe_;
  std::vector<Solid> lungs_;
  std::array<Waves, 3> bend_{Waves(draw_, 4, 90, 200), Waves(draw_, 4, 90, 200), Waves(draw_, 4, 90, 200)};
  Waves texture_{draw_, 6, 25, 80}, vessels_{draw_, 8, 14, 26}, trabeculae_{draw_, 10, 6, 16};
};

Geometry draw_grid(Draw& draw, int subdivide, Vec3* spacing_before) {
  const double in_plane = draw.between(2.7, 3.4), through = draw.between(2.8, 3.9);
  *spacing_before = {in_plane, in_plane, through};
  Geometry grid;
  for (int a = 0; a < 3; ++a) {
    const double field = kFieldHighMm[a] - kFieldLowMm[a];
    const auto voxels = static_cast<std::int64_t>(field / (*spacing_before)[a] + draw.between(-1.5, 1.5));
    grid.size[a] = std::clamp(voxels, kLeastVoxels, kMostVoxels) * subdivide;
    grid.spacing[a] = std::round((*spacing_before)[a] * 1e3) / 1e3 / subdivide;
    const double middle = (kFieldHighMm[a] + kFieldLowMm[a]) / 2 + draw.between(-3, 3);
    grid.origin[a] = middle - grid.spacing[a] * static_cast<double>(grid.size[a] - 1) / 2;
  }
  return grid;
}

}  // namespace

const std::vector<std::string>& phantom_label_names() {
  static const std::vector<std::string> names = {"background", "lungs", "liver", "lesion", "spine"};
  return names;
}

Phantom make_phantom(const PhantomOptions& options) {
  const std::string name = "phantom/" + std::to_string(options.index);
  Draw draw({.seed = options.seed, .stream = rng_stream(name)});
  Vec3 spacing_mm;
  const Geometry grid = draw_grid(draw, options.subdivide, &spacing_mm);
  const Patient patient(draw, spacing_mm);
  const double noise_hu = draw.between(13, 20);
  const RngKey noise = {.seed = options.seed, .stream = rng_stream(name + "/noise")};

  Phantom phantom{{grid, Tensor(DType::kF32, grid.shape())}, {grid, Tensor(DType::kI32, grid.shape())}};
  auto* image = phantom.image.voxels.as<float>();
  auto* label = phantom.label.voxels.as<std::int32_t>();
  std::uint64_t i = 0;
  for (std::int64_t z = 0; z < grid.size[2]; ++z)
    for (std::int64_t y = 0; y < grid.size[1]; ++y)
      for (std::int64_t x = 0; x < grid.size[0]; ++x, ++i) {
        const Vec3 p = grid.world({static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)});
        const Paint paint = patient.at(p, spacing_mm[0] / options.subdivide);
        const double hu = paint.hu + noise_hu * rng_normal(noise, i);
        image[i] = static_cast<float>(std::round(std::clamp(hu, -1024.0, 3071.0)));
        label[i] = paint.label;
      }
  const char* code = kOrientations[options.index % std::size(kOrientations)];
  return {reorient(phantom.image, code), reorient(phantom.label, code)};
}

std::string demo_id(int index) {
  const std::string digits = std::to_string(index);
  return "phantom_" + std::string(digits.size() < 3 ? 3 - digits.size() : 0, '0') + digits;
}

}  // namespace voxshard
