// The crop of a step is a pure function of seed and step, lies inside the volume, and is the same however it is cut
// over cores.
#include "pipelines/tasks/segmentation/samples/sample_source.h"

#include <algorithm>
#include <set>

#include "io/files/safetensors.h"
#include "tests/pipelines/tasks/segmentation/filled_samples.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

/// Three cases of D x H x W = 8 x 10 x 12, prepared on their own grid.
struct Volumes : Scene {
  explicit Volumes(const std::string& name) : Scene(name) {
    write_dataset(3);
    prepare_dataset({.dataset = data(), .work = work(), .spacing = "keep"}, progress);
    dataset = read_prepared(work());
  }
  SampleSource source(SamplingOptions options) const { return {dataset, {0, 1, 2}, options}; }
  PreparedDataset dataset;
};

SamplingOptions plain(Dims crop) { return {.crop = crop, .intensity_scale = 0, .noise = 0}; }

void expect_same(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.shape(), b.shape());
  EXPECT_TRUE(compare(a.view(), b.view()).bit_equal);
}

TEST(SampleSource, IsAPureFunctionOfSeedAndStep) {
  const Volumes volumes("source_pure");
  const SamplingOptions options{.seed = 4, .crop = {4, 6, 5}, .flip = {true, true, true}};
  const SampleSource a = volumes.source(options), b = volumes.source(options);
  for (int step = 0; step < 4; ++step) a.batch(step, 2);  // earlier calls do not matter
  expect_same(filled(a, a.batch(7, 2), input::Image{}), filled(b, b.batch(7, 2), input::Image{}));
  SamplingOptions other = options;
  other.seed = 5;
  const SampleSource c = volumes.source(other);
  EXPECT_FALSE(compare(filled(a, a.batch(7, 2), input::Image{}).view(), filled(c, c.batch(7, 2), input::Image{}).view())
                   .bit_equal);
}

TEST(SampleSource, EachEpochHasEveryCaseOnceInANewOrder) {
  const Volumes volumes("source_epoch");
  const SampleSource source = volumes.source(plain({4, 4, 4}));
  std::set<std::vector<std::size_t>> orders;
  for (int epoch = 0; epoch < 12; ++epoch) {
    std::vector<std::size_t> order;
    for (int i = 0; i < 3; ++i) order.push_back(source.batch(3 * epoch + i, 1)[0].item);
    EXPECT_EQ(std::set<std::size_t>(order.begin(), order.end()).size(), 3u);
    orders.insert(order);
  }
  EXPECT_GT(orders.size(), 2u);
}

TEST(SampleSource, CropsLieInsideTheVolume) {
  const Volumes volumes("source_inside");
  const SampleSource source = volumes.source(plain({4, 10, 5}));
  for (int step = 0; step < 60; ++step)
    for (const Sample& s : source.batch(step, 2))
      EXPECT_TRUE(Box::whole({8, 10, 12}).contains({{s.begin[0], s.begin[1], s.begin[2]}, s.size}));
}

TEST(SampleSource, SmallVolumesArePaddedWithAirAndIgnoredLabels) {
  const Volumes volumes("source_pad");
  const SampleSource source = volumes.source(plain({16, 11, 12}));
  const auto batch = source.batch(0, 1);
  const Tensor image = filled(source, batch, input::Image{}), labels = filled(source, batch, input::Labels{});
  const Box inside =
      intersect({{-batch[0].begin[0], -batch[0].begin[1], -batch[0].begin[2]}, {8, 10, 12}}, Box::whole({16, 11, 12}));
  EXPECT_EQ(inside.count(), 8 * 10 * 12);
  for (std::int64_t i = 0; i < image.count(); ++i) {
    const Box voxel{{i / (11 * 12), i / 12 % 11, i % 12}, {1, 1, 1}};
    EXPECT_EQ(labels.as<std::int32_t>()[i] < 0, !inside.contains(voxel)) << to_string(voxel);
    if (!inside.contains(voxel)) {
      EXPECT_EQ(image.as<float>()[i], air_values(volumes.dataset.plan).at(0));
    }
  }
}

TEST(SampleSource, TrimmedCropsAreAsLongAsAShorterVolumeUpToTheMultiple) {
  Volumes volumes("source_trim");
  write_volume(volumes.image(2), Scene::make_image(2, {40, 30, 20}), DiskType::kI16);
  write_volume(volumes.label(2), Scene::make_label({40, 30, 20}), DiskType::kU8);
  prepare_dataset({.dataset = volumes.data(), .work = volumes.path("uneven"), .spacing = "keep"}, volumes.progress);
  volumes.dataset = read_prepared(volumes.path("uneven"));  // D x H x W = 8 x 10 x 12, twice, and 20 x 30 x 40
  SamplingOptions options = plain({16, 11, 6});
  EXPECT_EQ(volumes.source(options).sizes(), 1);
  options.trims = true;
  const SampleSource source = volumes.source(options);
  EXPECT_EQ(source.sizes(), 2);
  EXPECT_EQ(source.largest_extents(1), (Shape{1, 16, 11, 6}));
  for (int step = 0; step < 12; ++step) {
    const auto batch = source.batch(step, 1);
    const bool is_short = batch[0].item < 2;
    ASSERT_EQ(source.extents(batch), (Shape{1, is_short ? 8 : 16, 11, 6}));
    const Tensor labels = filled(source, batch, input::Labels{});
    const auto* voxels = labels.as<std::int32_t>();
    EXPECT_EQ(std::count_if(voxels, voxels + labels.count(), [](std::int32_t label) { return label < 0; }),
              is_short ? 8 * 1 * 6 : 0)
        << "a plane of H, of which a multiple of 8 has room for 11";
  }
  bool mixed = false;
  for (int step = 0; step < 12; ++step) {
    const auto batch = source.batch(step, 2);
    const std::int64_t longest = batch[0].item < 2 && batch[1].item < 2 ? 8 : 16;
    mixed |= (batch[0].item < 2) != (batch[1].item < 2);
    EXPECT_EQ(source.extents(batch), (Shape{2, longest, 11, 6}));
    for (const Sample& s : batch) EXPECT_EQ(s.begin[0], s.item < 2 ? -(longest - 8) / 2 : s.begin[0]);
  }
  EXPECT_TRUE(mixed);
}

TEST(SampleSource, WholeVolumesAreCentredInAMultiple) {
  const Volumes volumes("source_whole");
  SamplingOptions options = plain({});
  options.pad_multiple = 16;
  const SampleSource source = volumes.source(options);
  const auto batch = source.batch(0, 1);
  EXPECT_EQ(source.extents(batch), (Shape{1, 16, 16, 16}));
  EXPECT_EQ(batch[0].begin, (std::array<std::int64_t, 3>{-4, -3, -2}));
}

TEST(SampleSource, TheLastStepsAreOnWholeVolumes) {
  const Volumes volumes("source_whole_steps");
  SamplingOptions options = plain({4, 6, 5});
  options.foreground = 1, options.whole_steps = 3;
  SampleSource source = volumes.source(options);
  EXPECT_EQ(source.largest_extents(2), (Shape{2, 4, 6, 5})) << "the length of the run is not known";
  source.set(options, {.steps = 12, .batch = 2});
  const SampleSource crops = volumes.source(plain({4, 6, 5})), whole = volumes.source(plain({}));
  EXPECT_EQ(source.largest_extents(2), whole.largest_extents(2));
  EXPECT_EQ(source.sizes(), 2);
  EXPECT_DOUBLE_EQ(source.mean_voxels(), 0.75 * crops.mean_voxels() + 0.25 * whole.mean_voxels());
  for (const auto& [step, is_whole] :
       {std::pair(0, false), std::pair(8, false), std::pair(9, true), std::pair(11, true)})
    for (const Sample& s : source.batch(step, 2)) {
      EXPECT_EQ(s.size, is_whole ? (Dims{8, 16, 16}) : (Dims{4, 6, 5})) << step;
      EXPECT_EQ(s.drawn_on == 0, is_whole) << step;
    }
  expect_same(filled(source, source.batch(10, 2), input::Labels{}), filled(whole, whole.batch(10, 2), input::Labels{}));
  EXPECT_EQ(source.drawn_on(24).front(), 6) << "those of the last three steps";
  const SampleSizes sizes = source.sample_sizes(2);
  EXPECT_EQ(sizes.crop_points, 4 * 6 * 5);
  EXPECT_EQ(sizes.whole_points, 8 * 16 * 16);
  EXPECT_EQ(sizes.largest_crop, (Shape{2, 4, 6, 5}));
  EXPECT_TRUE(sizes.has_whole);
  source.set(options, {.steps = 2, .batch = 2});
  EXPECT_EQ(source.sizes(), 1) << "no step of so short a run is on crops";
  EXPECT_EQ(source.largest_extents(1), whole.largest_extents(1));
}

TEST(SampleSource, TheBoxesOfTheCoresMakeTheWhole) {
  const Volumes volumes("source_boxes");
  const SampleSource source = volumes.source({.crop = {7, 11, 6}, .flip = {true, true, true}});
  for (int step = 0; step < 8; ++step) {
    const auto batch = source.batch(step, 2);
    for (const InputInfo& input : {InputInfo(input::Image{}), InputInfo(input::Labels{})}) {
      const Tensor whole = filled(source, batch, input);
      for (int axis = 0; axis < 4; ++axis) {
        Tensor parts(whole.dtype(), whole.shape());
        const std::int64_t cut = ceil_div(whole.shape()[axis], 2);
        for (const auto& [begin, end] : {std::pair{std::int64_t{0}, cut}, std::pair{cut, whole.shape()[axis]}}) {
          Box box = Box::whole(whole.shape());
          box.set(axis, begin, end);
          source.fill(batch, input, parts.view().sub(box));
        }
        expect_same(whole, parts);
      }
    }
  }
}

TEST(SampleSource, AMirroredCropIsTheCropBackwards) {
  const Volumes volumes("source_mirror");
  SamplingOptions options = plain({5, 6, 7});
  const SampleSource straight = volumes.source(options);
  options.flip = {true, true, true};
  const SampleSource flipped = volumes.source(options);
  int mirrored = 0;
  for (int step = 0; step < 16; ++step) {
    const auto batch = flipped.batch(step, 1);
    const Tensor a = filled(straight, straight.batch(step, 1), input::Image{}),
                 b = filled(flipped, batch, input::Image{});
    for (std::int64_t i = 0; i < a.count(); ++i) {
      std::array<std::int64_t, 3> at = {i / 42, i / 7 % 6, i % 7};
      for (std::size_t axis = 0; axis < 3; ++axis)
        if (batch[0].mirrored[axis]) at[axis] = options.crop[static_cast<int>(axis)] - 1 - at[axis];
      ASSERT_EQ(a.as<float>()[i], b.as<float>()[(at[0] * 6 + at[1]) * 7 + at[2]]);
    }
    mirrored += batch[0].mirrored[0] + batch[0].mirrored[1] + batch[0].mirrored[2];
  }
  EXPECT_GT(mirrored, 8);
  EXPECT_LT(mirrored, 40);
}

TEST(SampleSource, AShareOfTheCropsIsCentredOnARandomClass) {
  const Volumes volumes("source_foreground");
  for (const double foreground : {0.0, 0.5, 1.0}) {
    SamplingOptions options = plain({1, 1, 1});
    options.foreground = foreground;
    const SampleSource source = volumes.source(options);
    std::array<int, 3> seen{};
    for (int step = 0; step < 600; ++step)
      ++seen[filled(source, source.batch(step, 1), input::Labels{}).as<std::int32_t>()[0]];
    // By chance alone class 1 is 1/3 of the voxels, class 2 is 1/6; chosen classes come equally often.
    EXPECT_NEAR(seen[1] / 600.0, foreground / 2 + (1 - foreground) / 3, 0.08);
    EXPECT_NEAR(seen[2] / 600.0, foreground / 2 + (1 - foreground) / 6, 0.08);
  }
}

/// The third of these cases alone has class 2.
struct RareClass : Scene {
  explicit RareClass(const std::string& name) : Scene(name) {
    write_dataset(3);
    for (const int i : {0, 1}) {
      Volume label = Scene::make_label();
      for (std::int64_t v = 0; v < label.voxels.count(); ++v)
        if (label.voxels.as<std::int32_t>()[v] == 2) label.voxels.as<std::int32_t>()[v] = 0;
      write_volume(this->label(i), label, DiskType::kU8);
    }
    prepare_dataset({.dataset = data(), .work = work(), .spacing = "keep"}, progress);
    dataset = read_prepared(work());
  }
  PreparedDataset dataset;
};

TEST(SampleSource, CropsOfTheSetSeeARareClassAsOftenAsACommonOne) {
  const RareClass scene("source_rare");
  constexpr std::int64_t kSamples = 900;
  for (const CropsOn rule : {CropsOn::kCase, CropsOn::kSet}) {
    SamplingOptions options = plain({1, 1, 1});
    options.foreground = 0.8, options.crops = rule;
    const SampleSource source(scene.dataset, {0, 1, 2}, options);
    std::vector<std::int64_t> drawn(3, 0);
    for (std::int64_t step = 0; step < kSamples; ++step) {
      const Sample s = source.batch(step, 1).front();
      ++drawn[s.drawn_on];
      if (s.drawn_on > 0) {
        EXPECT_EQ(filled(source, {s}, input::Labels{}).as<std::int32_t>()[0], s.drawn_on);
      }
    }
    EXPECT_EQ(source.drawn_on(kSamples), drawn);
    const double rare = rule == CropsOn::kSet ? 0.4 : 0.8 / 6;  // one of two classes; in one of three cases, one of two
    EXPECT_NEAR(static_cast<double>(drawn[2]) / kSamples, rare, 0.05);
    EXPECT_NEAR(static_cast<double>(drawn[0]) / kSamples, 0.2, 0.05);
  }
}

TEST(SampleSource, CropsOfTheSetLeaveWhatIsNotDrawnOnAClassToTheCaseInTurn) {
  const RareClass scene("source_turn");
  SamplingOptions options = plain({2, 2, 2});
  options.foreground = 0;
  const SampleSource by_case(scene.dataset, {0, 1, 2}, options);
  options.crops = CropsOn::kSet;
  const SampleSource of_set(scene.dataset, {0, 1, 2}, options);
  for (std::int64_t step = 0; step < 30; ++step) {
    const Sample a = by_case.batch(step, 1).front(), b = of_set.batch(step, 1).front();
    EXPECT_EQ(a.item, b.item);
    EXPECT_EQ(a.begin, b.begin);
  }
}

TEST(SampleSource, VoxelsOfAClassThatAreNoRowsOfThreeWholeNumbersAreRefused) {
  const Volumes volumes("source_other_voxels");
  for (const Tensor& wrong : {Tensor(DType::kU8, {5, 3}), Tensor(DType::kI32, {15}), Tensor(DType::kI32, {5, 2})}) {
    save_safetensors(volumes.dataset.cases[0].foreground, std::vector<NamedView>{{"class_1", wrong.view()}});
    expect_error(ErrorKind::kInput, "class_1", [&] { volumes.source(plain({4, 4, 4})); });
  }
}

TEST(SampleSource, NoCaseIsAnError) {
  const Volumes volumes("source_none");
  expect_error(ErrorKind::kNoCase, "{fold} all", [&] { SampleSource(volumes.dataset, {}, {}); });
}

}  // namespace
}  // namespace voxshard
