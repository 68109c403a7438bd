// A small data set in a temporary folder, and a progress that records its updates, for the tests of pipelines.
//
//   Scene scene("prepare");                       // an empty folder, removed at the end
//   scene.write_dataset(3);                       // three 12 x 10 x 8 cases with a bright box of class 1 and 2
//   prepare_dataset({.dataset = scene.data(), .work = scene.work()}, scene.progress);
#pragma once

#include <filesystem>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "io/datasets/dataset.h"
#include "io/files/config_file.h"
#include "io/volume/volume.h"
#include "pipelines/model_runs/report.h"
#include "tests/scratch_folder.h"

namespace voxshard {

struct RecordingProgress : Progress {
  std::vector<std::string> lines;
  std::int64_t updates = 0;
  bool stop = false;
  void update(std::string_view, std::int64_t, std::int64_t, std::string_view) override {
    const std::lock_guard lock(mutex());
    ++updates;
  }
  void log(std::string_view line) override {
    const std::lock_guard lock(mutex());
    lines.emplace_back(line);
  }
  bool stop_requested() const override { return stop; }

 private:
  /// Workers report their progress at the same time. Of all objects, so that they can be copied.
  static std::mutex& mutex() {
    static std::mutex own;
    return own;
  }
};

class Scene {
 public:
  explicit Scene(const std::string& name) : folder_(name) {}

  std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }
  std::filesystem::path data() const { return path("data"); }
  std::filesystem::path work() const { return path("work"); }
  std::filesystem::path image(int i) const { return data() / "imagesTr" / (id(i) + "_0000" + ending); }
  std::filesystem::path label(int i) const { return data() / "labelsTr" / (id(i) + ending); }
  static std::string id(int i) { return "case_" + std::to_string(i); }

  /// Returns an image of HU 100 i + x; class 1 is the half x < 4, class 2 the voxels z >= 6 of the other half.
  static Volume make_image(int i, std::array<std::int64_t, 3> size = {12, 10, 8}) {
    Volume v{Geometry{.size = size, .origin = {5, -7, 11}, .spacing = {2, 2, 3}}, {}};
    v.voxels = Tensor(DType::kF32, v.geometry.shape());
    for (std::int64_t k = 0; k < v.voxels.count(); ++k)
      v.voxels.as<float>()[k] = static_cast<float>(100 * i + k % size[0]);
    return v;
  }
  static Volume make_label(std::array<std::int64_t, 3> size = {12, 10, 8}) {
    Volume v{Geometry{.size = size, .origin = {5, -7, 11}, .spacing = {2, 2, 3}}, {}};
    v.voxels = Tensor(DType::kI32, v.geometry.shape());
    for (std::int64_t k = 0; k < v.voxels.count(); ++k) {
      const std::int64_t x = k % size[0], z = k / (size[0] * size[1]);
      v.voxels.as<std::int32_t>()[k] = x < 4 ? 1 : z >= 6 ? 2 : 0;
    }
    return v;
  }
  void write_dataset(int cases) {
    for (const char* part : {"imagesTr", "labelsTr"}) std::filesystem::create_directories(data() / part);
    Dataset d;
    d.name = "scene", d.folder = data(), d.channels = {"CT"}, d.label_names = {"background", "one", "two"};
    d.file_ending = ending;
    for (int i = 0; i < cases; ++i) {
      write_volume(image(i), make_image(i), DiskType::kI16);
      write_volume(label(i), make_label(), DiskType::kU8);
      d.training.push_back({id(i), {image(i)}, label(i)});
    }
    write_dataset_json(d);
  }
  /// Changes what dataset.json says.
  template <class Change>
  void edit_dataset(const Change& change) const {
    nlohmann::json json = read_json(data() / "dataset.json");
    change(json);
    std::ofstream(data() / "dataset.json") << json.dump();
  }
  static std::string bytes_of(const std::filesystem::path& path) { return read_bytes(path); }
  /// Returns the path of the last checkpoint of a run in this folder.
  std::filesystem::path last(const std::string& run) const { return path(run) / "checkpoints" / "last.safetensors"; }
  std::string last_bytes(const std::string& run) const { return bytes_of(last(run)); }
  /// Keeps only the first half of a file.
  static void truncate(const std::filesystem::path& path) {
    std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  }

  /// Overwrites one voxel of a plain f32 .nii (header of 352 bytes) with NaN, which write_volume refuses to do.
  static void plant_nan(const std::filesystem::path& path, std::int64_t voxel) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(352 + 4 * voxel);
    file.write("\x00\x00\xc0\x7f", 4);
  }

  RecordingProgress progress;
  std::string ending = ".nii.gz";

 private:
  ScratchFolder folder_;
};

}  // namespace voxshard
