#include "pipelines/tasks/segmentation/dataset/prepared_dataset.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "io/datasets/annotated.h"
#include "io/files/channel_address.h"
#include "io/files/config_file.h"
#include "io/files/file_error.h"
#include "io/files/file_name.h"
#include "io/files/safetensors.h"
#include "io/output/manifest.h"
#include "io/volume/mapped_volume.h"
#include "io/volume/nifti_write.h"
#include "libcore/base/rng.h"
#include "pipelines/tasks/segmentation/labels/byte_labels.h"

namespace voxshard {
namespace {

std::string tensor_name(int label) { return "class_" + std::to_string(label); }

/// True when a part was made with the options of the last `prepare` and its files have not changed since.
bool is_as_made(const Manifest& manifest, const std::filesystem::path& folder, const std::string& name) {
  const auto part = manifest.parts.find(name);
  return part != manifest.parts.end() && part->second.whole && part->second.options == manifest.options &&
         std::all_of(part->second.files.begin(), part->second.files.end(),
                     [&](const auto& file) { return is_unchanged(folder / file.first, file.second); });
}

/// Returns the manifest of a folder in which `prepare` finished.
Manifest finished_manifest(const std::filesystem::path& folder) {
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorKind::kInput, "[" + folder.string() + "] " + what);
  };
  const auto manifest = read_manifest(folder);
  if (!manifest || manifest->command != "prepare") {
    std::error_code unseen;
    const bool raw = std::filesystem::exists(folder / "dataset.json", unseen);
    refuse(std::string(raw ? "a data set that is not prepared" : "not a prepared folder") +
           " (no manifest of `prepare`); run " + "`voxshard prepare " + (raw ? folder.string() : "DATASET") +
           " {output} WORK` with a new folder WORK, and train on that");
  }
  if (!is_as_made(*manifest, folder, kDatasetPart))
    refuse("the last `voxshard prepare` into it did not come to its end; run it again with {resume}");
  if (!is_as_made(*manifest, folder, kPlansPart))
    refuse("plans.json was changed after the cases were prepared; run `voxshard prepare` again with {resume}");
  return *manifest;
}

[[noreturn]] void refuse_cases(const std::filesystem::path& folder, const std::vector<std::string>& cases,
                               std::size_t of) {
  constexpr std::size_t kMostNames = 5;
  std::string names;
  for (std::size_t i = 0; i < std::min(kMostNames, cases.size()); ++i) names += (i ? ", " : "") + cases[i];
  throw Error(ErrorKind::kInput,
              "[" + folder.string() + "] " + std::to_string(cases.size()) + " of " + std::to_string(of) +
                  " cases are missing or not as the last `voxshard prepare` wrote them (" + names +
                  (cases.size() > kMostNames ? ", ..." : "") +
                  "); run it again with {resume}, or go on with a training without them by {accept-changes}");
}

/// Reads (D, H, W) as `prepare` noted it; the true shape is in the headers of the volumes. Errors: json::exception.
Shape shape_of_record(const nlohmann::json& json) {
  Shape shape;
  for (std::int64_t extent : json.get<std::array<std::int64_t, 3>>()) {
    if (extent < 1 || extent > kMostNiftiExtent)
      throw Error(ErrorKind::kInput,
                  "[dataset.json] not written by `voxshard prepare`: a case's shape has an extent of " +
                      std::to_string(extent) + "; expected 1 to " + std::to_string(kMostNiftiExtent));
    shape.push_back(extent);
  }
  return shape;
}

/// Sets the source hashes of the cases from the request in plans.json. Errors: json::exception.
void note_sources(const std::filesystem::path& folder, std::vector<PreparedCase>& cases) {
  const nlohmann::json plans = read_json(folder / "plans.json");
  for (PreparedCase& item : cases)
    for (const auto& file : plans.at("request").at("cases").at(item.id))
      if (file.at(1).is_string()) item.sources.push_back(file[1]);  // null where the file could not be read
}

}  // namespace

std::filesystem::path prepared_image(const std::filesystem::path& folder, const std::string& id, std::size_t channel,
                                     std::size_t channels) {
  return named_file(folder / "images", id, (channels == 1 ? "" : channel_suffix(channel)) + kMappedEnding);
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

std::set<std::string> case_files(const std::string& id, std::size_t channels) {
  std::set<std::string> files = {prepared_label({}, id).string(), prepared_foreground({}, id).string(),
                                 prepared_record({}, id).string()};
  for (std::size_t c = 0; c < channels; ++c) files.insert(prepared_image({}, id, c, channels).string());
  return files;
}

std::string case_part(const std::string& id) { return "case " + id; }

bool is_prepared(const std::filesystem::path& folder) {
  const auto manifest = read_manifest(folder);
  return manifest && manifest->command == "prepare";
}

std::filesystem::path source_of_prepared(const std::filesystem::path& folder) {
  try {
    return read_json(folder / "run.json").at("dataset").get<std::string>();
  } catch (const std::exception&) {  // the record was removed, or no folder of a data set was prepared
    return {};
  }
}

PreparedDataset read_prepared(const std::filesystem::path& folder, std::vector<CaseFailure>* left_out) {
  const Manifest manifest = finished_manifest(folder);
  PreparedDataset prepared{.name = "", .folder = folder, .plan = read_plan(folder / "plans.json"), .cases = {}};
  const nlohmann::json json = read_json(folder / "dataset.json");
  std::vector<std::string> others;  // cases that are not of this preparation
  try {
    prepared.name = json.at("name");
    for (const auto& c : json.at("cases")) {
      PreparedCase item;
      item.id = c.at("case").get<std::string>();
      const std::size_t channels = prepared.plan.channels.size();
      for (std::size_t k = 0; k < channels; ++k) item.images.push_back(prepared_image(folder, item.id, k, channels));
      item.label = prepared_label(folder, item.id);
      item.foreground = prepared_foreground(folder, item.id);
      item.shape = shape_of_record(c.at("shape"));
      item.class_voxels = c.at("class_voxels").get<std::vector<std::int64_t>>();
      if (c.contains("annotated"))
        item.annotated = unless_all(annotated_classes(c.at("annotated").get<std::vector<std::string>>(),
                                                      prepared.plan.class_names, folder / "dataset.json"),
                                    prepared.plan.classes());
      if (!is_as_made(manifest, folder, case_part(item.id)))
        others.push_back(item.id);
      else
        for (const auto& [path, noted] : manifest.parts.at(case_part(item.id)).files)
          item.hashes[folder / path] = noted.hash;
      prepared.cases.push_back(std::move(item));
    }
    note_sources(folder, prepared.cases);
    if (json.contains("same_patient"))
      prepared.same_patient = json.at("same_patient").get<std::vector<std::vector<std::string>>>();
  } catch (const nlohmann::json::exception& e) {
    throw Error(ErrorKind::kInput,
                "[" + (folder / "dataset.json").string() + "] not written by `voxshard prepare`: " + e.what());
  }
  if (!others.empty() && left_out == nullptr) refuse_cases(folder, others, prepared.cases.size());
  for (const std::string& id : others)
    left_out->push_back(
        {id, "E_READ", "is missing or not as the last `voxshard prepare` wrote it; run it again with {resume}"});
  std::erase_if(prepared.cases, [&](const PreparedCase& item) { return std::ranges::count(others, item.id) > 0; });
  if (prepared.cases.empty()) throw Error(ErrorKind::kNoCase, "[" + folder.string() + "] holds no prepared case");
  std::sort(prepared.cases.begin(), prepared.cases.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return prepared;
}

SeenInputs seen_cases(const PreparedDataset& dataset, const std::vector<std::size_t>& cases,
                      const TrainedOn& trained_on) {
  SeenInputs seen{.inputs = std::ssize(cases)};
  for (const std::size_t index : cases) {
    const PreparedCase& item = dataset.cases[index];
    const bool trained = std::ranges::any_of(item.images, [&](const std::filesystem::path& image) {
      const auto hash = item.hashes.find(image);
      return hash != item.hashes.end() && trained_on.contains(hash->second);
    });
    if (trained) seen.trained_on.push_back(item.id);
  }
  return seen;
}

namespace {

template <class Label>
ForegroundVoxels sampled(const Label* v, const Shape& shape, int classes, const std::string& id, std::uint64_t seed) {
  const std::int64_t h = shape[1], w = shape[2], n = shape[0] * h * w;
  std::vector<std::int64_t> count(classes, 0);
  for_each_run(v, n, [&](Label c, std::int64_t begin, std::int64_t end) {
    if (c < classes) count[c] += end - begin;
  });

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
  for_each_run(v, n, [&](Label c, std::int64_t begin, std::int64_t end) {
    if (c == 0 || c >= classes) return;
    const Tensor& rows = voxels.by_class[c];
    const std::int64_t samples = rows.shape()[0], before = seen[c];
    seen[c] += end - begin;
    while (taken[c] < samples && next[c] < seen[c]) {
      const std::int64_t i = begin + next[c] - before;
      auto* row = rows.as<std::int32_t>() + 3 * taken[c];
      row[0] = static_cast<std::int32_t>(i / (h * w));
      row[1] = static_cast<std::int32_t>(i / w % h);
      row[2] = static_cast<std::int32_t>(i % w);
      if (++taken[c] < samples) next[c] = wanted(c);
    }
  });
  return voxels;
}

}  // namespace

ForegroundVoxels sample_foreground(const Tensor& label, int classes, const std::string& id, std::uint64_t seed) {
  return with_labels(label, [&](const auto* v) { return sampled(v, label.shape(), classes, id, seed); });
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
    if (tensor && (tensor->dtype() != DType::kI32 || tensor->shape().axes() != 2 || tensor->shape()[1] != 3))
      throw input_error(item.foreground,
                        "holds " + tensor_name(c) + " as " + dtype_name(tensor->dtype()) + " " +
                            to_string(tensor->shape()) + ", not as rows of three i32",
                        "run `voxshard prepare` again");
    voxels.by_class.push_back(tensor ? *tensor : Tensor());
  }
  return voxels;
}

}  // namespace voxshard
