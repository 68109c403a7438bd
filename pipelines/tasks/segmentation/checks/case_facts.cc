#include "pipelines/tasks/segmentation/checks/case_facts.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "io/datasets/case_label.h"
#include "io/files/content_hash.h"
#include "libcore/base/coded_text.h"
#include "pipelines/tasks/segmentation/dataset/case_memory.h"
#include "pipelines/tasks/segmentation/dataset/hiding_paths.h"
#include "pipelines/tasks/segmentation/dataset/prepare_sources.h"
#include "pipelines/tasks/volume_files.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// Sums over the voxels of one class, of indices along x, y, z.
struct ClassSums {
  std::int64_t voxels = 0;
  std::array<double, 3> index{}, squares{};
  double hu = 0;
};

/// Calls `body(class, x, y, z, i)` for each voxel of a class, the background left out. Labels outside of the classes
/// and the ignored one are passed over.
template <class Body>
void each_labelled(const Volume& label, int classes, std::optional<int> ignored, const Body& body) {
  const Shape shape = label.voxels.shape();
  const auto* v = label.voxels.as<std::int32_t>();
  std::int64_t i = 0;
  for (std::int64_t z = 0; z < shape[0]; ++z)
    for (std::int64_t y = 0; y < shape[1]; ++y)
      for (std::int64_t x = 0; x < shape[2]; ++x, ++i)
        if (v[i] > 0 && v[i] < classes && v[i] != ignored)
          body(static_cast<int>(v[i]),
               std::array{static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)}, i);
}

ClassFacts facts_of(const ClassSums& sums, const Geometry& geometry) {
  ClassFacts facts{.voxels = sums.voxels};
  const auto n = static_cast<double>(sums.voxels);
  std::array<double, 3> mean{};
  double variance_mm2 = 0, voxel_mm3 = 1;
  for (std::size_t a = 0; a < 3; ++a) {
    mean[a] = sums.index[a] / n;
    const double variance = std::max(0.0, sums.squares[a] / n - mean[a] * mean[a]);
    variance_mm2 += variance * geometry.spacing[a] * geometry.spacing[a];
    voxel_mm3 *= geometry.spacing[a];
  }
  facts.volume_ml = n * voxel_mm3 / 1000;
  facts.centre_mm = geometry.world(mean);
  facts.spread_mm = std::sqrt(variance_mm2);
  return facts;
}

std::string hash_of(const Volume& volume) {
  ContentHash hash;
  for (int a = 0; a < 3; ++a) hash.add(std::to_string(volume.voxels.shape()[a]) + "x");
  hash.add({static_cast<const std::byte*>(volume.voxels.data()), static_cast<std::size_t>(volume.voxels.bytes())});
  return hash.text();
}

/// Hashes the files of a volume: header and voxels of a pair, else the single file.
std::string hash_of_files(const fs::path& path, const VolumeFormats& formats) {
  ContentHash hash;
  const VolumeFiles known = known_files_of_volume(path, formats);
  for (const fs::path& file : known.files) hash.add(known.hash_of(file));
  return hash.text();
}

/// Takes the grid of a header; none when the file cannot be used, which is then a problem.
///   file  its name for messages
std::optional<GridFacts> grid_of(const Case& item, const std::string& file, CaseFacts& facts, auto read_header) {
  std::optional<GridFacts> grid;
  in_case_boundary(facts.id, facts.problems, [&] {
    const VolumeInfo info = hiding_paths(item, read_header);
    for (const CodedText& one : coded_texts(info.warning))
      facts.problems.push_back({facts.id, one.code, file + ": " + one.text});
    if (info.readable)
      grid = GridFacts{file, info.geometry};
    else
      facts.problems.push_back({facts.id, info.problem_code, file + ": " + info.problem});
  });
  return grid;
}

/// Returns the header of the labels; that of structures is on the grid of the image.
VolumeInfo label_header(const Case& item, const VolumeFormats& formats) {
  return item.label ? read_volume_info(*item.label, formats)
                    : read_label_info(item, read_volume_info(item.images.at(0), formats), formats);
}

}  // namespace

void add_label_facts(const Volume& label, const FactOptions& options, CaseFacts& facts) {
  const auto* v = label.voxels.as<std::int32_t>();
  for (std::int64_t i = 0; i < label.voxels.count(); ++i)
    if (v[i] != options.ignored && (v[i] < 0 || v[i] >= options.classes))
      facts.first_wrong = facts.wrong_voxels++ == 0 ? v[i] : facts.first_wrong;
  std::map<int, ClassSums> sums;
  each_labelled(label, options.classes, options.ignored,
                [&](int label_class, const std::array<double, 3>& index, std::int64_t) {
                  ClassSums& sum = sums[label_class];
                  ++sum.voxels;
                  for (std::size_t a = 0; a < 3; ++a) sum.index[a] += index[a], sum.squares[a] += index[a] * index[a];
                });
  for (const auto& [label_class, sum] : sums) facts.classes[label_class] = facts_of(sum, label.geometry);
  facts.label_hash = hash_of(label);
  facts.label_is_read = true;
}

void add_image_facts(const Volume& image, const Volume* label, CaseFacts& facts) {
  const auto* hu = image.voxels.as<float>();
  if (image.voxels.count() == 0) return;
  const auto [low, high] = std::minmax_element(hu, hu + image.voxels.count());
  facts.hu = HuRange{*low, *high};
  if (label == nullptr || label->voxels.shape() != image.voxels.shape()) return;
  facts.fit = border_fit(image, *label);
  std::map<int, ClassSums> sums;
  const int classes = facts.classes.empty() ? 0 : facts.classes.rbegin()->first + 1;
  each_labelled(*label, classes, std::nullopt, [&](int label_class, const auto&, std::int64_t i) {
    ClassSums& sum = sums[label_class];
    ++sum.voxels;
    sum.hu += std::clamp(hu[i], kBorderLowHu, kBorderHighHu);
  });
  for (auto& [label_class, one] : facts.classes)
    one.mean_hu = sums[label_class].hu / static_cast<double>(sums[label_class].voxels);
}

ProcessPlan case_facts_plan(const Case& item, const FactOptions& options) {
  ProcessPlan plan;
  if (item.label) plan = evaluating_case_plan({.reference = *item.label}, options.formats);
  if (!item.structures.empty()) plan = reading_case_plan(item, options.formats);
  if (!options.deep) return plan;
  for (const fs::path& image : item.images) {
    plan = widest(plan, evaluating_case_plan({.reference = image}, options.formats));
    if (item.label)
      plan = widest(plan, evaluating_case_plan({.reference = *item.label, .prediction = image}, options.formats));
  }
  return plan;
}

CaseFacts read_case_facts(const Case& item, const FactOptions& options) {
  CaseFacts facts{.id = item.id};
  std::optional<Volume> label;
  if (item.has_label()) {
    facts.label = grid_of(item, shown_file(item, item.label.value_or(""), "label map"), facts,
                          [&] { return label_header(item, options.formats); });
    if (facts.label && !options.headers_alone)
      in_case_boundary(item.id, facts.problems, [&] {
        CaseLabel read =
            hiding_paths(item, [&] { return read_case_label(item, facts.label->geometry, options.formats); });
        add_warnings(item.id, read.notes, facts.problems);
        label = std::move(read.volume);
      });
    if (label) add_label_facts(*label, options, facts);
  }
  for (std::size_t channel = 0; channel < item.images.size(); ++channel) {
    const fs::path& path = item.images[channel];
    const auto grid =
        grid_of(item, shown_file(item, path, "image"), facts, [&] { return read_volume_info(path, options.formats); });
    if (!grid) continue;
    if (channel == 0 || !options.resamples_channels) facts.images.push_back(*grid);
    if (options.headers_alone) continue;
    in_case_boundary(item.id, facts.problems, [&] {
      if (!options.deep) {
        facts.image_hashes.push_back(hiding_paths(item, [&] { return hash_of_files(path, options.formats); }));
        return;
      }
      const Volume image = hiding_paths(item, [&] { return read_image(path, options.formats); });
      facts.image_hashes.push_back(hash_of(image));
      if (channel == 0) add_image_facts(image, label ? &*label : nullptr, facts);
    });
  }
  return facts;
}

}  // namespace voxshard
