#include "pipelines/tasks/segmentation/dataset/prepare_case.h"

#include <nlohmann/json.hpp>

#include "io/files/config_file.h"
#include "io/volume/mapped_volume.h"
#include "pipelines/tasks/channel_grids.h"
#include "pipelines/tasks/segmentation/dataset/prepare_image.h"
#include "pipelines/tasks/segmentation/dataset/prepared_dataset.h"
#include "pipelines/tasks/segmentation/dataset/source_case.h"
#include "pipelines/tasks/segmentation/labels/byte_labels.h"
#include "pipelines/tasks/segmentation/labels/missing_classes.h"

namespace voxshard {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Json prepare_case(const Case& item, const PreparePlan& plan, const PrepareOptions& options, const Progress& progress) {
  SourceCase source = read_source_case(item, plan.classes(), options.formats, plan.ignore_label);
  throw_if_stopped(progress);
  const fs::path& work = options.work;
  const std::size_t channels = plan.channels.size();
  const Geometry grid = source.image.geometry;
  const auto channel = [&](std::size_t c) {
    return read_channel(item, c, grid, plan.resamples_channels, options.formats);
  };
  const auto widen_labels = [&] { source.label.voxels = labels_as_i32(std::move(source.label.voxels)); };
  const bool nnunet = plan.convention == Convention::kNnunet;  // crops and resamples i32
  if (plan.zscore_in_nonzero) widen_labels();                  // images are prepared by them
  const auto nonzero =
      nonzero_of_channels(plan, [&](std::size_t c) { return c == 0 ? std::move(source.image) : channel(c); });
  PreparedImage image;
  Json means, deviations;
  for (std::size_t c = 0; c < channels; ++c) {  // memory holds one of them
    if (c > 0 || nonzero) source.image = channel(c);
    image = prepare_image(std::move(source.image), plan.of_channel(c), &source.label, nonzero ? &*nonzero : nullptr);
    throw_if_stopped(progress);
    write_volume(prepared_image(work, item.id, c, channels), image.image, DiskType::kF32);
    image.image.voxels = {}, source.image.voxels = {};
    means.push_back(image.mean_hu), deviations.push_back(image.std_hu);
  }
  if (nnunet) widen_labels();
  const Volume label = prepare_label(std::move(source.label), plan, image.crop);
  ensure(same_geometry(image.image.geometry, label.geometry), "image and label share the prepared grid");
  const ForegroundVoxels voxels = sample_foreground(label.voxels, plan.classes(), item.id, options.seed);
  write_volume(prepared_label(work, item.id), label,
               plan.classes() + (plan.ignore_label ? 1 : 0) <= 256 ? DiskType::kU8 : DiskType::kI16);
  save_foreground(prepared_foreground(work, item.id), voxels);
  const Shape shape = label.voxels.shape();
  Json record = {{"case", item.id},
                 {"shape", {shape[0], shape[1], shape[2]}},
                 {"spacing_mm", label.geometry.spacing},
                 {"mean_hu", channels == 1 ? means[0] : means},
                 {"std_hu", channels == 1 ? deviations[0] : deviations},
                 {"class_voxels", nullptr},
                 {"class_boxes", nullptr}};
  note_classes(label.voxels, plan.classes(), record);
  if (item.annotated) {
    Json names = Json::array();
    for (const int label : *item.annotated) names.push_back(plan.class_names.at(label));
    record["annotated"] = names;
  }
  write_json(prepared_record(work, item.id), record);
  return record;
}

Json read_record(const fs::path& work, const std::string& id) {
  const nlohmann::json read = read_json(prepared_record(work, id));  // its names are sorted
  Json record;
  for (const char* name : {"case", "shape", "spacing_mm", "mean_hu", "std_hu", "class_voxels", "class_boxes"})
    record[name] = read.at(name);
  if (read.contains("annotated")) record["annotated"] = read.at("annotated");
  return record;
}

}  // namespace voxshard
