// MNIST's IDX files as a data set of classes: all images of a part in one file, held in memory.
#include <map>
#include <set>

#include "io/datasets/idx.h"
#include "io/system/process_memory.h"
#include "pipelines/model_runs/process_plan.h"
#include "pipelines/tasks/classification/dataset/class_dataset.h"
#include "pipelines/tasks/classification/dataset/class_memory.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

ClassParts find_idx_parts(const fs::path& path) {
  std::error_code error;
  ClassParts parts;
  if (!fs::is_directory(path, error)) return parts;
  if (find_idx(path, IdxPart::kTrain)) parts.train = {idx_kind(), path};
  if (find_idx(path, IdxPart::kTest)) parts.test = {idx_kind(), path, true};
  return parts;
}

IdxPair pair_of(const ClassPart& part) {
  return find_idx(part.path, part.is_test ? IdxPart::kTest : IdxPart::kTrain).value();
}

double idx_held_bytes(const ClassPart& part) {
  const IdxPair pair = pair_of(part);
  return idx_bytes(read_idx_extents(pair.images, 3), pair.images);
}

/// Reads a part; the classes are the numbers that occur, or those of the training.
/// Errors: kBudget, before anything is read, when it exceeds the limits or the free memory.
void read_idx_part(const ClassPart& part, const ClassReading& reading, const std::vector<std::string>* classes,
                   ClassDataset& set) {
  const IdxPair pair = pair_of(part);
  const std::int64_t limit_bytes = reading.formats.limits.memory_bytes;
  require_fits({{MemoryPart::kReading, planned_bytes(idx_bytes(read_idx_extents(pair.images, 3), pair.images))}},
               limit_bytes > 0 ? limit_bytes : available_memory_bytes(), ErrorKind::kBudget, pair.images.string(),
               "All of its images are held: free memory, or divide them among several files");
  IdxImages images = read_idx_images(pair);
  set.files = {pair.images, pair.labels};
  const Shape& shape = images.pixels.shape();
  if (classes != nullptr) {
    set.classes = *classes;
  } else {
    const std::set<std::int32_t> found(images.labels.begin(), images.labels.end());
    for (const std::int32_t label : found) set.classes.push_back(std::to_string(label));
  }
  std::map<std::int32_t, std::optional<std::int32_t>> labels;
  for (const std::int32_t label : images.labels)
    if (!labels.contains(label)) labels[label] = label_of(set.classes, std::to_string(label));
  set.items.reserve(static_cast<std::size_t>(shape[0]));
  for (std::int64_t i = 0; i < shape[0]; ++i) {
    const std::string digits = std::to_string(i),
                      name = std::string(digits.size() < 5 ? 5 - digits.size() : 0, '0') + digits;
    const std::int32_t said = images.labels[i];
    if (const auto& label = labels[said])
      set.items.push_back(
          {.name = name, .file = pair.images, .index = i, .label = *label, .size = {shape[1], shape[2]}});
    else
      fail_class(set, name, std::to_string(said));
  }
  set.pixels = std::make_shared<const Tensor>(std::move(images.pixels));
}

}  // namespace

ClassKind idx_kind() {
  return {.name = "IDX",
          .expected = "MNIST's IDX files",
          .help = "a folder with MNIST's IDX files",
          .folder = "MNIST",
          .find = find_idx_parts,
          .read = read_idx_part,
          .held_bytes = idx_held_bytes,
          .training_part = "train-images-idx3-ubyte and train-labels-idx1-ubyte",
          .usual_model = "digits",
          .usual_batch = "64"};
}

}  // namespace voxshard
