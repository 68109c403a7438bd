#include "io/dicom_out/segment_parts.h"

#include <algorithm>

namespace voxshard {

std::string SegmentPart::ending() const { return number == 0 ? ".seg.dcm" : ".seg." + std::to_string(number) + ".dcm"; }

SegmentPart whole_segmentation(std::size_t classes) { return {.first = 1, .last = classes - 1}; }

std::int64_t frames_of(const SegmentPart& part, const std::vector<std::int64_t>& frames) {
  std::int64_t sum = 0;
  for (std::size_t label = part.first; label <= part.last; ++label) sum += frames.at(label);
  return sum;
}

std::vector<SegmentPart> segment_parts(const std::vector<std::int64_t>& frames, std::size_t most) {
  const SegmentPart whole = whole_segmentation(frames.size());
  if (most == 0 || frames_of(whole, frames) <= kMostShownFrames) return {whole};
  std::vector<SegmentPart> parts;
  for (std::size_t first = 1; first < frames.size(); first += most) {
    const SegmentPart part{first, std::min(first + most, frames.size()) - 1, parts.size() + 1, most};
    if (frames_of(part, frames) > 0) parts.push_back(part);
  }
  return parts;
}

}  // namespace voxshard
