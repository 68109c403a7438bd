// Memory of scoring, in the symbols of case_memory.cc:
//
//   evaluating     reading(reference); 4 n + reading(prediction); with a threshold 8 n + reading(image), 16 n;
//                  with distances of surfaces 8 n, and about 12 n for a class that fills the volume
#include <algorithm>

#include "io/system/process_memory.h"
#include "libcore/base/text.h"
#include "libcore/metrics/surface/surface_distances.h"
#include "pipelines/tasks/codecs_plan.h"
#include "pipelines/tasks/segmentation/dataset/case_memory.h"
#include "pipelines/tasks/segmentation/dataset/memory_moments.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using enum MemoryPart;

std::optional<VolumeInfo> reference_info(const Evaluated& files, const VolumeFormats& formats) {
  if (files.drawn == nullptr) return usable_info(files.reference, formats);
  const auto image = usable_info(files.drawn->images.at(0), formats);
  return image ? usable_label(*files.drawn, *image, formats) : std::nullopt;
}

}  // namespace

ProcessPlan evaluating_case_plan(const Evaluated& files, const VolumeFormats& formats) {
  const auto read = [&](const fs::path& path) {
    const auto info = path.empty() ? std::nullopt : usable_info(path, formats);
    if (info) require_within(formats.limits, *info, path);
    return info ? reading(*info) : 0.0;
  };
  const auto reference = reference_info(files, formats);
  if (!reference) return {};
  const fs::path name = files.drawn != nullptr ? fs::path(files.drawn->id) : files.reference;
  require_within(formats.limits, *reference, name);
  const double n = kVoxelBytes * static_cast<double>(voxels_of(reference->geometry));
  ProcessPlan plan = widest_of(
      {moment({{kMetrics, reading(*reference)}}), moment({{kMetrics, n}, {kReading, read(files.prediction)}})});
  if (files.surfaces) {
    const auto& size = reference->geometry.size;
    plan = widest_of({plan, moment({{kMetrics, 2 * n + surface_bytes({size[2], size[1], size[0]})}})});
  }
  if (!files.image.empty())
    plan = widest_of(
        {plan, moment({{kMetrics, 2 * n}, {kReading, read(files.image)}}), moment({{kMetrics, 3 * n}, {kReading, n}})});
  const std::int64_t most = formats.limits.memory_bytes;
  const double fits = static_cast<double>(voxels_of(reference->geometry)) * static_cast<double>(most) /
                      static_cast<double>(plan.total());
  require_fits(plan, most, ErrorKind::kInput, "counting " + name.filename().string(),
               whole_number(fits) + " voxels would fit: crop both");
  return plan;
}

ProcessPlan image_plan(const std::vector<Evaluated>& cases, const VolumeFormats& formats) {
  double all = 0, largest = 0;
  for (const Evaluated& one : cases) {
    const auto info = reference_info(one, formats);
    const double bytes = info ? 3 * kVoxelBytes * static_cast<double>(voxels_of(info->geometry)) : 0;
    all += bytes, largest = std::max(largest, bytes);
  }
  trim_freed_memory();  // memory of the cases, which the plan of the images does not hold a second time
  ProcessPlan plan = moment({{kReading, all}, {kResampling, 2 * largest}});  // reoriented, then cropped
  plan += codecs_plan();
  require_fits(plan, formats.limits.memory_bytes, ErrorKind::kBudget, "the picture of slices", "leave {png} out");
  return plan;
}

}  // namespace voxshard
