#include "pipelines/tasks/segmentation/prepared_dataset.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "io/files/config_file.h"
#include "io/files/file_name.h"
#include "io/files/safetensors.h"
#include "io/volume/mapped_volume.h"
#include "libcore/base/rng.h"

namespace voxshard {
namespace {

std::string tensor_name(int label) { return "class_" + std::to_string(label); }

}  // namespace

std::filesystem::path prepared_image(const std::filesystem::path& folder, const std::string& id) {
  return named_file(folder / "images", id, kMappedEnding);
}

std::filesystem::path prepared_label(const std::filesystem::path& folder, const std::string& id) {
  return named_file(folder / "labels", id, kMappedEnding);
}

std::filesystem::path prepared_foreground(const std::filesystem::path& folder, const std::string& id) {
  return named_file(folder / "foreground", id, ".safetensors");
}

std::filesystem::path prepared_record(const std::filesystem::path& folder, const std::string& id) {
  return named_file(folder / "cases", id, ".json");
}

PreparedDataset read_prepared(const std::filesystem::path& folder) {
  if (!std::filesystem::exists(folder / "dataset.json") || !std::filesystem::exists(folder / "plans.json"))
    throw Error(ErrorKind::kInput, "[" + folder.string() +
                                       "] not a prepared folder: dataset.json or plans.json is missing; " +
                                       "run `voxshard prepare DATASET {output} " + folder.string() + "` first");
  PreparedDataset prepared{.name = "", .folder = folder, .plan = read_plan(folder / "plans.json"), .cases = {}};
  const nlohmann::json json = read_json(folder / "dataset.json");
  try {
    prepared.name = json.value("name", "");
    for (const auto& c : json.at("cases")) {
      PreparedCase item;
      item.id = c.at("case").get<std::string>();
      item.image = prepared_image(folder, item.id);
      item.label = prepared_label(folder, item.id);
      item.foreground = prepared_foreground(folder, item.id);
      for (std::int64_t extent : c.at("shape")) item.shape.push_back(extent);
      item.class_voxels = c.at("class_voxels").get<std::vector<std::int64_t>>();
      for (const auto* file : {&item.image, &item.label, &item.foreground})
        if (!std::filesystem::exists(*file))
          throw Error(ErrorKind::kInput,
                      "[" + file->string() + "] missing; run `voxshard prepare` again with {resume}");
      prepared.cases.push_back(std::move(item));
    }
  } catch (const nlohmann::json::exception& e) {
    throw Error(ErrorKind::kInput,
                "[" + (folder / "dataset.json").string() + "] not written by `voxshard prepare`: " + e.what());
  }
  if (prepared.cases.empty()) throw Error(ErrorKind::kNoCase, "[" + folder.string() + "] holds no prepared case");
  std::sort(prepared.cases.begin(), prepared.cases.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return prepared;
}

ForegroundVoxels sample_foreground(const Tensor& label, int classes, const std::string& id, std::uint64_t seed) {
  const auto* v = label.as<std::int32_t>();
  const std::int64_t n = label.count(), h = label.shape()[1], w = label.shape()[2];
  std::vector<std::int64_t> count(classes, 0);
  for (std::int64_t i = 0; i < n; ++i)
    if (v[i] < classes) ++count[v[i]];

  ForegroundVoxels voxels;
  std::vector<std::int64_t> seen(classes, 0), taken(classes, 0);
  for (int c = 0; c < classes; ++c) {
    const std::int64_t samples = c == 0 ? 0 : std::min(count[c], kForegroundSamples);
    voxels.by_class.push_back(samples ? Tensor(DType::kI32, {samples, 3}) : Tensor());
  }
  // Sample k of n_s takes one voxel out of the k-th of n_s equal parts of the class's voxels: all when n_s is their
  // count.
  const auto wanted = [&](int c) {
    const std::int64_t samples = voxels.by_class[c].shape()[0], k = taken[c];
    const std::int64_t first = k * count[c] / samples, past = (k + 1) * count[c] / samples;
    return first + rng_below({.seed = seed, .stream = rng_stream(id + "/" + tensor_name(c))}, k, past - first);
  };
  std::vector<std::int64_t> next(classes, 0);
  for (int c = 1; c < classes; ++c)
    if (!voxels.by_class[c].empty()) next[c] = wanted(c);
  for (std::int64_t i = 0; i < n; ++i) {
    const int c = v[i];
    if (c == 0 || c >= classes || seen[c]++ != next[c] || taken[c] >= voxels.by_class[c].shape()[0]) continue;
    auto* row = voxels.by_class[c].as<std::int32_t>() + 3 * taken[c];
    row[0] = static_cast<std::int32_t>(i / (h * w));
    row[1] = static_cast<std::int32_t>(i / w % h);
    row[2] = static_cast<std::int32_t>(i % w);
    if (++taken[c] < voxels.by_class[c].shape()[0]) next[c] = wanted(c);
  }
  return voxels;
}

void save_foreground(const std::filesystem::path& path, const ForegroundVoxels& voxels) {
  std::vector<NamedView> named;
  for (std::size_t c = 1; c < voxels.by_class.size(); ++c)
    if (!voxels.by_class[c].empty()) named.push_back({tensor_name(static_cast<int>(c)), voxels.by_class[c].view()});
  save_safetensors(path, named, {{"axes", "z y x"}});
}

ForegroundVoxels load_foreground(const PreparedCase& item, int classes) {
  const SafetensorsFile file = load_safetensors(item.foreground);
  ForegroundVoxels voxels;
  for (int c = 0; c < classes; ++c) {
    const Tensor* tensor = file.find(tensor_name(c));
    voxels.by_class.push_back(tensor ? *tensor : Tensor());
  }
  return voxels;
}

}  // namespace voxshard
