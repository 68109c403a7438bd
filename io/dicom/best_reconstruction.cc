#include "io/dicom/best_reconstruction.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string_view>
#include <tuple>

#include "libcore/base/error.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

struct NamedKernel {
  std::string_view name;  // in lower case
  int sharpness;
};
constexpr NamedKernel kKernels[] = {
    // GE
    {"soft", 20},
    {"standard", 40},
    {"chest", 55},
    {"detail", 60},
    {"bone", 75},
    {"boneplus", 80},
    {"lung", 85},
    {"edge", 90},
    {"ultra", 95},
    // Philips
    {"a", 20},
    {"b", 35},
    {"c", 45},
    {"d", 65},
    {"e", 80},
    {"l", 85},
    {"ya", 55},
    {"yb", 65},
    {"yc", 75},
    {"yd", 90},
};

/// Canon: 1 to 29 soft tissue, 30 to 49 bone and inner ear, 50 to 59 lung, 60 and more soft again or for quantities.
int canon_sharpness(int number) { return number < 30 ? 40 : number < 50 ? 75 : number < 60 ? 85 : 50; }

/// Slices are of one thickness when their distances differ by rounding alone.
std::int64_t rounded_thickness(const DicomSeries& series) {
  return std::llround(std::min(series.grid.spacing[2], 1e6) * 100);
}

}  // namespace

int kernel_sharpness(const std::string& kernel) {
  const std::string name = lower_case(kernel.substr(0, kernel.find('\\')));
  for (const NamedKernel& one : kKernels)
    if (name == one.name) return one.sharpness;
  std::size_t begin = 0;
  while (begin < name.size() && std::isalpha(static_cast<unsigned char>(name[begin])) != 0) ++begin;
  int number = 0;
  std::size_t digits = 0;
  for (std::size_t at = begin; at < name.size() && std::isdigit(static_cast<unsigned char>(name[at])) != 0; ++at)
    if (++digits <= 2) number = 10 * number + (name[at] - '0');
  if (digits != 2 || begin == 0 || begin > 2) return 50;
  if (name.starts_with("fc")) return canon_sharpness(number);
  return number;
}

const DicomSeries* best_reconstruction(const std::vector<const DicomSeries*>& candidates) {
  ensure(!candidates.empty(), "a reconstruction is chosen among some");
  const auto rank = [](const DicomSeries* s) {
    return std::tuple(!s->problem.empty(), rounded_thickness(*s), kernel_sharpness(s->common.kernel), -s->grid.size[2],
                      s->key);
  };
  return *std::min_element(candidates.begin(), candidates.end(),
                           [&](const DicomSeries* a, const DicomSeries* b) { return rank(a) < rank(b); });
}

}  // namespace voxshard
