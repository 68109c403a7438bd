#include "pipelines/tasks/segmentation/quality/training_ranges.h"

#include <algorithm>

#include "io/volume/mapped_volume.h"

namespace voxshard {
namespace {

constexpr std::int64_t kSlabVoxels = 1 << 18, kMostPartBytes = std::int64_t{64} << 20;
constexpr double kMlOfOneMm3 = 1e-3;

/// Calls `visit` with the planes of a mapped label map as i32, some at a time.
void for_each_slab(const MappedVolume& label, const std::function<void(const TensorView&)>& visit) {
  const Shape shape = label.shape();
  const std::int64_t in_plane = std::max<std::int64_t>(1, shape[1] * shape[2]);
  const std::int64_t planes = std::clamp<std::int64_t>(kSlabVoxels / in_plane, 1, std::max<std::int64_t>(1, shape[0]));
  const Tensor slab(DType::kI32, {planes, shape[1], shape[2]});
  for (std::int64_t first = 0; first < shape[0]; first += planes) {
    Box box = Box::whole(shape);
    box.set(0, first, std::min(first + planes, shape[0]));
    const TensorView view = dense_view(slab.data(), DType::kI32, box);
    label.read_box(box, view);
    visit(view);
  }
}

Quantiles quantiles_of(const MappedVolume& image) {
  const Shape shape = image.shape();
  const Tensor plane(DType::kF32, {1, shape[1], shape[2]});
  return intensity_quantiles(shape, [&](std::int64_t z) {
    Box box = Box::whole(shape);
    box.set(0, z, z + 1);
    image.read_box(box, dense_view(plane.data(), DType::kF32, box));
    return plane.as<const float>();
  });
}

QualityFacts facts_of(const PreparedCase& item, const std::vector<double>& least_part_ml) {
  QualityFacts facts{.labels = {}, .channels = {}, .annotated = item.annotated};
  const MappedVolume label = MappedVolume::open(item.label);
  const LabelSlabs slabs{.for_each = [&](const auto& visit) { for_each_slab(label, visit); }};
  facts.labels = label_facts(slabs, label.geometry(), least_part_ml, kMostPartBytes);
  for (const std::filesystem::path& image : item.images)
    facts.channels.push_back(quantiles_of(MappedVolume::open(image)));
  return facts;  // what was mapped is released with the maps
}

/// Returns the volumes of each class in the cases that have it, from their records.
std::vector<std::vector<double>> volumes_ml(const PreparedDataset& dataset, const std::vector<std::size_t>& cases) {
  std::vector<std::vector<double>> volumes(static_cast<std::size_t>(dataset.plan.classes()));
  for (const std::size_t index : cases) {
    const PreparedCase& item = dataset.cases.at(index);
    const std::array<double, 3> mm = MappedVolume::open(item.label).geometry().spacing;
    for (std::size_t c = 1; c < std::min(volumes.size(), item.class_voxels.size()); ++c)
      if (item.class_voxels[c] > 0)
        volumes[c].push_back(static_cast<double>(item.class_voxels[c]) * mm[0] * mm[1] * mm[2] * kMlOfOneMm3);
  }
  return volumes;
}

}  // namespace

QualityRanges training_ranges(const PreparedDataset& dataset, const std::vector<std::size_t>& cases) {
  if (cases.size() < kFewestOthers) return {.cases = std::ssize(cases)};
  std::vector<std::size_t> read;
  const std::size_t count = std::min(cases.size(), kMostJudgingCases);
  for (std::size_t i = 0; i < count; ++i) read.push_back(cases[i * cases.size() / count]);
  const std::vector<double> least = least_part_ml(volumes_ml(dataset, read));
  std::vector<QualityFacts> facts;
  for (const std::size_t index : read) facts.push_back(facts_of(dataset.cases[index], least));
  return fit_ranges(facts, least);
}

}  // namespace voxshard
