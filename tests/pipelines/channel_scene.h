// A data set of two channels, of which the second alone tells the class: a ball of class 1 is bright in "PET", while
// "CT" shows another ball that says nothing.
//
//   ChannelScene scene("channels");
//   scene.write_channels(4, 1);                       // four cases to train on, one to test
#pragma once

#include <cmath>

#include "libcore/base/rng.h"
#include "pipelines/tasks/segmentation/dataset/prepare_dataset.h"
#include "tests/pipelines/pipeline_scene.h"

namespace voxshard {

struct ChannelScene : Scene {
  static constexpr std::int64_t kSide = 16;
  explicit ChannelScene(const std::string& name) : Scene(name) { ending = ".nii"; }

  std::filesystem::path channel(int i, std::size_t c, bool test = false) const {
    return data() / (test ? "imagesTs" : "imagesTr") / (id(i) + "_000" + std::to_string(c) + ending);
  }

  /// One volume of a case; the voxels are the value of each place.
  template <class Value>
  static Volume volume(DType type, const Value& value) {
    Volume v{Geometry{.size = {kSide, kSide, kSide}, .spacing = {2, 2, 2}}, {}};
    v.voxels = Tensor(type, v.geometry.shape());
    for (std::int64_t k = 0; k < v.voxels.count(); ++k)
      store(v.voxels.view(), k, value(k, k % kSide, k / kSide % kSide, k / (kSide * kSide)));
    return v;
  }
  static bool in_ball(int i, const char* name, std::int64_t x, std::int64_t y, std::int64_t z) {
    double square = 0;
    const std::int64_t at[] = {x, y, z};
    for (std::uint64_t a = 0; a < 3; ++a) {
      const double centre = 3 + 9 * rng_uniform({7, rng_stream(name)}, 3 * static_cast<std::uint64_t>(i) + a);
      square += std::pow(static_cast<double>(at[a]) - centre, 2);
    }
    return square < 8;
  }
  static Volume make_channel(int i, std::size_t c) {
    const RngKey noise{static_cast<std::uint64_t>(i), rng_stream(c == 0 ? "ct" : "pet")};
    return volume(DType::kF32, [&](std::int64_t k, std::int64_t x, std::int64_t y, std::int64_t z) {
      const double normal = rng_normal(noise, static_cast<std::uint64_t>(k));
      if (c == 0) return std::round(40 + 10 * normal + (in_ball(i, "decoy", x, y, z) ? 60 : 0));
      return 1 + 0.2 * normal + (in_ball(i, "lesion", x, y, z) ? 6 : 0);
    });
  }
  static Volume make_lesion(int i) {
    return volume(DType::kI32, [&](std::int64_t, std::int64_t x, std::int64_t y, std::int64_t z) {
      return in_ball(i, "lesion", x, y, z) ? 1.0 : 0.0;
    });
  }

  void write_channels(int cases, int test_cases = 0) {
    for (const char* part : {"imagesTr", "labelsTr", "imagesTs", "labelsTs"})
      std::filesystem::create_directories(data() / part);
    Dataset d;
    d.name = "channels", d.folder = data(), d.channels = {"CT", "PET"}, d.label_names = {"background", "lesion"};
    d.file_ending = ending;
    for (int i = 0; i < cases + test_cases; ++i) {
      const bool test = i >= cases;
      for (const std::size_t c : {0, 1}) write_volume(channel(i, c, test), make_channel(i, c), DiskType::kF32);
      write_volume(data() / (test ? "labelsTs" : "labelsTr") / (id(i) + ending), make_lesion(i), DiskType::kU8);
      if (!test) d.training.push_back({id(i), {channel(i, 0), channel(i, 1)}, label(i)});
    }
    write_dataset_json(d);
  }

  /// Writes the channels of a case into one 4-D file: the header with a fourth axis, then the voxels of both.
  void write_whole(const std::filesystem::path& path, int i) const {
    std::string whole;
    for (const std::size_t c : {0, 1}) {
      const std::filesystem::path one = path.parent_path() / "one.nii";
      write_volume(one, make_channel(i, c), DiskType::kF32);
      const std::string bytes = bytes_of(one);
      whole += c == 0 ? bytes : bytes.substr(352);
      std::filesystem::remove(one);
    }
    whole[40] = 4, whole[48] = 2;  // dim[0] and dim[4]
    std::ofstream(path, std::ios::binary) << whole;
  }

  PrepareOptions preparation() const {
    PrepareOptions options;
    options.dataset = data(), options.work = work(), options.spacing = "keep";
    return options;
  }
};

}  // namespace voxshard
