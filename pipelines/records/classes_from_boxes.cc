#include "pipelines/records/classes_from_boxes.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <set>

#include "io/files/content_hash.h"
#include "io/files/file_name.h"
#include "io/image/image.h"
#include "io/image/image_reader.h"
#include "io/output/output_folder.h"
#include "libcore/base/parallel.h"
#include "pipelines/records/from_records.h"
#include "pipelines/tasks/crop_name.h"
#include "pipelines/tasks/detection/dataset/detection_dataset.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// One box and the file that it is written to.
struct Crop {
  CocoBox box;
  std::string file;  // below the output
};

/// Returns the crops of each image, in the order of its boxes.
std::vector<std::vector<Crop>> crops_of(const DetectionDataset& dataset, std::vector<CaseFailure>& failures) {
  std::set<std::int64_t> unnamed;
  for (std::size_t c = 0; c < dataset.classes.size(); ++c)
    if (const std::string problem = name_problem(dataset.classes[c].name); !problem.empty()) {
      unnamed.insert(static_cast<std::int64_t>(c));
      failures.push_back({shown_name(dataset.classes[c].name), "E_NAME",
                          "as the name of a class " + problem + "; rename it in the annotations"});
    }
  constexpr std::size_t kNumbers = 40;
  std::vector<std::vector<Crop>> crops(dataset.images.size());
  for (std::size_t i = 0; i < dataset.images.size(); ++i) {
    const DetectionImage& image = dataset.images[i];
    std::string stem = image_address(image.file).file.stem().string();
    if (!name_problem(stem, kMostNameBytes - kNumbers).empty()) stem = "picture";
    for (std::size_t b = 0; b < image.boxes.size(); ++b) {
      const TrueBox& box = image.boxes[b];
      if (box.crowd || unnamed.contains(box.category)) continue;
      const std::string& name = dataset.classes[box.category].name;
      crops[i].push_back({box.box, name + "/" + crop_name(stem, i, b)});
    }
  }
  return crops;
}

/// Returns the pixels that a box touches. Errors: kInput E_BOX when there are none.
Tensor cut_out(const Tensor& rgb, const CocoBox& box) {
  const auto within = [](double at, std::int64_t most) {
    return static_cast<std::int64_t>(std::clamp(at, 0.0, static_cast<double>(most)));
  };
  const std::int64_t height = rgb.shape()[0], width = rgb.shape()[1];
  const std::int64_t y0 = within(std::floor(box.y), height), y1 = within(std::ceil(box.y + box.height), height);
  const std::int64_t x0 = within(std::floor(box.x), width), x1 = within(std::ceil(box.x + box.width), width);
  if (y1 <= y0 || x1 <= x0) throw Error(ErrorKind::kInput, "E_BOX", "a box lies outside of the picture; correct it");
  Tensor made(DType::kU8, {y1 - y0, x1 - x0, 3});
  for (std::int64_t y = y0; y < y1; ++y)
    std::memcpy(made.as<std::uint8_t>() + (y - y0) * (x1 - x0) * 3, rgb.as<std::uint8_t>() + (y * width + x0) * 3,
                static_cast<std::size_t>((x1 - x0) * 3));
  return made;
}

/// Returns the folder of the data set for an output named "train"; for others the output itself.
fs::path whole_set(const fs::path& output) {
  const fs::path named = output.has_filename() ? output : output.parent_path();  // "cells/train/"
  if (named.filename() != "train") return output;
  return named.has_parent_path() ? named.parent_path() : fs::path(".");
}

}  // namespace

TaskReport classes_from_boxes(const ConvertRequest& request, Progress& progress) {
  const DetectionDataset dataset = read_detection_dataset(request.input);
  std::vector<CaseFailure> failures = note_failures(dataset.notes);
  const std::vector<std::vector<Crop>> crops = crops_of(dataset, failures);
  std::vector<fs::path> inputs = {request.input};
  for (const DetectionImage& image : dataset.images) inputs.push_back(image_address(image.file).file);
  load_codecs();  // without them no picture can be cut: that is not for each of them to say
  OutputFolder folder({.folder = request.output, .command = "convert", .inputs = inputs});
  const std::string part = "classes";
  folder.start({.options = content_hash("classes"), .parts = {part}});
  std::set<std::string> files, folders;
  for (const auto& of_image : crops)
    for (const Crop& crop : of_image) files.insert(crop.file), folders.insert(fs::path(crop.file).parent_path());
  folder.begin(part, files);
  for (const std::string& name : folders) make_output_folder(request.output / name);
  const std::int64_t total = std::ssize(crops);
  std::vector<std::vector<CaseFailure>> failed(crops.size());
  std::atomic<std::int64_t> done{0}, written{0};
  const ImageReader reader;
  WorkerPool pool(request.threads);
  progress.update("pictures", 0, total, "");
  pool.run(total, [&](std::int64_t i, int) {
    throw_if_stopped(progress);
    const auto at = static_cast<std::size_t>(i);
    const std::string id = dataset.images[at].file.filename().string();
    in_case_boundary(id, failed[at], [&] {
      if (crops[at].empty()) return;
      const Tensor rgb = reader.read(dataset.images[at].file);
      for (const Crop& crop : crops[at])
        written += in_case_boundary(crop.file, failed[at],
                                    [&] { write_rgb(request.output / crop.file, cut_out(rgb, crop.box)); });
    });
    progress.update("pictures", ++done, total, id);
  });
  for (auto& list : failed)
    for (CaseFailure& failure : list) failures.push_back(std::move(failure));
  if (written > 0)
    folder.commit(part, "");
  else
    folder.drop(part);
  return convert_report(
      request, written, "pictures of classes", failures,
      {"train", whole_set(request.output).string(), "{output}", "run", "{model}", "resnet18", "{batch}", "8"},
      progress);
}

}  // namespace voxshard
