// Orientation and grids: exact permutes, corner-aligned resampling, and the way back for predictions.
#include "io/resampling/resample.h"

#include <cmath>
#include <random>

#include "tests/io/test_files.h"

namespace voxshard {
namespace {

std::vector<std::string> all_codes() {
  std::vector<std::string> codes;
  std::string axes = "LPS";
  std::sort(axes.begin(), axes.end());
  do {
    for (int flips = 0; flips < 8; ++flips) {
      std::string code;
      for (int a = 0; a < 3; ++a) {
        const char ch = axes[a];
        code += (flips >> a) & 1 ? (ch == 'L' ? 'R' : ch == 'P' ? 'A' : 'I') : ch;
      }
      codes.push_back(code);
    }
  } while (std::next_permutation(axes.begin(), axes.end()));
  return codes;
}

Volume sample(DType type, std::array<std::int64_t, 3> size = {5, 4, 3}) {
  const double a = 0.2;
  Geometry g{.size = size,
             .origin = {-10, 20, 300},
             .spacing = {0.8, 0.9, 2.5},
             .direction = {std::cos(a), -std::sin(a), 0, std::sin(a), std::cos(a), 0, 0, 0, 1}};
  Volume v{g, Tensor(type, g.shape())};
  for (std::int64_t i = 0; i < v.voxels.count(); ++i) store(v.voxels.view(), i, static_cast<double>(i * 37 % 101));
  return v;
}

double value_at(const Volume& v, std::array<std::int64_t, 3> i) {
  return load(v.voxels.view(), (i[2] * v.geometry.size[1] + i[1]) * v.geometry.size[0] + i[0]);
}

TEST(Reorient, EveryVoxelStaysWhereItWasInTheWorldInAll48Orientations) {
  const Volume v = sample(DType::kF32);
  ASSERT_EQ(all_codes().size(), 48u);
  for (const std::string& code : all_codes()) {
    const Volume r = reorient(v, code);
    EXPECT_EQ(orientation_code(r.geometry), code);
    for (std::int64_t z = 0; z < 3; ++z)
      for (std::int64_t y = 0; y < 4; ++y)
        for (std::int64_t x = 0; x < 5; ++x) {
          const auto index = r.geometry.index_of(v.geometry.world({double(x), double(y), double(z)}));
          std::array<std::int64_t, 3> whole{};
          for (int a = 0; a < 3; ++a) {
            whole[a] = std::llround(index[a]);
            ASSERT_NEAR(index[a], static_cast<double>(whole[a]), 1e-9) << code;
          }
          ASSERT_EQ(value_at(r, whole), value_at(v, {x, y, z})) << code;
        }
    const Volume back = reorient(r, orientation_code(v.geometry));
    EXPECT_TRUE(same_geometry(back.geometry, v.geometry, 1e-9)) << code;
    EXPECT_TRUE(compare(back.voxels.view(), v.voxels.view()).bit_equal) << code;
  }
}

TEST(Reorient, AllOrientationsSurviveTheFile) {
  ScratchFolder dir;
  const Volume v = sample(DType::kI32);
  for (const std::string& code : all_codes()) {
    const Volume r = reorient(v, code);
    write_volume(dir.path() / "a.nii", r, DiskType::kU8);
    const Volume back = read_label(dir.path() / "a.nii");
    EXPECT_TRUE(same_geometry(back.geometry, r.geometry, 1e-5)) << code;
    EXPECT_TRUE(compare(back.voxels.view(), r.voxels.view()).bit_equal) << code;
  }
}

TEST(Reorient, ACodeThatIsNoOrientationIsRefused) {
  for (const char* code : {"", "LP", "LLS", "XYZ", "LPSA", "lps"})
    expect_error(ErrorKind::kConfig, "no orientation", [&] { reorient(sample(DType::kI32), code); });
}

TEST(Respaced, SizeRoundsHalfToEvenAndTheCornersStay) {
  Geometry g{.size = {5, 3, 1}, .origin = {0, 0, 0}, .spacing = {1, 1, 1}};
  const Geometry r = respaced(g, {2, 2, 9});  // 2.5 -> 2, 1.5 -> 2, 0.11 -> 1
  EXPECT_EQ(r.size, (std::array<std::int64_t, 3>{2, 2, 1}));
  const auto low = r.world({-0.5, -0.5, -0.5}), high = r.world({1.5, 1.5, 0.5});
  for (int a = 0; a < 3; ++a) {
    EXPECT_NEAR(low[a], -0.5, 1e-12);
    EXPECT_NEAR(high[a], static_cast<double>(g.size[a]) - 0.5, 1e-12);
  }
  expect_error(ErrorKind::kConfig, "above 0", [&] { respaced(g, {0, 1, 1}); });
}

TEST(Resample, HalvingALineGivesTheMiddleOfPairs) {
  Volume v{{.size = {8, 1, 1}}, Tensor(DType::kF32, {1, 1, 8})};
  for (int i = 0; i < 8; ++i) v.voxels.as<float>()[i] = static_cast<float>(10 * i);
  const Volume half = resample_image(v, {2, 1, 1});
  ASSERT_EQ(half.voxels.shape(), (Shape{1, 1, 4}));
  for (int i = 0; i < 4; ++i) EXPECT_FLOAT_EQ(half.voxels.as<float>()[i], static_cast<float>(20 * i + 5));
  const Volume twice = resample_image(v, {0.5, 1, 1});  // edge voxels are held: 0, 2.5, 7.5, 12.5 ...
  EXPECT_FLOAT_EQ(twice.voxels.as<float>()[0], 0);
  EXPECT_FLOAT_EQ(twice.voxels.as<float>()[1], 2.5);
  EXPECT_FLOAT_EQ(twice.voxels.as<float>()[15], 70);
}

TEST(Resample, AConstantStaysConstantAndCubicStaysInRange) {
  Volume v = sample(DType::kF32, {12, 10, 8});
  const Volume cubic = resample_image(v, {0.5, 0.5, 1.7}, Interpolation::kCubic);
  for (std::int64_t i = 0; i < cubic.voxels.count(); ++i) {
    ASSERT_GE(cubic.voxels.as<float>()[i], 0);
    ASSERT_LE(cubic.voxels.as<float>()[i], 100);
  }
  std::fill_n(v.voxels.as<float>(), v.voxels.count(), -1000.0f);
  for (auto kind : {Interpolation::kNearest, Interpolation::kLinear, Interpolation::kCubic}) {
    const Volume same = resample_image(v, {1.3, 0.4, 0.9}, kind);
    for (std::int64_t i = 0; i < same.voxels.count(); ++i) ASSERT_NEAR(same.voxels.as<float>()[i], -1000, 1e-3);
  }
}

TEST(Resample, AnotherSpacingGivesWhatItkGivesOnTheSameGrid) {
  const Volume image = sample(DType::kF32, {13, 11, 7}), label = sample(DType::kI32, {13, 11, 7});
  for (const std::array<double, 3>& spacing : {std::array{0.5, 0.7, 1.1}, {1.7, 1.3, 4.1}, {0.8, 2.9, 0.9}}) {
    const Volume tables = resample_image(image, spacing), itk = resample_image_to(image, tables.geometry);
    for (std::int64_t i = 0; i < tables.voxels.count(); ++i)
      ASSERT_NEAR(tables.voxels.as<float>()[i], itk.voxels.as<float>()[i], 1e-4) << i;
    const Volume nearest = resample_label(label, spacing), of_itk = resample_label_to(label, nearest.geometry);
    EXPECT_TRUE(compare(nearest.voxels.view(), of_itk.voxels.view()).bit_equal);
  }
}

TEST(Resample, SlicesThatAreReleasedWhileTheyAreReadLoseNoSample) {
  const Volume image = sample(DType::kF32, {160, 110, 90}), label = sample(DType::kI32, {160, 110, 90});  // 6 MiB each
  for (const std::array<double, 3>& spacing : {std::array{0.7, 0.8, 1.9}, {1.1, 1.2, 3.1}, {0.8, 0.9, 20.0}}) {
    const Volume tables = resample_image(image, spacing), itk = resample_image_to(image, tables.geometry);
    for (std::int64_t i = 0; i < tables.voxels.count(); ++i)
      ASSERT_NEAR(tables.voxels.as<float>()[i], itk.voxels.as<float>()[i], 1e-4) << i;
    const Volume nearest = resample_label(label, spacing);
    const auto& size = nearest.geometry.size;
    const auto place = [&](std::size_t a, std::int64_t j) {  // ITK parts at ties: by the rule of respace.h
      const double n = static_cast<double>(label.geometry.size[a]), m = static_cast<double>(size[a]);
      return static_cast<std::int64_t>(
          std::floor(std::clamp((static_cast<double>(j) + 0.5) * n / m - 0.5, 0.0, n - 1) + 0.5));
    };
    for (std::int64_t z = 0; z < size[2]; ++z)
      for (std::int64_t y = 0; y < size[1]; ++y)
        for (std::int64_t x = 0; x < size[0]; ++x)
          ASSERT_EQ(value_at(nearest, {x, y, z}), value_at(label, {place(0, x), place(1, y), place(2, z)}));
  }
}

TEST(Resample, AnIntegerUpsampledLabelComesBackExactly) {
  const Volume v = sample(DType::kI32, {6, 5, 4});
  const Volume fine = resample_label(v, {0.8 / 3, 0.9 / 3, 2.5 / 3});
  EXPECT_EQ(fine.geometry.size, (std::array<std::int64_t, 3>{18, 15, 12}));
  const Volume back = resample_label_to(fine, v.geometry);
  EXPECT_TRUE(compare(back.voxels.view(), v.voxels.view()).bit_equal);
  EXPECT_TRUE(same_geometry(back.geometry, v.geometry, 0));
}

TEST(Resample, OutsideTheSourceLabelsAreBackgroundAndImagesAir) {
  const Volume label = sample(DType::kI32), image = sample(DType::kF32);
  Geometry far = label.geometry;
  far.origin[2] += 1000;
  for (std::int64_t i = 0; i < label.voxels.count(); ++i) {
    ASSERT_EQ(resample_label_to(label, far).voxels.as<std::int32_t>()[i], 0);
    ASSERT_EQ(resample_image_to(image, far, Interpolation::kCubic).voxels.as<float>()[i], -1000);
  }
}

/// Grids of small sizes, half of whose numbers make ties; axes permuted and flipped, or turned.
struct RandomGrids {
  std::mt19937_64 random;

  explicit RandomGrids(std::uint64_t seed) : random(seed) {}
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n)); }
  double spacing() {
    constexpr double kUsual[] = {0.25, 0.5, 1, 1.5, 2, 3, 0.7, 0.9765625};
    return below(2) == 0 ? kUsual[below(8)] : 0.3 + static_cast<double>(below(1000)) / 333;
  }
  Geometry grid(bool turned) {
    Geometry g;
    std::array<int, 3> worlds = {0, 1, 2};
    std::shuffle(worlds.begin(), worlds.end(), random);
    g.direction = {};
    for (std::size_t a = 0; a < 3; ++a) {
      g.size[a] = below(4) == 0 ? 1 : 1 + below(14);
      g.spacing[a] = spacing();
      const double cosine = below(2) == 0 ? 1 : -1;
      g.direction[3 * static_cast<std::size_t>(worlds[a]) + a] = cosine;
      // The middle lies near 0, so that most grids overlap; quarters of a voxel make ties.
      const double start = static_cast<double>(below(2) == 0 ? below(9) - 4 : below(1000)) / 4;
      g.origin[worlds[a]] =
          -cosine * g.spacing[a] * static_cast<double>(g.size[a] - 1) / 2 + (std::abs(start) > 1 ? start / 50 : start);
    }
    if (!turned) return g;
    const std::array<double, 9> d = g.direction;
    const double c = std::cos(0.3), s = std::sin(0.3);
    for (std::size_t a = 0; a < 3; ++a)
      g.direction[a] = c * d[a] - s * d[3 + a], g.direction[3 + a] = s * d[a] + c * d[3 + a];
    return g;
  }
};

/// True when each axis runs along the one of the world that has its number.
bool is_diagonal(const Geometry& g) {
  return g.direction[0] * g.direction[4] * g.direction[8] != 0 && std::abs(g.direction[0]) == 1;
}

TEST(Resample, LabelsAlongTheAxesOfTheWorldAreThoseOfItkInEveryVoxelTiesToo) {
  RandomGrids grids(20261126);
  std::int64_t inside = 0, outside = 0, tables_used = 0;
  for (int i = 0; i < 2000; ++i) {
    const bool turned = i % 8 == 0;
    Volume label{grids.grid(turned), {}};
    label.voxels = Tensor(DType::kI32, label.geometry.shape());
    for (std::int64_t k = 0; k < label.voxels.count(); ++k) store(label.voxels.view(), k, static_cast<double>(1 + k));
    Volume slow{label.geometry, Tensor(DType::kF32, label.geometry.shape())};  // ITK's filter, of exact numbers
    for (std::int64_t k = 0; k < slow.voxels.count(); ++k) slow.voxels.as<float>()[k] = static_cast<float>(1 + k);
    const Geometry to = grids.grid(turned && i % 16 == 0);
    const bool agree = axes_agree(label.geometry, to);  // by ITK's inverse, which rounds where axes are permuted
    EXPECT_FALSE(agree && turned) << "pair " << i;
    EXPECT_TRUE(agree || turned || !is_diagonal(label.geometry)) << "pair " << i;
    tables_used += agree;
    const Volume tables = resample_label_to(label, to), itk = resample_image_to(slow, to, Interpolation::kNearest, 0);
    ASSERT_EQ(tables.voxels.shape(), to.shape());
    for (std::int64_t k = 0; k < tables.voxels.count(); ++k) {
      const auto found = static_cast<std::int64_t>(itk.voxels.as<float>()[k]);
      ASSERT_EQ(tables.voxels.as<std::int32_t>()[k], found) << "pair " << i << ", voxel " << k;
      ++(found > 0 ? inside : outside);
    }
  }
  EXPECT_GT(tables_used, 1000);
  EXPECT_GT(inside, 20000);
  EXPECT_GT(outside, 20000);
}

TEST(Resample, ATieInTheMiddleFallsAsWithItkAlongEachAxis) {
  // The middle of 119 samples over 40 voxels lies between voxels 19 and 20, at 19.5.
  for (int a = 0; a < 3; ++a)
    for (const double flip : {1.0, -1.0}) {
      Geometry fine;
      fine.size = {1, 1, 1};
      fine.size[a] = 119;
      fine.direction[4 * a] = flip;
      const Geometry coarse = respaced(fine, {2.975, 2.975, 2.975});
      ASSERT_EQ(coarse.size[a], 40);
      Volume label{coarse, Tensor(DType::kI32, coarse.shape())};
      for (std::int32_t k = 0; k < 40; ++k) label.voxels.as<std::int32_t>()[k] = k;
      Volume slow{coarse, Tensor(DType::kF32, coarse.shape())};
      for (int k = 0; k < 40; ++k) slow.voxels.as<float>()[k] = static_cast<float>(k);
      ASSERT_TRUE(axes_agree(coarse, fine));
      const Volume back = resample_label_to(label, fine),
                   itk = resample_image_to(slow, fine, Interpolation::kNearest, 0);
      for (int j = 0; j < 119; ++j)
        EXPECT_EQ(back.voxels.as<std::int32_t>()[j], static_cast<std::int32_t>(itk.voxels.as<float>()[j])) << a << j;
      EXPECT_EQ(back.voxels.as<std::int32_t>()[58], 19);
      EXPECT_EQ(back.voxels.as<std::int32_t>()[60], 20);
    }
}

TEST(Resample, ARealLabelSurvivesTheWayThereAndBack) {
  const fs::path file = test_data() / "ct/spleen2/sub-spleen2_ct_seg-manual.nii.gz";
  REQUIRE_TEST_DATA(file);
  const Volume label = read_label(file);
  const Volume work = resample_label(reorient(label, "LPS"), {1.5, 1.5, 5});
  const Volume back = resample_label_to(work, label.geometry);
  std::int64_t both = 0, sum = 0;
  for (std::int64_t i = 0; i < label.voxels.count(); ++i) {
    const bool a = label.voxels.as<std::int32_t>()[i] == 1, b = back.voxels.as<std::int32_t>()[i] == 1;
    both += a && b, sum += a + b;
  }
  EXPECT_GT(2.0 * static_cast<double>(both) / static_cast<double>(sum), 0.96);
}

}  // namespace
}  // namespace voxshard
