// A small data set with a left and a right organ that look alike beside a middle one, prepared, and the options of a
// training of a second on it.
//
//   SidedScene scene("joined", {.cases = 4});
//   run_train(scene.options("run", Sides::kAuto), scene.progress);
#pragma once

#include "libcore/base/rng.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {

/// The classes of the data; those of the model are 1 and 2 where left and right are joined.
inline constexpr int kSpine = 1, kRightKidney = 2, kLeftKidney = 3;

struct SidedScene : Scene {
  struct Body {
    int cases = 4, test_cases = 1;
    int turned = -1;                         // the case whose left and right are swapped
    std::vector<std::string> one_side = {};  // cases in which only the spine and the right kidney were annotated
    std::vector<std::string> names = {"background", "spine", "kidney_right", "kidney_left"};
  };

  explicit SidedScene(const std::string& name) : SidedScene(name, Body()) {}
  SidedScene(const std::string& name, const Body& body) : Scene(name) {
    for (const char* part : {"imagesTr", "labelsTr", "imagesTs", "labelsTs"})
      std::filesystem::create_directories(data() / part);
    Dataset d;
    d.name = "sided", d.folder = data(), d.channels = {"CT"}, d.file_ending = ending;
    d.label_names = body.names;
    for (int i = 0; i < body.cases; ++i) {
      write(i, i == body.turned, image(i), label(i));
      d.training.push_back({id(i), {image(i)}, label(i)});
    }
    for (int i = 0; i < body.test_cases; ++i)
      write(100 + i, false, data() / "imagesTs" / ("new_" + std::to_string(i) + "_0000" + ending),
            data() / "labelsTs" / ("new_" + std::to_string(i) + ending));
    write_dataset_json(d);
    edit_dataset([&](nlohmann::json& json) {
      for (const std::string& one : body.one_side) json["annotated"][one] = {"spine", "kidney_right"};
    });
    PrepareOptions o{.dataset = data(), .work = work(), .spacing = "keep"};
    o.clip_hu = Range{-200, 1000};  // wider than the foreground, so that the background differs from the kidneys
    prepare_dataset(o, progress);
    progress = {};
  }

  /// 24 x 12 x 12 voxels: the spine from x 10 on, the left kidney from x 16, the right one from x 4, all of 2 x 4 x 4,
  /// and apart by up to 2 voxels from case to case.
  static void write(int number, bool turned, const std::filesystem::path& image, const std::filesystem::path& label) {
    Volume ct{Geometry{.size = {24, 12, 12}, .origin = {-20, 3, 7}, .spacing = {2, 2, 3}}, {}}, organs{ct.geometry, {}};
    ct.voxels = Tensor(DType::kF32, ct.geometry.shape()), organs.voxels = Tensor(DType::kI32, ct.geometry.shape());
    const auto draw = [&](std::uint64_t what, std::int64_t below) {
      return rng_below({.seed = 11, .stream = what}, static_cast<std::uint64_t>(number), below);
    };
    const std::int64_t x0 = draw(0, 3), y0 = 2 + draw(1, 4), z0 = 2 + draw(2, 4);
    for (std::int64_t i = 0; i < ct.voxels.count(); ++i) {
      const std::int64_t x = i % 24 - x0, y = i / 24 % 12 - y0, z = i / 288 - z0;
      const bool inside = y >= 0 && y < 4 && z >= 0 && z < 4 && x % 6 >= 4;
      const std::int64_t organ = x / 6;  // x 4 and 5, 10 and 11, 16 and 17
      int& found = organs.voxels.as<std::int32_t>()[i];
      if (inside && x > 0 && organ < 3)
        found = organ == 1 ? kSpine : (organ == 0) != turned ? kRightKidney : kLeftKidney;
      const double noise =
          20 * rng_normal({.seed = 12, .stream = static_cast<std::uint64_t>(number)}, static_cast<std::uint64_t>(i));
      ct.voxels.as<float>()[i] = static_cast<float>(std::round((found == 0        ? -100
                                                                : found == kSpine ? 700
                                                                                  : 200) +
                                                               noise));
    }
    write_volume(image, ct, DiskType::kI16);
    write_volume(label, organs, DiskType::kU8);
  }

  TrainOptions options(const std::string& run, Sides sides) const {
    TrainOptions o{.work = work(), .run = path(run), .steps = 3, .resources = {.threads = 2}};
    volumes(o).fold = "all", volumes(o).sides = sides;
    o.spec.as<UNetConfig>() = {.base_filters = 4, .depth = 2};
    o.spec.precision = DType::kF32;
    volumes(o).sampling.crop = {12, 12, 24};
    return o;
  }

  nlohmann::json record(const std::string& run) const { return read_json(path(run) / "run.json"); }
};

}  // namespace voxshard
