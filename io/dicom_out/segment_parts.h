// How the classes of a label map are shared out among the files of a DICOM segmentation: viewers leave out files of too
// many frames.
//
//   const std::vector<SegmentPart> parts = segment_parts({0, 300, 200, 0, 90}, 2);     // {1, 2, 1, 2}, {3, 4, 2, 2}
//   write_segmentation("case" + parts[0].ending(), labels, terms, parts[0]);           // case.seg.1.dcm
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace voxshard {

/// More frames than these are left out by some viewers (reported for Weasis, issue 680).
inline constexpr std::int64_t kMostShownFrames = 400;

/// One file of a segmentation. Its segments are numbered from 1 in it, in the order of their labels.
struct SegmentPart {
  std::size_t first = 1, last = 0;  // labels, both inclusive
  std::size_t number = 0;           // of the file, from 1; 0: the only one
  std::size_t most = 0;             // segments of a file; 0: all are in one

  bool holds(std::size_t label) const { return first <= label && label <= last; }
  /// Returns the number of a label's segment in the file. Requires that it holds the label.
  std::size_t segment(std::size_t label) const { return label - first + 1; }
  /// ".seg.dcm" of the only file, ".seg.2.dcm" of the second one.
  std::string ending() const;
  friend bool operator==(const SegmentPart&, const SegmentPart&) = default;
};

/// Returns the only file of a segmentation, with all its classes.
///   classes  with the background
SegmentPart whole_segmentation(std::size_t classes);

/// Returns the files of a segmentation: one, or where it has more than kMostShownFrames so many of `most` segments each
/// as are needed. Files in which no segment would have a frame are left out, and not counted.
///   frames  by label, that of the background is not read
///   most    segments of a file; 0: one file whatever it has
std::vector<SegmentPart> segment_parts(const std::vector<std::int64_t>& frames, std::size_t most);

/// Returns the frames of a file.
///   frames  by label
std::int64_t frames_of(const SegmentPart& part, const std::vector<std::int64_t>& frames);

}  // namespace voxshard
