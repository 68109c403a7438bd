// MOT text: the boxes of a video, one per line, as the multiple object tracking challenges keep truth (gt.txt),
// detections (det.txt) and results.
//
//   1,2,244.75,408.25,111.50,94.00,1,1,1.0        frame, track, left, top, width, height, confidence, class, visibility
//
// Frames are counted from 1. Source: Milan et al., "MOT16: A Benchmark for Multi-Object Tracking", 2016,
// arXiv:1603.00831, section 3.2, table 5 (its coordinates from 1 are taken as continuous edges, as its own tools do).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "io/boxes/detection_annotations.h"
#include "io/output/output_file.h"

namespace voxshard {

struct MotRow {
  std::int64_t frame = 1;     // from 1
  std::int64_t track = -1;    // -1: not tracked
  CocoBox box;                // pixels, with a positive size
  double confidence = 1;      // score of a detection; in ground truth 0 means: ignore this box
  std::int64_t class_id = 0;  // from 1; 0 when the line does not say
  double visibility = 1;      // 0 to 1: the part that is not hidden or outside
  std::int64_t line = 0;      // in the file it was read from

  friend bool operator==(const MotRow&, const MotRow&) = default;
};

struct MotFile {
  std::vector<MotRow> rows;      // in the order of the file
  std::vector<EntryNote> notes;  // lines that were left out, "line 17"
};

/// Reads lines of 6 to 10 fields, separated by commas or blanks. Ten fields are the form of results; their last three
/// are world coordinates and not read. A line that cannot be used becomes a note: E_ENTRY, E_BOX (no area), E_DUPLICATE
/// (a track twice in a frame); after a thousand notes, one counts all others. Errors: kInput for a file that cannot be
/// read, has more than 256 MiB, or holds lines but not one that can be used.
MotFile read_mot(const std::filesystem::path& path);

/// Parses one line without its line end. Errors: EntryProblem. The caller skips blank lines.
MotRow parse_mot_line(std::string_view line);

/// "1,2,244.75,408.25,111.50,94.00,0.912345,1,1\n": pixels to a hundredth, confidence to six digits. A class that is
/// not given is written as -1.
std::string mot_line(const MotRow& row);

/// Describes files of such lines, for require_output_file: their numbers are written as mot_line does.
OutputKind mot_results_file();

/// Writes the file whole or not at all. Errors: kOutput.
void write_mot(const std::filesystem::path& path, const std::vector<MotRow>& rows);

}  // namespace voxshard
