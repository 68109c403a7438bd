// Random changes of samples: angles and lengths in millimetres, values that keep their mean, the same samples however
// they are cut, and the memory that is promised.
#include "pipelines/tasks/segmentation/samples/volume_augmentation.h"

#include <cmath>

#include "pipelines/tasks/segmentation/samples/sample_source.h"
#include "tests/pipelines/tasks/segmentation/filled_samples.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

const VolumeAugmentation kAll{.space = true, .intensity = true};
constexpr Geometry kUneven{.size = {40, 50, 20}, .spacing = {0.8, 1, 2.4}};
constexpr Geometry kThick{.size = {256, 256, 20}, .spacing = {0.8, 0.8, 5}};

/// Returns the distance in mm between the places of two voxels of a sample.
double distance_mm(const SpatialMap& map, const Geometry& geometry, const std::array<std::int64_t, 3>& a,
                   const std::array<std::int64_t, 3>& b) {
  const Vector3 x = map.at(a), y = map.at(b);
  double sum = 0;
  for (std::size_t i = 0; i < 3; ++i) sum += std::pow((x[i] - y[i]) * geometry.spacing[2 - i], 2);
  return std::sqrt(sum);
}

TEST(VolumeAugmentation, ARotationKeepsTheCentreAndLengthsInMillimetres) {
  const SamplePlace place{.begin = {3, -5, 8}, .size = {9, 11, 13}};
  const SpatialMap map = place_map({.degrees = {20, -30, 10}}, place, kUneven);
  EXPECT_NEAR(map.at({4, 5, 6})[0], 7, 1e-12);
  EXPECT_NEAR(map.at({4, 5, 6})[1], 0, 1e-12);
  EXPECT_NEAR(map.at({4, 5, 6})[2], 14, 1e-12);
  EXPECT_NEAR(distance_mm(map, kUneven, {4, 5, 6}, {8, 5, 6}), 4 * 2.4, 1e-12);
  EXPECT_NEAR(distance_mm(map, kUneven, {4, 5, 6}, {4, 5, 1}), 5 * 0.8, 1e-12);
  EXPECT_NEAR(distance_mm(map, kUneven, {0, 0, 0}, {4, 5, 6}), std::sqrt(9.6 * 9.6 + 25 + 4.8 * 4.8), 1e-12);
  EXPECT_GT(std::abs(map.at({8, 5, 6})[2] - 14), 0.5) << "it does turn";
}

TEST(VolumeAugmentation, AZoomOfTwoShowsHalfOfTheLength) {
  const SpatialMap map = place_map({.zoom = {2, 2, 2}}, {.size = {9, 9, 9}}, kUneven);
  EXPECT_NEAR(distance_mm(map, kUneven, {0, 4, 4}, {8, 4, 4}), 4 * 2.4, 1e-12);
}

TEST(VolumeAugmentation, AMirroredAxisRunsFromTheFarEnd) {
  const SpatialMap map =
      place_map({}, {.begin = {1, 2, 3}, .size = {4, 5, 6}, .mirrored = {true, false, true}}, kUneven);
  EXPECT_EQ(map.at({0, 0, 0}), (Vector3{4, 2, 8}));
  EXPECT_EQ(map.at({3, 4, 5}), (Vector3{1, 6, 3}));
}

TEST(VolumeAugmentation, ThickSlicesAreChangedWithinThemselvesAlone) {
  int moved = 0;
  for (std::uint64_t number = 0; number < 200; ++number) {
    const PlaceChange change = draw_place(kAll, 1, number, kThick);
    moved += change.moves();
    const SpatialMap map = place_map(change, {.size = {8, 32, 32}}, kThick);
    for (std::int64_t corner : {0, 31}) EXPECT_NEAR(map.at({5, corner, 31 - corner})[0], 5, 1e-12);
    EXPECT_EQ(draw_values(kAll, 1, number, 0, kThick).resolution[0], 1);
  }
  EXPECT_GT(moved, 40);
}

TEST(VolumeAugmentation, ChangesAreAsFrequentAsTheyShouldBeAndInRange) {
  constexpr int kSamples = 4000;
  int turned = 0, zoomed = 0, blurred = 0, lowered = 0, gamma = 0, inverted = 0, noisy = 0, smaller = 0;
  for (std::uint64_t number = 0; number < kSamples; ++number) {
    const PlaceChange place = draw_place(kAll, 9, number, kUneven);
    const ValueChange values = draw_values(kAll, 9, number, 1, kUneven);
    turned += place.degrees != Vector3{};
    zoomed += place.zoom[0] != 1, smaller += place.zoom[0] < 1;
    blurred += values.blur_voxels > 0, lowered += values.resolution[0] < 1;
    gamma += values.gamma != 1, inverted += values.inverted_gamma != 1, noisy += values.noise > 0;
    for (double angle : place.degrees) EXPECT_LE(std::abs(angle), 30);
    EXPECT_TRUE(place.zoom[0] >= 0.7 && place.zoom[0] <= 1.4) << place.zoom[0];
    EXPECT_TRUE(values.gamma >= 0.7 && values.gamma <= 1.5);
    EXPECT_LE(values.noise, 0.1) << "a standard deviation, as GaussianNoiseTransform of batchgeneratorsv2 takes it";
  }
  const auto expect_share = [](int count, double probability, const char* what) {  // five standard deviations
    EXPECT_NEAR(count, kSamples * probability, 5 * std::sqrt(kSamples * probability * (1 - probability))) << what;
  };
  expect_share(turned, 0.2, "rotation"), expect_share(zoomed, 0.2, "scale"), expect_share(smaller, 0.1, "smaller");
  expect_share(blurred, 0.1, "blur"), expect_share(lowered, 0.125, "resolution"), expect_share(gamma, 0.3, "gamma");
  expect_share(inverted, 0.1, "inverted gamma"), expect_share(noisy, 0.1, "noise");
}

TEST(VolumeAugmentation, GammaKeepsTheMeanTheSlopeThereAndTheOrder) {
  const ValueRange range{-2.5, 4};
  for (const ValueChange& change : {ValueChange{.gamma = 0.7}, ValueChange{.gamma = 1.5},
                                    ValueChange{.inverted_gamma = 0.7}, ValueChange{.inverted_gamma = 1.5}}) {
    EXPECT_NEAR(changed_value(0, change, range), 0, 1e-15);
    EXPECT_NEAR((changed_value(1e-5, change, range) - changed_value(-1e-5, change, range)) / 2e-5, 1, 1e-8);
    for (double x = -4; x < 6; x += 0.01)
      EXPECT_LT(changed_value(x, change, range), changed_value(x + 0.01, change, range)) << x;
    const double beyond = changed_value(5, change, range) - changed_value(4, change, range);
    EXPECT_NEAR(beyond, 1, 1e-12) << "outside, values keep their distance";
    EXPECT_GT(std::abs(changed_value(2, change, range) - 2), 0.05) << "it does change values";
    EXPECT_EQ(changed_value(2, change, {-INFINITY, INFINITY}), 2) << "there is no gamma without a range";
  }
}

TEST(VolumeAugmentation, ContrastStaysWithinTheRange) {
  const ValueRange range{-1, 2};
  EXPECT_EQ(changed_value(1, {.contrast = 1.25}, range), 1.25);
  EXPECT_EQ(changed_value(1.8, {.contrast = 1.25}, range), 2);
  EXPECT_EQ(changed_value(-0.9, {.contrast = 1.25}, range), -1);
  EXPECT_EQ(changed_value(3, {.contrast = 1.25}, range), 3) << "a value outside is not brought in";
  EXPECT_EQ(changed_value(1, {.contrast = 0.75}, range), 0.75);
}

/// Three prepared volumes of 8 x 10 x 12 voxels, which samples of 18 x 20 x 40 surround, so that they have several
/// tiles.
struct AugmentedScene : Scene {
  explicit AugmentedScene(const std::string& name) : Scene(name) {
    write_dataset(3);
    prepare_dataset({.dataset = data(), .work = work(), .spacing = "keep"}, progress);
    dataset = read_prepared(work());
  }
  SampleSource source(const VolumeAugmentation& augmentation) const {
    return {dataset,
            {0, 1, 2},
            {.seed = 5,
             .crop = {18, 20, 40},
             .intensity_scale = 0,
             .noise = 0,
             .flip = {true, true, true},
             .augmentation = augmentation}};
  }
  PreparedDataset dataset;
};

TEST(VolumeAugmentation, TheBoxesOfTheCoresMakeTheWhole) {
  const AugmentedScene scene("augmented_boxes");
  const SampleSource source = scene.source(kAll), plain = scene.source({});
  int changed = 0, moved = 0;
  for (int step = 0; step < 24; ++step) {
    const auto batch = source.batch(step, 1);
    for (const InputInfo& input : {InputInfo(input::Image{}), InputInfo(input::Labels{})}) {
      const Tensor whole = filled(source, batch, input);
      const bool same = compare(whole.view(), filled(plain, plain.batch(step, 1), input).view()).bit_equal;
      (std::holds_alternative<input::Image>(input) ? changed : moved) += !same;
      for (int axis = 1; axis < 4; ++axis) {
        Tensor parts(whole.dtype(), whole.shape());
        const std::int64_t cut = whole.shape()[axis] / 3;  // on no border of a tile
        for (const auto& [begin, end] : {std::pair{std::int64_t{0}, cut}, std::pair{cut, whole.shape()[axis]}}) {
          Box box = Box::whole(whole.shape());
          box.set(axis, begin, end);
          source.fill(batch, input, parts.view().sub(box));
        }
        ASSERT_TRUE(compare(whole.view(), parts.view()).bit_equal) << step << " axis " << axis;
      }
    }
  }
  EXPECT_GT(changed, 12);
  EXPECT_TRUE(moved > 3 && moved < 20) << moved;
}

TEST(VolumeAugmentation, ImageAndLabelsMoveTogether) {
  AugmentedScene scene("augmented_together");
  for (std::size_t i = 0; i < scene.dataset.cases.size(); ++i) {  // images that are 1 where the label is
    PreparedCase& item = scene.dataset.cases[i];
    Volume image = read_label(item.label);
    const auto* label = image.voxels.as<std::int32_t>();
    Tensor ones(DType::kF32, image.voxels.shape());
    for (std::int64_t v = 0; v < ones.count(); ++v) ones.as<float>()[v] = label[v] == 1 ? 1.0F : 0.0F;
    image.voxels = std::move(ones);
    item.images[0] = scene.path("ones_" + std::to_string(i) + ".nii");
    write_volume(item.images[0], image, DiskType::kF32);
  }
  const SampleSource source = scene.source({.space = true});
  int inside = 0, bright = 0, others = 0;
  for (int step = 0; step < 24; ++step) {
    const auto batch = source.batch(step, 1);
    const Tensor image = filled(source, batch, input::Image{}), labels = filled(source, batch, input::Labels{});
    for (std::int64_t v = 0; v < labels.count(); ++v) {
      const std::int32_t label = labels.as<std::int32_t>()[v];
      if (label == 1) {  // it has the largest of at most three weights; beside the border air takes its part
        ++inside, bright += image.as<float>()[v] > 1.0F / 3;
      } else if (label >= 0) {
        ++others;
        ASSERT_LE(image.as<float>()[v], 0.5F + 8 * 0x1.0p-24F) << step << " " << v;
      }
    }
  }
  EXPECT_GT(others, 5000);
  EXPECT_GT(inside, 5000);
  EXPECT_GT(bright, inside * 9 / 10);
}

TEST(VolumeAugmentation, BlurAndResolutionKeepWhatIsConstant) {
  const AugmentedScene scene("augmented_constant");
  const MappedVolume volume = MappedVolume::open(scene.dataset.cases[0].images[0]);
  const SpatialMap far{.shift = {1000, 0, 0}};  // all air
  const Tensor air =
      mixed_values(volume, far, {.resolution = {0.5, 0.6, 0.7}, .blur_voxels = 0.9}, {{0, 0, 0}, {5, 6, 7}}, 2);
  ASSERT_EQ(air.shape(), (Shape{5, 6, 7}));
  for (std::int64_t i = 0; i < air.count(); ++i)  // three sums of seven products
    EXPECT_NEAR(air.as<float>()[i], 2, 2 * 3 * 8 * 0x1.0p-24);
  const Box box{{1, 2, 3}, {6, 6, 6}};
  const Tensor plain = mixed_values(volume, {}, {}, box, 0);
  for (const ValueChange& change : {ValueChange{.resolution = {0.6, 0.6, 0.6}}, ValueChange{.blur_voxels = 0.7}}) {
    const Tensor mixed = mixed_values(volume, {}, change, box, 0);
    EXPECT_FALSE(compare(plain.view(), mixed.view()).bit_equal);
  }
}

TEST(VolumeAugmentation, ATileTakesNoMoreMemoryThanPlanned) {
  const auto [d, h, w] = kAugmentationTile;
  for (const Geometry& geometry : {kUneven, kThick}) {
    const std::int64_t planned = augmentation_bytes(kAll, geometry);
    std::int64_t most = 0;
    for (std::uint64_t number = 0; number < 3000; ++number) {
      const SpatialMap map = place_map(draw_place(kAll, 2, number, geometry), {.size = {64, 64, 64}}, geometry);
      most = std::max(most, 4 * map.sources({{20, 20, 20}, {d + 6, h + 6, w + 6}}).count());
    }
    EXPECT_LE(most, planned);
    EXPECT_GT(20 * most, planned) << "and the plan is not far off";
  }
  EXPECT_EQ(augmentation_bytes({}, kUneven), 0);
}

}  // namespace
}  // namespace voxshard
