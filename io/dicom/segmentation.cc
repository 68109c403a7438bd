#include "io/dicom/segmentation.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "io/dicom/dicom_grid.h"
#include "io/dicom/dicom_pixels.h"
#include "io/files/file_error.h"

namespace voxshard {
namespace {

/// Returns a series of the distinct places of the frames, in the order of place_series().
DicomSeries places_of(const DicomHeader& header) {
  DicomSeries series;
  series.common = header;
  std::map<std::array<double, 3>, std::size_t> seen;
  bool all_placed = true;
  for (std::size_t f = 0; f < header.frames.size(); ++f) {
    const auto& position = header.frames[f].position;
    all_placed = all_placed && position.has_value();
    if (position && seen.emplace(*position, f).second) series.slices.push_back({.frame = f, .at = *position});
  }
  place_series(series, all_placed && !series.slices.empty());
  return series;
}

/// Gives a series whose empty slices were left out the step that the file states, else the smallest between its slices.
void fill_gaps(DicomSeries& series) {
  const bool stated = series.common.step_mm >= kCoincidingMm;
  double step = stated ? *series.common.step_mm : 0;
  for (std::size_t i = 0; i + 1 < series.slices.size() && !stated; ++i) {
    const double one = series.slices[i + 1].along_mm - series.slices[i].along_mm;
    step = step > 0 ? std::min(step, one) : one;
  }
  const double length = series.slices.back().along_mm - series.slices.front().along_mm;
  series.grid.spacing[2] = step;
  series.grid.size[2] = static_cast<std::int64_t>(std::round(length / step)) + 1;
  series.problem.clear();
}

/// The value of a voxel of a frame; `index` counts over all frames.
class FrameValues {
 public:
  FrameValues(const std::vector<char>& bytes, int bits) : bytes_(bytes), bits_(bits) {}
  int at(std::size_t index) const {
    if (bits_ == 1) return static_cast<unsigned char>(bytes_[index / 8]) >> (index % 8) & 1;
    if (bits_ == 8) return static_cast<unsigned char>(bytes_[index]);
    std::uint16_t value = 0;
    std::memcpy(&value, bytes_.data() + 2 * index, 2);
    return value;
  }

 private:
  const std::vector<char>& bytes_;
  int bits_;
};

/// Returns the label of each number that a segment may have; 0 has none.
std::vector<float> labels_by_number(const std::map<int, int>* class_of_segment) {
  std::vector<float> labels(65536);
  for (std::size_t number = 1; number < labels.size() && class_of_segment == nullptr; ++number)
    labels[number] = static_cast<float>(number);
  if (class_of_segment != nullptr)
    for (const auto& [number, label] : *class_of_segment)
      if (number > 0 && number < 65536) labels[number] = static_cast<float>(label);
  return labels;
}

/// Sets the step of slices that are much thinner than the distances between them, all of which are multiples of the
/// thickness: those between were left out because they are empty, and the file does not say the step.
void take_thickness_as_step(DicomSeries& series) {
  if (series.common.step_mm || !series.problem.empty() || series.slices.size() < 2) return;
  const double thickness = series.common.thickness_mm.value_or(0), gap = series.grid.spacing[2];
  const double steps = thickness > 0 ? gap / thickness : 0;
  if (thickness >= kCoincidingMm && steps > 1.5 && std::abs(steps - std::round(steps)) * thickness <= 0.05)
    series.common.step_mm = thickness;
}

}  // namespace

DicomSegmentation place_segmentation(DicomHeader header) {
  DicomSegmentation seg;
  const bool known =
      header.segmentation == "BINARY" || header.segmentation == "FRACTIONAL" || header.segmentation == "LABELMAP";
  DicomSeries series = places_of(header);
  take_thickness_as_step(series);
  // Empty slices may be left out: between all frames alike, which no distance shows but the step that the file states.
  const bool sparse = series.problem.empty() && series.slices.size() > 1 && series.common.step_mm >= kCoincidingMm &&
                      series.grid.spacing[2] > 1.5 * *series.common.step_mm;
  if (sparse || std::string_view(series.problem_code) == "E_GAP") fill_gaps(series);
  if (series.slices.size() == 1 && header.step_mm >= kCoincidingMm) series.grid.spacing[2] = *header.step_mm;
  seg.grid = series.grid, seg.problem = series.problem, seg.problem_code = series.problem_code;
  if (!header.whole) seg.problem = "is truncated or damaged; copy or export it again";
  if (!known || (header.bits != 1 && header.bits != 8 && header.bits != 16))
    seg.problem = "is a segmentation of a type that is not read; export it as binary";
  if (header.may_overlap && header.segments.size() > 1)
    seg.warning = "W_OVERLAP its segments may share voxels; those take the segment with the highest number";
  for (const DicomFrame& frame : header.frames) {
    if (!seg.problem.empty()) break;
    double along = 0;
    for (std::size_t r = 0; r < 3; ++r)
      along += ((*frame.position)[r] - seg.grid.origin[r]) * seg.grid.direction[3 * r + 2];
    const double slice = std::round(along / seg.grid.spacing[2]);
    if (!(slice >= 0 && slice < static_cast<double>(seg.grid.size[2])) ||
        std::abs(along - slice * seg.grid.spacing[2]) > 0.05 + 0.01 * seg.grid.spacing[2]) {
      seg.problem = "has frames at places that are no multiples of its step; export it again";
      seg.problem_code = "E_IRREGULAR";
    }
    seg.slice_of.push_back(static_cast<std::size_t>(std::max(0.0, slice)));
  }
  seg.header = std::move(header);
  return seg;
}

SegmentCounts read_segmentation(const DicomSegmentation& seg, std::span<float> labels, const SegmentReading& reading) {
  const DicomHeader& h = seg.header;
  const std::vector<char> bytes = read_stored_pixels(
      h.file,
      {.columns = h.columns, .rows = h.rows, .frames = static_cast<std::int64_t>(h.frames.size()), .bits = h.bits});
  const FrameValues values(bytes, h.bits);
  const std::vector<float> label_of = labels_by_number(reading.class_of_segment);
  const auto plane = static_cast<std::size_t>(h.columns * h.rows);
  const bool is_map = h.segmentation == "LABELMAP";
  const double least = h.segmentation == "FRACTIONAL" ? reading.least_fraction * h.most_fraction : 1;
  SegmentCounts counts;
  std::vector<bool> shared;  // sized by the first voxel that is
  for (std::size_t f = 0; f < h.frames.size(); ++f)
    for (std::size_t i = 0; i < plane; ++i) {
      const int value = values.at(f * plane + i);
      const bool belongs = is_map || (value > 0 && value >= least);
      counts.partial +=
          h.segmentation == "FRACTIONAL" && value > 0 && value < h.most_fraction && label_of[h.frames[f].segment] != 0;
      const float label = belongs ? label_of[is_map ? value : h.frames[f].segment] : 0;
      const std::size_t at = seg.slice_of[f] * plane + i;
      float& out = labels[at];
      if (label != 0 && out != 0 && label != out) {
        shared.resize(labels.size());
        shared[at] = true;
      }
      out = std::max(out, label);
    }
  counts.shared = std::count(shared.begin(), shared.end(), true);
  return counts;
}

}  // namespace voxshard
