#include "pipelines/tasks/segmentation/outputs/report_rows.h"

namespace voxshard {

std::vector<ReportFlag> report_flags(const std::vector<QualityFlag>& flags) {
  std::vector<ReportFlag> all;
  for (const QualityFlag& flag : flags)
    all.push_back({flag.code, static_cast<std::size_t>(flag.label_class), flag.what});
  return all;
}

std::vector<ClassNumbers> numbers_of(const std::vector<ClassMeasures>& measures, bool hounsfield) {
  std::vector<ClassNumbers> numbers;
  for (const ClassMeasures& m : measures)
    numbers.push_back({.volume_ml = m.volume_ml,
                       .mean_hu = hounsfield ? m.mean : std::nullopt,
                       .deviation_hu = hounsfield ? m.deviation : std::nullopt,
                       .diameter_mm = m.diameter_mm});
  return numbers;
}

}  // namespace voxshard
